#include "dolium/formats/files/format.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/container/unfinished.h"
#include "dolium/formats/files/files_container.h"
#include "dolium/formats/files/files_target.h"

namespace dolium::files {
namespace {

// Any folder with a file in it will do, so every format that knows its own scores higher.
constexpr int kScore = 5;
// Names that a probe looks at; a folder may have millions.
constexpr size_t kProbeNames = 1000;

bool IsAbsentOrUnlistable(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kUnsupported;
}

}  // namespace

Result<int> Probe(const Location& location) {
  bool has_file = false;
  bool has_shard = false;
  size_t seen = 0;
  const auto listed =
      location.store->List(location.path, [&](std::string_view name, bool is_folder) {
        if (!is_folder && !IsBookkeeping(name)) has_file = true;
        if (!is_folder && name.ends_with(".shard")) has_shard = true;
        return !has_shard && ++seen < kProbeNames;
      });
  if (!listed && !IsAbsentOrUnlistable(listed.error())) return listed.error();
  return listed && has_file && !has_shard ? kScore : 0;
}

Result<std::unique_ptr<Container>> Open(const Location& location,
                                        const OpenOptions& options) {
  if (options.spec) {
    return InvalidArgument(fmt::format("{}: a plain folder has no spec to be read with",
                                       location.Describe()));
  }
  // A store that cannot list can still find.
  const auto listed =
      location.store->List(location.path, [](auto, bool) { return false; });
  if (!listed && listed.error().code != ErrorCode::kUnsupported) return listed.error();
  if (!options.allow_unfinished) DOLIUM_TRY_VOID(CheckFinished(location));
  return std::make_unique<FilesContainer>(location);
}

Result<std::unique_ptr<Target>> Create(const Location& location,
                                       const CreateOptions& options) {
  if (options.spec) {
    return InvalidArgument(fmt::format("{}: a plain folder has no spec to be made from",
                                       location.Describe()));
  }
  if (!options.parameters.empty()) {
    return InvalidArgument(fmt::format("{}: format files has no parameter \"{}\"",
                                       location.Describe(),
                                       options.parameters.begin()->first));
  }
  return std::make_unique<FilesTarget>(location);
}

Result<std::unique_ptr<Target>> Reopen(const Location& location,
                                       std::string_view description) {
  const auto json = ParseJson(description);
  if (!json || !json->is_object() || !json->contains("format") ||
      (*json)["format"] != kFormat.name) {
    return InvalidArgument(fmt::format("{}: not the description of a plain folder: {}",
                                       location.Describe(), description));
  }
  return std::make_unique<FilesTarget>(location);
}

bool OwnsObject(std::string_view name) { return !IsBookkeeping(name); }

}  // namespace dolium::files
