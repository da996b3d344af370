#include "dolium/ops/objects/object_import.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/bytes/folder_swap.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/mesh/legacy_mesh.h"
#include "dolium/domain/skeleton/swc.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/neuroglancer/chooser.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/objects/object_copy.h"
#include "dolium/ops/source/object_folder.h"

namespace dolium {
namespace {

namespace fs = std::filesystem;

// Objects that are encoded together.
constexpr size_t kObjectsAtOnce = 32;
constexpr uint64_t kMaxObjectFile = uint64_t{8} << 30;
constexpr int kFoldersAbove = 8;

neuroglancer::ShardingSpec SpecFor(const ExpectedObjects& expected) {
  const neuroglancer::ShardingSpec base{
      .hash = neuroglancer::ShardHash::kMurmur3,
      .minishard_index_encoding = neuroglancer::Encoding::kGzip,
      .data_encoding = neuroglancer::Encoding::kGzip};
  return neuroglancer::ChooseSharding(base, {expected.count, expected.bytes, 0},
                                      neuroglancer::kDefaultShardBytes);
}

// The volume that a folder lies in, and the folder's path from there.
struct VolumeAbove {
  Location folder;
  std::string key;
};
Result<VolumeAbove> FindVolumeAbove(const Location& target) {
  std::string key(BaseName(target.path));
  Location folder = target.Parent();
  for (int i = 0; i < kFoldersAbove; ++i) {
    if (volume::Volume::Open(folder, /*allow_unfinished=*/true))
      return VolumeAbove{folder, key};
    if (folder.path.empty() || BaseName(folder.path).empty()) break;
    key = fmt::format("{}/{}", BaseName(folder.path), key);
    folder = folder.Parent();
  }
  return InvalidArgument(
      fmt::format("{}: lies in no volume whose info could name it", target.Describe()));
}

// A folder in the making, beside its place.
class NewFolder {
 public:
  static Result<NewFolder> Make(const Location& target, ObjectKind kind,
                                const NewObjectsOptions& options) {
    DOLIUM_TRY(SwapFolders folders, SwapFolders::Of(target));
    NewFolder made(target, kind, std::move(folders));
    if (options.register_in_volume) {
      DOLIUM_TRY(made.volume_, FindVolumeAbove(target));
    }
    DOLIUM_TRY(const Occupancy found, InspectFolder(target));
    if (found == Occupancy::kOccupied) {
      if (!options.force) {
        return Exists(fmt::format("{}: is there already", target.Describe()))
            .WithHint(Hint::kReplace);
      }
      DOLIUM_TRY_VOID(made.CheckSameKind());
      made.is_replaced_ = true;
    }
    // What a run that was killed left.
    DOLIUM_TRY_VOID(RemoveFolder(made.folders_.fresh));
    DOLIUM_TRY(made.fresh_, ParseLocation(made.folders_.fresh));
    return made;
  }

  NewFolder(NewFolder&&) = default;
  NewFolder& operator=(NewFolder&&) = delete;
  ~NewFolder() {
    // Nobody waits for the end of what failed.
    if (fresh_.store != nullptr) static_cast<void>(RemoveFolder(folders_.fresh));
  }

  const Location& fresh() const { return fresh_; }

  Result<void> PutInPlace() {
    if (is_replaced_) {
      DOLIUM_TRY_VOID(SwapIn(folders_));
      DOLIUM_TRY_VOID(RemoveReplaced(folders_));
    } else {
      DOLIUM_TRY_VOID(RenameFolder(folders_.fresh, folders_.target));
    }
    if (!volume_) return {};
    DOLIUM_TRY_VOID(volume::UpdateInfo(
        volume_->folder, [&](volume::VolumeInfo info) -> Result<volume::VolumeInfo> {
          (kind_ == ObjectKind::kMeshes ? info.mesh : info.skeletons) = volume_->key;
          return info;
        }));
    return {};
  }

 private:
  NewFolder(const Location& target, ObjectKind kind, SwapFolders folders)
      : target_(target), kind_(kind), folders_(std::move(folders)) {}

  // Nothing else is lost with the folder.
  Result<void> CheckSameKind() const {
    if (KindOfObjects(target_) != kind_) {
      return Exists(fmt::format("{}: holds something else than {}; move it away",
                                target_.Describe(),
                                kind_ == ObjectKind::kMeshes ? "meshes" : "skeletons"));
    }
    DOLIUM_TRY(const auto foreign, FindForeign(target_, [](std::string_view name) {
                 return kUnshardedFormat.owns_object(name) || name.ends_with(".shard");
               }));
    if (!foreign) return {};
    return Exists(
        fmt::format("{}: holds \"{}\", which is no part of the set; move it away",
                    target_.Describe(), *foreign));
  }

