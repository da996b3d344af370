#include "dolium/ops/volume/mesh_fragments.h"

#include <algorithm>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "dolium/container/json.h"

namespace dolium::volume {
namespace {

constexpr uint64_t kManifestLimit = uint64_t{64} << 20;
constexpr std::string_view kDigits = "0123456789";

// "<segment>:<level>"
bool IsManifestName(std::string_view name) {
  const size_t colon = name.find(':');
  return colon != 0 && colon + 1 < name.size() &&
         name.find_first_not_of(kDigits) == colon &&
         name.find_first_not_of(kDigits, colon + 1) == std::string_view::npos;
}

}  // namespace

bool MeshFragments::Contains(std::string_view name) {
  if (!names_) Load();
  return names_->contains(name);
}

void MeshFragments::Load() {
  names_.emplace();
  for (const Location& folder : folders_) {
    std::vector<std::string> manifests;
    const auto listed =
        folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
          if (!is_folder && IsManifestName(name)) manifests.emplace_back(name);
          return true;
        });
    if (!listed) continue;
    for (const std::string& name : manifests) {
      const Location object = folder.Child(name);
      const auto whole = object.store->ReadWhole(object.path, kManifestLimit);
      if (!whole) continue;
      const auto manifest = ParseJson(AsText(whole->bytes));
      if (!manifest || !manifest->is_object()) continue;
      const auto fragments = manifest->find("fragments");
      if (fragments == manifest->end() || !fragments->is_array()) continue;
      for (const auto& fragment : *fragments) {
        if (fragment.is_string()) names_->insert(fragment.get<std::string>());
      }
    }
  }
}

}  // namespace dolium::volume
