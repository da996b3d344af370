#include "dolium/ops/volume/volume_target.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/folder_swap.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/domain/volume/grid.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/neuroglancer/format.h"
#include "dolium/formats/neuroglancer/info.h"
#include "dolium/ops/job/plan_folder.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/volume/mesh_fragments.h"
#include "dolium/ops/volume/volume_worker.h"

namespace dolium::volume {
namespace {

// Removes the folder of a scale. The marker goes last: while it is there, it is known
// whose the rest is.
Result<void> DropScale(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename() != kMarkerName) fs::remove_all(entry->path(), error);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return SystemError(error.value(), "cannot remove").Within(folder);
  }
  return RemoveFolder(folder);
}

// Removes the scales of a job that adds them to the volume at `path`.
Result<void> DropJob(const std::string& path, const Location& job_folder,
                     const VolumeInfo& info, std::string_view request,
                     std::string_view source) {
  const PlanFolder folder(job_folder);
  DOLIUM_TRY(const auto lock, folder.FindLock());
  DOLIUM_TRY(const auto found, JobAt(job_folder));
  if (!found || !found->job.adds) return {};
  if (found->record.request == request && found->record.source == source) return {};
  const VolumeJob& job = found->job;
  // That of the first stage is `job_folder`, so it comes last.
  for (size_t i = job.stages.size(); i-- > 0;) {
    const std::string& key = job.info.scales[job.stages[i].scale].key;
    const bool is_listed =
        std::ranges::find(info.scales, key, &ScaleInfo::key) != info.scales.end();
    // Keys that we choose are names. What else a marker may say is not to be trusted.
    const bool is_name = key.find('/') == std::string::npos && !key.starts_with('.');
    if (!is_listed && is_name) DOLIUM_TRY_VOID(DropScale(JoinPath(path, key)));
  }
  return {};
}

// A folder of a volume beside its scales: mesh, skeletons, segment properties.
struct PartFolder {
  std::string key;
  std::optional<Location> copied_from = std::nullopt;
};

// Whether a file of this name can be one of a mesh, of skeletons or of segment
// properties. In shards, their names are known; else all but the info begin with the
// number of a segment, or with the voxels that they cover, and may be in folders; or a
// manifest of the mesh names them.
bool IsOfPart(std::string_view name, bool is_sharded) {
  if (is_sharded || name == kInfoName || name == "provenance") {
    return neuroglancer::OwnsObject(name) || name == "provenance";
  }
  const char first = name.empty() ? '.' : name.front();
  return name.ends_with('/') || first == '-' || (first >= '0' && first <= '9');
}

// What a new volume would not replace but delete. A key of several folders, or one that
// leads elsewhere, is none of those that go.
Result<std::optional<std::string>> FindForeignInVolume(
    const Location& folder, const std::vector<ScaleInfo>& scales,
    const std::vector<PartFolder>& parts) {
  std::vector<std::string> names;
  const auto listed = folder.store->List(folder.path, [&](std::string_view name, bool) {
    if (!IsBookkeeping(name) && name != kInfoName && name != "provenance") {
      names.emplace_back(name);
    }
    return true;
  });
  if (!listed && listed.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!listed) return listed.error();
  for (const std::string& name : names) {
    const Location child = folder.Child(name);
    const bool is_scale =
        std::ranges::find(scales, name, &ScaleInfo::key) != scales.end();
    const bool is_part = std::ranges::find(parts, name, &PartFolder::key) != parts.end();
    if (!is_scale && !is_part) return name;
    const auto sharding = neuroglancer::FindSharding(child);
    const bool is_sharded = sharding && !sharding->own_info.empty();
    std::vector<Location> meshes = {child};
    for (const PartFolder& part : parts) {
      if (part.key == name && part.copied_from) meshes.push_back(*part.copied_from);
    }
    MeshFragments fragments(std::move(meshes));
    DOLIUM_TRY(const auto foreign, FindForeign(child, [&](std::string_view file) {
                 if (is_part && IsOfPart(file, is_sharded)) return true;
                 if (is_part && !is_sharded && fragments.Contains(file)) return true;
                 return std::ranges::any_of(scales, [&](const ScaleInfo& scale) {
                   return scale.key == name && IsOfScale(scale, file);
                 });
               }));
    if (foreign) return JoinPath(name, *foreign);
  }
  return std::nullopt;
}