  Location target_;
  ObjectKind kind_;
  SwapFolders folders_;
  Location fresh_;
  bool is_replaced_ = false;
  std::optional<VolumeAbove> volume_;
};

// Takes objects in batches, makes something of each in parallel, and adds that in order.
template <typename T, typename Made>
Result<void> AddAll(const ObjectSupply<T>& supply, uint64_t expected,
                    const NewObjectsOptions& options,
                    const std::function<Result<Made>(const T&)>& make,
                    const std::function<Result<void>(uint64_t, const Made&)>& add) {
  Progress progress{.total_entries = expected};
  for (bool is_end = false; !is_end;) {
    std::vector<std::pair<uint64_t, T>> batch;
    while (batch.size() < kObjectsAtOnce) {
      if (options.writer.stop.stop_requested()) return Cancelled();
      DOLIUM_TRY(auto next, supply());
      is_end = !next;
      if (is_end) break;
      batch.push_back(*std::move(next));
    }
    std::vector<std::optional<Made>> made(batch.size());
    DOLIUM_TRY_VOID(ParallelFor(
        batch.size(), options.writer.jobs,
        [&](size_t i) -> Result<void> {
          auto one = make(batch[i].second);
          if (!one) {
            return std::move(one).error().Within(std::to_string(batch[i].first));
          }
          made[i] = *std::move(one);
          return {};
        },
        options.writer.stop));
    for (size_t i = 0; i < batch.size(); ++i) {
      DOLIUM_TRY_VOID(add(batch[i].first, *made[i]));
    }
    progress.entries += batch.size();
    if (options.progress) options.progress(progress);
  }
  return {};
}

Result<WriteSummary> WriteLegacyMeshes(const Location& folder,
                                       const objects::Transform& transform,
                                       uint64_t expected,
                                       const ObjectSupply<mesh::Mesh>& supply,
                                       const NewObjectsOptions& options) {
  DOLIUM_TRY(auto writer, mesh::LegacyWriter::Create(folder));
  DOLIUM_TRY_VOID((AddAll<mesh::Mesh, mesh::Mesh>(
      supply, expected, options,
      [&](const mesh::Mesh& mesh) -> Result<mesh::Mesh> {
        DOLIUM_TRY_VOID(mesh::Validate(mesh));
        mesh::Mesh moved = mesh;
        mesh::Transform(transform, moved);
        return moved;
      },
      [&](uint64_t id, const mesh::Mesh& mesh) { return writer.Add(id, mesh); })));
  return writer.Finish();
}

// A file as what is in it; ids in order.
template <typename T>
ObjectSupply<T> SupplyOf(const std::vector<ObjectFile>& files,
                         std::function<Result<T>(BytesView)> parse) {
  auto next = std::make_shared<size_t>(0);
  return [&files, parse = std::move(parse),
          next]() -> Result<std::optional<std::pair<uint64_t, T>>> {
    if (*next == files.size()) return std::nullopt;
    const ObjectFile& file = files[(*next)++];
    DOLIUM_TRY(const Location at, ParseLocation(file.path));
    DOLIUM_TRY(const auto whole, at.store->ReadWhole(at.path, kMaxObjectFile));
    auto object = parse(whole.bytes);
    if (!object) return std::move(object).error().Within(at.Describe());
    return std::pair(file.id, *std::move(object));
  };
}

ExpectedObjects ExpectedOf(const std::vector<ObjectFile>& files) {
  ExpectedObjects expected{.count = files.size()};
  std::error_code ignored;
  for (const ObjectFile& file : files) {
    const uint64_t size = fs::file_size(file.path, ignored);
    if (!ignored) expected.bytes += size / 4;  // what is left of text and of floats
  }
  return expected;
}

}  // namespace

Result<WriteSummary> WriteMeshes(const Location& target, mesh::MultiresInfo info,
                                 const ExpectedObjects& expected,
                                 const ObjectSupply<mesh::Mesh>& supply,
                                 const NewObjectsOptions& options) {
  DOLIUM_TRY(NewFolder folder, NewFolder::Make(target, ObjectKind::kMeshes, options));
  WriteSummary summary;
  if (options.storage == ObjectStorageKind::kLegacy) {
    DOLIUM_TRY(summary, WriteLegacyMeshes(folder.fresh(), info.transform, expected.count,
                                          supply, options));
  } else {
    info.vertex_quantization_bits = options.bits;
    info.sharding.reset();
    if (options.storage == ObjectStorageKind::kSharded) info.sharding = SpecFor(expected);
    DOLIUM_TRY(auto writer,
               mesh::MultiresWriter::Create(folder.fresh(), info, options.writer));
    DOLIUM_TRY_VOID((AddAll<mesh::Mesh, mesh::EncodedMesh>(
        supply, expected.count, options,
        [&](const mesh::Mesh& mesh) {
          return mesh::EncodeSingleLevel(mesh, options.bits);
        },
        [&](uint64_t id, const mesh::EncodedMesh& mesh) {
          return writer.Add(id, mesh);
        })));
    DOLIUM_TRY(summary, writer.Finish());
  }
  DOLIUM_TRY_VOID(folder.PutInPlace());
  return summary;
}

Result<WriteSummary> WriteSkeletons(const Location& target, skeleton::SkeletonInfo info,
                                    const ExpectedObjects& expected,
                                    const ObjectSupply<skeleton::Skeleton>& supply,
                                    const NewObjectsOptions& options) {
  if (options.storage == ObjectStorageKind::kLegacy) {
    return InvalidArgument("skeletons have no legacy storage");
  }
  DOLIUM_TRY(NewFolder folder, NewFolder::Make(target, ObjectKind::kSkeletons, options));
  info.sharding.reset();
  if (options.storage == ObjectStorageKind::kSharded) info.sharding = SpecFor(expected);
  using Types = skeleton::SkeletonWriter::Types;
  DOLIUM_TRY(auto writer,
             skeleton::SkeletonWriter::Create(
                 folder.fresh(), std::move(info),
                 options.keep_types ? Types::kKeep : Types::kFloat32, options.writer));
  Progress progress{.total_entries = expected.count};
  while (true) {
    if (options.writer.stop.stop_requested()) return Cancelled();
    DOLIUM_TRY(const auto next, supply());
    if (!next) break;
    DOLIUM_TRY_VOID(writer.Add(next->first, next->second));
    ++progress.entries;
    if (options.progress) options.progress(progress);
  }
  DOLIUM_TRY(const WriteSummary summary, writer.Finish());
  DOLIUM_TRY_VOID(folder.PutInPlace());
  return summary;
}

Result<std::vector<ObjectFile>> FindObjectFiles(const std::vector<std::string>& paths,
                                                std::string_view ending) {
  const std::string dotted = fmt::format(".{}", ending);
  std::vector<ObjectFile> files;
  const auto add = [&](const std::string& path) -> Result<void> {
    std::string_view name = BaseName(path);
    if (name.ends_with(dotted)) name.remove_suffix(dotted.size());
    const auto id = neuroglancer::ParseKey(name);
    if (!id || *id == 0) {
      return InvalidArgument(
          fmt::format("{}: the name is not ID.{}, of an id that is not 0", path, ending));
    }
    files.push_back({path, *id});
    return {};
  };
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      DOLIUM_TRY_VOID(add(path));
      continue;
    }
    DOLIUM_TRY(const Location folder, ParseLocation(path));
    std::vector<std::string> names;
    DOLIUM_TRY_VOID(
        folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
          if (!is_folder && name.ends_with(dotted)) names.emplace_back(name);
          return true;
        }));
    for (const std::string& name : names) DOLIUM_TRY_VOID(add(JoinPath(path, name)));
  }
  std::ranges::sort(files, {}, &ObjectFile::id);
  const auto twice = std::ranges::adjacent_find(files, {}, &ObjectFile::id);
  if (twice != files.end()) {
    return InvalidArgument(fmt::format("{} and {} are both of id {}", twice->path,
                                       std::next(twice)->path, twice->id));
  }
  if (files.empty()) return NotFound(fmt::format("no files ID.{}", ending));
  return files;
}

Result<WriteSummary> ImportMeshes(const std::vector<ObjectFile>& files,
                                  mesh::MeshFile kind, const Location& target,
                                  const NewObjectsOptions& options) {
  return WriteMeshes(
      target, {}, ExpectedOf(files),
      SupplyOf<mesh::Mesh>(
          files, [kind](BytesView bytes) { return mesh::ParseMeshFile(kind, bytes); }),
      options);
}

Result<WriteSummary> ImportSkeletons(const std::vector<ObjectFile>& files,
                                     const Location& target,
                                     const NewObjectsOptions& options) {
  return WriteSkeletons(
      target, skeleton::SwcInfo(), ExpectedOf(files),
      SupplyOf<skeleton::Skeleton>(
          files, [](BytesView bytes) { return skeleton::ParseSwc(AsText(bytes)); }),
      options);
}

}  // namespace dolium
