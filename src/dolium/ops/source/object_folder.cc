#include "dolium/ops/source/object_folder.h"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/mesh/legacy_mesh.h"
#include "dolium/domain/mesh/multires_info.h"
#include "dolium/domain/objects/object_storage.h"
#include "dolium/domain/skeleton/skeleton.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium {
namespace {

constexpr uint64_t kMaxObjectInfo = uint64_t{64} << 20;
// Names of other files that are looked at before a folder is none of legacy meshes.
constexpr size_t kOtherNames = 1000;
constexpr std::string_view kDecimals = "0123456789";

// Whether a name is that of a manifest `ID:0`, compressed or not.
bool IsLegacyManifest(std::string_view name) {
  const size_t colon = name.find_first_not_of(kDecimals);
  if (colon == 0 || colon == std::string_view::npos) return false;
  const std::string_view rest = name.substr(colon);
  if (!rest.starts_with(mesh::kLegacySuffix)) return false;
  const std::string_view ending = rest.substr(mesh::kLegacySuffix.size());
  return ending.empty() || volume::FormOf(name).suffix == ending;
}

// A fragment or a spatial index of the same folder.
bool MayBeBesideManifests(std::string_view name) {
  const size_t colon = name.find_first_not_of(kDecimals);
  return IsBookkeeping(name) || name.ends_with(".spatial") ||
         (colon != 0 && colon != std::string_view::npos && name[colon] == ':');
}

bool HasLegacyManifest(const Location& folder) {
  bool is_found = false;
  size_t others = 0;
  const auto listed =
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        if (is_folder) return true;
        is_found = IsLegacyManifest(name);
        if (!is_found && !MayBeBesideManifests(name)) ++others;
        return !is_found && others < kOtherNames;
      });
  return listed && is_found;
}

struct VolumeMembers {
  std::optional<std::string> meshes;
  std::optional<std::string> skeletons;
  Location folder;
};

// Those of a volume, if its info is there; nullopt if it is none of a volume.
Result<std::optional<VolumeMembers>> MembersOfVolume(const Location& location) {
  const Location at = location.Child(volume::kInfoName);
  DOLIUM_TRY(const auto bytes, objects::ReadWrapped(at, kMaxObjectInfo));
  if (!bytes) return std::nullopt;
  const auto info = ParseJson(AsText(*bytes));
  if (!info || !info->is_object() || !info->contains("scales")) return std::nullopt;
  DOLIUM_TRY(const volume::Volume opened,
             OpenVolume(location, {.allow_unfinished = true}));
  return VolumeMembers{opened.info().mesh, opened.info().skeletons, opened.folder()};
}

}  // namespace

ObjectKind KindOfObjects(const Location& folder) {
  const auto bytes = objects::ReadWrapped(folder.Child("info"), kMaxObjectInfo);
  if (!bytes) return ObjectKind::kNone;
  if (*bytes) {
    const auto info = ParseJson(AsText(**bytes));
    if (!info || !info->is_object()) return ObjectKind::kNone;
    if (const auto type = info->find("@type"); type != info->end()) {
      if (*type == std::string(skeleton::kSkeletonType)) return ObjectKind::kSkeletons;
      const bool is_mesh = *type == std::string(mesh::kMultiresType) ||
                           *type == std::string(mesh::kLegacyType);
      return is_mesh ? ObjectKind::kMeshes : ObjectKind::kNone;
    }
    // cloud-volume leaves the type out.
    if (info->contains("vertex_attributes")) return ObjectKind::kSkeletons;
    if (info->contains("scales") || info->contains("sharding")) return ObjectKind::kNone;
  }
  return HasLegacyManifest(folder) ? ObjectKind::kMeshes : ObjectKind::kNone;
}

Result<Location> FindObjectFolder(const Location& location, ObjectKind wanted) {
  const bool is_mesh = wanted == ObjectKind::kMeshes;
  const std::string_view called = is_mesh ? "meshes" : "skeletons";
  DOLIUM_TRY(const auto members, MembersOfVolume(location));
  if (members) {
    const std::optional<std::string>& key =
        is_mesh ? members->meshes : members->skeletons;
    if (key) return volume::ResolveScaleKey(members->folder, *key);
    return NotFound(fmt::format("{}: the info of the volume names no {}",
                                location.Describe(), called));
  }
  const ObjectKind kind = KindOfObjects(location);
  if (kind == wanted) return location;
  if (kind != ObjectKind::kNone) {
    return NotFound(fmt::format("{}: holds {}, and no {}", location.Describe(),
                                is_mesh ? "skeletons" : "meshes", called));
  }
  const auto listed =
      location.store->List(location.path, [](std::string_view, bool) { return false; });
  if (!listed && listed.error().code == ErrorCode::kNotFound) return listed.error();
  // Behind a server that cannot list, manifests of legacy meshes cannot be seen.
  const bool is_hidden = !listed && listed.error().code == ErrorCode::kUnsupported;
  if (is_hidden && is_mesh) return location;
  return NotFound(fmt::format("{}: no info of {}, and no volume that names some",
                              location.Describe(), called));
}

}  // namespace dolium