// `path` is `folder` or lies in it; both normal.
bool IsWithin(std::string_view path, std::string_view folder) {
  return path == folder ||
         (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

}  // namespace

bool IsOfScale(const ScaleInfo& scale, std::string_view name) {
  if (scale.sharding) return neuroglancer::OwnsObject(name);
  name.remove_suffix(FormOf(name).suffix.size());
  return std::ranges::any_of(scale.chunk_sizes, [&](const Vec3& size) {
    const auto grid = Grid::Make(scale.bounds(), size);
    return grid && grid->ParseName(name);
  });
}

bool IsFolderOfVolume(std::string_view key) {
  const std::string normal = NormalizePath(key);
  return !normal.empty() && normal != "." && !normal.starts_with('/') &&
         !normal.starts_with("..") && !IsBookkeeping(normal);
}

Result<void> CheckOwnFolder(const Volume& volume, size_t index) {
  const VolumeInfo& info = volume.info();
  const std::string key = NormalizePath(info.scales[index].key);
  const auto refuse = [&](std::string_view why) {
    return Unsupported(fmt::format("{}: the folder of scale {}, \"{}\", {}",
                                   volume.folder().Describe(), index,
                                   info.scales[index].key, why));
  };
  if (!IsFolderOfVolume(key)) return refuse("lies outside of the volume");
  DOLIUM_TRY(const auto path, volume.folder().store->LocalPath(volume.folder().path));
  if (!path) return refuse("is not a local one");
  std::error_code error;
  if (std::filesystem::is_symlink(JoinPath(*path, key), error))
    return refuse("is a link");
  for (size_t i = 0; i < info.scales.size(); ++i) {
    if (i != index && IsWithin(NormalizePath(info.scales[i].key), key)) {
      return refuse(fmt::format("also has scale {}", i));
    }
  }
  for (const auto& part : {info.mesh, info.skeletons, info.segment_properties}) {
    if (part && IsWithin(NormalizePath(*part), key)) {
      return refuse(fmt::format("also has \"{}\"", *part));
    }
  }
  return {};
}

Result<std::optional<FoundVolumeJob>> JobAt(const Location& job_folder) {
  DOLIUM_TRY(auto state, PlanFolder(job_folder).Load());
  // It may be of another kind, or of another version.
  if (!state.record || state.id.empty() || state.record->kind != kVolumeKind) {
    return std::nullopt;
  }
  auto job = ParseVolumeJob(state.record->parameters);
  if (!job) return std::nullopt;
  return FoundVolumeJob{*std::move(state.record), *std::move(job)};
}

Result<void> CheckVolumeReplaceable(const Location& folder, bool with_all_parts) {
  std::vector<ScaleInfo> scales;
  std::vector<PartFolder> parts;
  const auto volume = OpenVolume(folder, {.allow_unfinished = true});
  if (volume && volume->folder().Describe() == folder.Describe()) {
    scales = volume->info().scales;
    for (const auto& part : {volume->info().mesh, volume->info().skeletons,
                             volume->info().segment_properties}) {
      if (with_all_parts && part) parts.push_back({*part});
    }
  }
  if (const auto job = JobAt(folder); job && *job) {
    const auto& more = (*job)->job.info.scales;
    scales.insert(scales.end(), more.begin(), more.end());
    for (const FolderCopy& copy : (*job)->job.copies) {
      DOLIUM_TRY(Location from, ParseLocation(copy.from));
      parts.push_back({copy.key, std::move(from)});
    }
  }
  DOLIUM_TRY(const auto foreign, FindForeignInVolume(folder, scales, parts));
  if (!foreign) return {};
  return Exists(
      fmt::format("{}: holds \"{}\", which is not part of a volume{}; move it away",
                  folder.Describe(), *foreign, with_all_parts ? "" : "'s scales"));
}

Result<void> DropUnfinishedScales(const Location& volume, const VolumeInfo& info,
                                  std::string_view request, std::string_view source) {
  DOLIUM_TRY(const auto path, volume.store->LocalPath(volume.path));
  if (!path) {
    return Unsupported(volume.Describe() + ": scales are removed in local folders only");
  }
  std::vector<std::string> folders;
  DOLIUM_TRY_VOID(
      volume.store->List(volume.path, [&](std::string_view name, bool is_folder) {
        if (is_folder && !IsBookkeeping(name)) folders.emplace_back(name);
        return true;
      }));
  for (const std::string& name : folders) {
    DOLIUM_TRY_VOID(DropJob(*path, volume.Child(name), info, request, source));
  }
  return {};
}

}  // namespace dolium::volume
