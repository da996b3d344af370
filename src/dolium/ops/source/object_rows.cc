#include "dolium/ops/source/object_rows.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/files/files_container.h"
#include "dolium/formats/files/format.h"
#include "dolium/formats/neuroglancer/format.h"
#include "dolium/formats/neuroglancer/info.h"
#include "dolium/ops/objects/object_copy.h"
#include "dolium/ops/objects/verify_objects.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/source/kinds.h"
#include "dolium/ops/source/object_folder.h"

namespace dolium {
namespace {

// Files that are no part of an object would be lost.
Result<void> CheckNoOtherFiles(const Source& source, const Container& entries) {
  std::string other;
  DOLIUM_TRY_VOID(Scan(entries, {.entry =
                                     [&](const Entry& entry) {
                                       const bool is_owned =
                                           kUnshardedFormat.owns_object(entry.key);
                                       if (!is_owned) other = entry.key;
                                       return is_owned;
                                     },
                                 .damage = {}}));
  if (other.empty()) return {};
  return WouldBeLeftOut(source, other);
}

}  // namespace

Result<std::vector<Finding>> FindLeftOutOfSharded(const Source& source,
                                                  const Format& format) {
  std::vector<Finding> left_out;
  if (format.name == neuroglancer::kFormat.name) return left_out;
  const auto sharding = neuroglancer::FindSharding(source.location());
  if (!sharding || sharding->own_info.empty()) return left_out;
  const auto info = ParseJson(sharding->own_info);
  std::vector<std::string> members;
  if (info && info->is_object()) {
    for (const auto& [name, value] : info->items()) {
      if (name != "sharding") members.push_back(name);
    }
  }
  const bool is_bare = members.empty() || members == std::vector<std::string>{"@type"};
  if (is_bare) return left_out;
  left_out.push_back(
      {.severity = Severity::kWarning,
       .kind = "info",
       .object = source.location().Child(volume::kInfoName).Describe(),
       .key = {},
       .range = std::nullopt,
       .message = fmt::format("left out, for a set of {} has none: {}; keep it, for "
                              "its entries cannot be understood without it",
                              format.name, fmt::join(members, ", "))});
  return left_out;
}

Result<CopySource> OpenFilesForCopy(const Source& source,
                                    std::shared_ptr<const Container> entries,
                                    std::string_view format) {
  if (source.options().format.empty()) {
    DOLIUM_TRY(const auto unlisted,
               static_cast<const files::FilesContainer&>(*entries).Unlisted());
    if (!unlisted.empty()) return WouldBeLeftOut(source, unlisted.front());
  }
  DOLIUM_TRY(
      const Format* const target,
      FindTargetFormat(source.formats(), format.empty() ? files::kFormat.name : format));
  return CopySource{std::move(entries), target};
}

bool IsMeshFolder(const Location& location) {
  return KindOfObjects(location) == ObjectKind::kMeshes;
}

bool IsSkeletonFolder(const Location& location) {
  return KindOfObjects(location) == ObjectKind::kSkeletons;
}

Result<std::shared_ptr<const mesh::MeshSource>> OpenMeshesOf(const Source& source) {
  return OpenMeshes(source.location());
}

Result<std::shared_ptr<const skeleton::SkeletonSource>> OpenSkeletonsOf(
    const Source& source) {
  return OpenSkeletons(source.location());
}

Result<std::shared_ptr<const mesh::MeshSource>> OpenMeshesOfVolume(const Source& source) {
  DOLIUM_TRY(const volume::Volume* const opened, source.volume());
  if (!opened->info().mesh) return std::shared_ptr<const mesh::MeshSource>();
  return OpenMeshes(volume::ResolveScaleKey(opened->folder(), *opened->info().mesh));
}

Result<std::shared_ptr<const skeleton::SkeletonSource>> OpenSkeletonsOfVolume(
    const Source& source) {
  DOLIUM_TRY(const volume::Volume* const opened, source.volume());
  if (!opened->info().skeletons) {
    return std::shared_ptr<const skeleton::SkeletonSource>();
  }
  return OpenSkeletons(
      volume::ResolveScaleKey(opened->folder(), *opened->info().skeletons));
}

Result<CopySource> OpenObjectsForCopy(const Source& source,
                                      std::shared_ptr<const Container> entries,
                                      std::string_view format) {
  const bool is_sharded = entries->format_name() == neuroglancer::kFormat.name;
  const bool to_shards = format == neuroglancer::kFormat.name;
  if (is_sharded) {
    DOLIUM_TRY(CopySource copy, OpenEntriesForCopy(source, std::move(entries), format));
    if (copy.format != &kUnshardedFormat) {
      DOLIUM_TRY(copy.left_out, FindLeftOutOfSharded(source, *copy.format));
    }
    return copy;
  }
  if (!to_shards) {
    const bool is_own = format.empty() || format == kUnshardedFormat.name;
    return OpenFilesForCopy(source, std::move(entries),
                            is_own ? files::kFormat.name : format);
  }
  DOLIUM_TRY_VOID(CheckNoOtherFiles(source, *entries));
  DOLIUM_TRY(auto objects, OpenUnshardedObjects(source.location()));
  DOLIUM_TRY(std::string info, UnshardedInfo(source.location()));
  DOLIUM_TRY(const Format* const target, FindTargetFormat(source.formats(), format));
  return CopySource{
      .entries = std::move(objects), .format = target, .own_info = std::move(info)};
}

Result<VerifyReport> CheckMeshSource(const Source& source, const VerifyOptions& options,
                                     const FindingVisitor& visitor) {
  DOLIUM_TRY(const Container* const entries, source.entries());
  return VerifyMeshes(*entries, options, visitor);
}

Result<VerifyReport> CheckSkeletonSource(const Source& source,
                                         const VerifyOptions& options,
                                         const FindingVisitor& visitor) {
  DOLIUM_TRY(const Container* const entries, source.entries());
  return VerifySkeletons(*entries, options, visitor);
}

Result<VerifyReport> CheckPart(const SourcePart& part, const Container& entries,
                               const VerifyOptions& options,
                               const FindingVisitor& visitor) {
  if (part.kind == "mesh") return VerifyMeshes(entries, options, visitor);
  if (part.kind == "skeletons") return VerifySkeletons(entries, options, visitor);
  return Verify(entries, options, visitor);
}

}  // namespace dolium
