#include "dolium/ops/volume/volume_plan.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/bytes/folder_swap.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/chunk_source.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/volume/volume_draft.h"
#include "dolium/ops/volume/volume_folders.h"
#include "dolium/ops/volume/volume_rebuild.h"
#include "dolium/ops/volume/volume_scales.h"
#include "dolium/ops/volume/volume_source.h"
#include "dolium/ops/volume/volume_target.h"
#include "dolium/ops/volume/volume_worker.h"

namespace dolium::volume {
namespace {

using nlohmann::json;

// Requests as text, to see whether two are the same.

json TextOf(const StorageRequest& storage) {
  json out = {{"sharded", storage.sharded}, {"shard_bytes", storage.shard_bytes}};
  if (storage.wrapper) out["wrapper"] = ToString(*storage.wrapper);
  if (storage.stored_shard_bytes) out["stored_bytes"] = *storage.stored_shard_bytes;
  if (storage.chunk_size) out["chunk_size"] = *storage.chunk_size;
  if (storage.sharding) out["sharding"] = ToJson(*storage.sharding);
  if (const auto& spec = storage.encoding) {
    out["encoding"] = {ToString(spec->encoding), spec->block_size,  spec->jpeg_quality,
                       spec->png_level,          spec->jxl_quality, spec->jxl_effort,
                       spec->jxl_decoding_speed};
  }
  return out;
}

json TextOf(const PyramidRequest& pyramid) {
  json out = {{"ignore_zero", pyramid.ignore_zero}};
  if (pyramid.scales) out["scales"] = *pyramid.scales;
  if (pyramid.factor) out["factor"] = *pyramid.factor;
  if (pyramid.method) out["method"] = ToString(*pyramid.method);
  return out;
}

// With a stage for each scale, done or not.
Result<Plan> PlanOfVolume(const OpenJob& open) {
  DOLIUM_TRY(Plan plan, PlanOf(open));
  DOLIUM_TRY(const VolumeJob job, ParseVolumeJob(open.state.record->parameters));
  plan.stages.resize(job.stages.size());
  // One that is rebuilt has a stage for each of its chunk sizes.
  std::set<std::string_view> rebuilt;
  for (const Stage& stage : job.stages) {
    if (stage.replaces.empty() || rebuilt.insert(stage.replaces).second) ++plan.scales;
  }
  return plan;
}

// The same, of scales that are added to a volume.
Result<Plan> PlanOfAddition(const OpenJob& open, const std::string& volume) {
  DOLIUM_TRY(Plan plan, PlanOfVolume(open));
  plan.adds = true;
  plan.target = volume;
  return plan;
}

// Of a volume that has all scales that it is to have.
Plan NothingToDo(const std::string& volume) {
  Plan nothing;
  nothing.kind = kVolumeKind;
  nothing.target = volume;
  nothing.adds = true;
  return nothing;
}

// A job that is complete but for the tidying up; nullopt if there is none.
Result<std::optional<OpenJob>> FindComplete(const Location& job_folder) {
  DOLIUM_TRY(const auto state, PlanFolder(job_folder).Load());
  if (!state.record || state.record->kind != kVolumeKind) return std::nullopt;
  if (state.phase == PlanFolder::Phase::kUnderWay) {
    DOLIUM_TRY(const auto job, OpenRecord(BuiltinFormats(), job_folder, *state.record));
    DOLIUM_TRY(const bool complete, job->IsComplete());
    if (!complete) return std::nullopt;
  }
  DOLIUM_TRY(OpenJob open, FindJob(BuiltinFormats(), job_folder, {}));
  return std::optional(std::move(open));
}

Result<void> CheckResolution(const Resolution& resolution) {
  for (const double side : resolution) {
    if (!(side > 0) || !(side < 1e18)) {
      return InvalidArgument(
          fmt::format("a resolution of {}, expected a number above 0", side));
    }
  }
  return {};
}

// Makes the coarser scales of a volume again.
Result<Plan> PlanRebuild(const Volume& volume, const DownsampleRequest& request) {
  const size_t from = request.from.value_or(0);
  const DownsampleMethod method =
      request.pyramid.method.value_or(DefaultMethod(volume.info()));
  DOLIUM_TRY(
      VolumeJob job,
      MakeRebuildJob(volume, from, {{1, 1, 1}, method, request.pyramid.ignore_zero}));
  if (job.stages.empty()) return NothingToDo(job.volume);
  job.skip_damaged = request.skip_damaged;
  DOLIUM_TRY_VOID(Validate(job.info));
  VolumeDraft draft(job, {{"rebuild", job.volume},
                          {"from", from},
                          {"skip_damaged", request.skip_damaged},
                          {"pyramid", TextOf(request.pyramid)}});
  DOLIUM_TRY(const Location job_folder, JobFolderOf(job));
  const PlanFolder folder(job_folder);
  DOLIUM_TRY(const PlanFolder::State state, folder.Load());
  if (state.phase != PlanFolder::Phase::kNone) {
    DOLIUM_TRY(const std::string source, draft.FindSourceState());
    const bool is_same = state.record && state.record->request == draft.request() &&
                         state.record->source == source;
    const bool is_made = state.phase == PlanFolder::Phase::kPartsDone ||
                         state.phase == PlanFolder::Phase::kFinished;
    if (!is_same && is_made && state.record) {
      // All of it was of one state: put in its place, and then made again.
      DOLIUM_TRY_VOID(FinishJob(BuiltinFormats(), job_folder, {}));
    } else if (!is_same && request.force) {
      DOLIUM_TRY(const auto path, job_folder.store->LocalPath(job_folder.path));
      DOLIUM_TRY(const auto running, folder.LockRun());
      DOLIUM_TRY(const auto lock, folder.FindLock());
      if (path) DOLIUM_TRY_VOID(RemoveFolder(*path));
    }
  }
  DOLIUM_TRY(const OpenJob open, BeginJobIn(BuiltinFormats(), draft, job_folder, {}));
  return PlanOfAddition(open, job.volume);
}

// The info of a new volume, beside the marker that says that its voxels follow.
Result<void> WriteUnfinished(const Location& folder, const VolumeInfo& info) {
  const Location object = folder.Child(kInfoName);
  DOLIUM_TRY(const auto there, object.store->Stat(object.path));
  if (there) return Exists(object.Describe() + ": is there already");
  DOLIUM_TRY_VOID(WriteMarker(folder, "a volume from an array\n"));
  return WriteNewInfo(folder, info);
}

// Whether stored chunks of one scale are as good as those of the other.
bool SameStoredForm(const ScaleInfo& a, const ScaleInfo& b) {
  if (a.chunk_sizes.front() != b.chunk_sizes.front()) return false;
  if (a.encoding.encoding != b.encoding.encoding) return false;
  if (a.encoding.encoding == Encoding::kCompressedSegmentation) {
    return a.encoding.block_size == b.encoding.block_size;
  }
  return a.encoding == b.encoding;
}

}  // namespace

Result<size_t> CountStages(const OpenJob& open) {
  DOLIUM_TRY(const VolumeJob job, ParseVolumeJob(open.state.record->parameters));
  return job.stages.size();
}

Result<neuroglancer::ShardingSpec> ParseSharding(std::string_view text) {
  return neuroglancer::ParseShardingText(text);
}

Result<void> CreateVolume(const Location& folder, const VolumeInfo& info, bool force,
                          const RunOptions& options) {
  DOLIUM_TRY_VOID(Validate(info));
  DOLIUM_TRY(const auto state, PlanFolder(folder).Load());
  DOLIUM_TRY(const Occupancy occupancy, InspectFolder(folder));
  // Beside what else there is: one file, which appears at once.
  const bool has_job = state.phase != PlanFolder::Phase::kNone;
  if (!force && !has_job && occupancy == Occupancy::kOccupied) {
    return WriteNewInfo(folder, info);
  }
  VolumeJob job;
  job.info = info;
  VolumeDraft draft(std::move(job), {{"create", ToJson(info)}});
  DOLIUM_TRY(OpenJob open, BeginJob(BuiltinFormats(), draft, folder, force, options));
  DOLIUM_TRY([[maybe_unused]] const JobReport done,
             RunJob(BuiltinFormats(), open, options));
  return {};
}

Result<void> CreateUnfinishedVolume(const Location& folder, const VolumeInfo& info,
                                    bool force) {
  DOLIUM_TRY_VOID(Validate(info));
  DOLIUM_TRY(const auto marker, ReadMarker(folder));
  if (marker && !force) {
    return Exists(fmt::format("{}: a volume is being written here", folder.Describe()))
        .WithHint(Hint::kReplace);
  }
  DOLIUM_TRY(const Occupancy occupancy, InspectFolder(folder));
  if (!force || (occupancy != Occupancy::kOccupied && !marker)) {
    return WriteUnfinished(folder, info);
  }
  DOLIUM_TRY_VOID(CheckVolumeReplaceable(folder));
  DOLIUM_TRY(const SwapFolders folders, SwapFolders::Of(folder));
  DOLIUM_TRY_VOID(RemoveReplaced(folders));
  DOLIUM_TRY(const Location fresh, ParseLocation(folders.fresh));
  DOLIUM_TRY_VOID(WriteUnfinished(fresh, info));
  DOLIUM_TRY_VOID(SwapIn(folders));
  return RemoveReplaced(folders);
}

Result<Plan> PlanIngest(const IngestRequest& request) {
  DOLIUM_TRY(const Location target, ParseLocation(request.target));
  DOLIUM_TRY_VOID(CheckResolution(request.resolution));
  IngestRequest portable = request;
  DOLIUM_TRY(const Location source, ParseLocation(request.source.path));
  DOLIUM_TRY(portable.source.path, PortableText(source, request.source.path));
  DOLIUM_TRY(const auto array, OpenArraySource(portable.source));

  VolumeJob job;
  job.info.data_type = array->shape().type;
  job.info.num_channels = array->shape().channels;
  job.info.type =
      request.type.value_or(DefaultType(job.info.data_type, job.info.num_channels));
  DOLIUM_TRY_VOID(CheckCreatable(job.info));
  ScaleInfo scale;
  scale.size = array->shape().size;
  scale.voxel_offset = request.offset;
  scale.resolution = request.resolution;
  scale.encoding = DefaultEncoding(job.info);
  StorageRequest storage = request.storage;
  DOLIUM_TRY_VOID(EstimateShardBytes(job.info, scale, *FromArray(*array), storage));
  DOLIUM_TRY_VOID(ChooseStorage(job.info, storage, scale));
  job.info.scales = {scale};
  ArrayInput input{portable.source, array->Fingerprint()};
  job.stages = {{.scale = 0,
                 .input = input,
                 .layout = LayoutOf(scale, array->reads_whole_pages()),
                 .wrapper = request.storage.wrapper.value_or(Wrapper::kNone)}};
  StorageRequest coarser = storage;
  coarser.sharding.reset();
  DOLIUM_TRY_VOID(AddPyramid(request.pyramid, coarser, 0, job.info, job.stages));
  DOLIUM_TRY_VOID(Validate(job.info));
  input.fingerprint.clear();
  DOLIUM_TRY(const std::string input_text, ToText(StageInput(input)));
  const json text = {{"ingest", input_text},
                     {"type", ToString(job.info.type)},
                     {"resolution", request.resolution},
                     {"offset", request.offset},
                     {"storage", TextOf(request.storage)},
                     {"pyramid", TextOf(request.pyramid)}};
  VolumeDraft draft(std::move(job), text);
  DOLIUM_TRY(const OpenJob open,
             BeginJob(BuiltinFormats(), draft, target, request.force, {}));
  return PlanOfVolume(open);
}

Result<Plan> PlanDownsample(const DownsampleRequest& request) {
  DOLIUM_TRY(const Location location, ParseLocation(request.volume));
  DOLIUM_TRY(const Volume volume, OpenVolume(location));
  if (volume.dvid_export() != nullptr) {
    return Unsupported(
               fmt::format("{}: a DVID export cannot be changed; convert it to a volume "
                           "first",
                           location.Describe()))
        .WithHint(Hint::kConvertToVolume);
  }
  if (request.rebuild) return PlanRebuild(volume, request);
  VolumeJob job;
  job.adds = true;
  job.skip_damaged = request.skip_damaged;
  job.info = volume.info();
  DOLIUM_TRY(job.volume, PortableText(volume.folder(), volume.folder().Describe()));
  for (const ScaleInfo& scale : job.info.scales) {
    DOLIUM_TRY(const auto complete,
               FindComplete(ResolveScaleKey(volume.folder(), scale.key)));
    // The run that was killed had made what it was asked for.
    if (complete) return PlanOfAddition(*complete, job.volume);
  }
  const size_t from = request.from.value_or(job.info.scales.size() - 1);
  DOLIUM_TRY(const auto finer, volume.OpenCopy(from));
  StorageRequest storage = request.storage;
  storage.sharded = request.sharded.value_or(finer->info().sharding.has_value());
  json text = {{"downsample", job.volume},
               {"from", from},
               {"storage", TextOf(storage)},
               {"skip_damaged", request.skip_damaged},
               {"pyramid", TextOf(request.pyramid)}};
  if (!storage.wrapper) {
    DOLIUM_TRY(storage.wrapper, FindWrapper(*finer));
  }
  PyramidRequest pyramid = request.pyramid;
  if (request.total_scales) {
    const size_t present = job.info.scales.size();
    text["scales"] = *request.total_scales;
    pyramid.scales = std::max(*request.total_scales, present) - present;
  }
  DOLIUM_TRY_VOID(EstimateShardBytes(
      job.info, finer->info(), *FromSameVoxels(finer, /*may_copy=*/false), storage));
  DOLIUM_TRY_VOID(AddPyramid(pyramid, storage, from, job.info, job.stages));
  if (job.stages.empty()) return NothingToDo(job.volume);
  DOLIUM_TRY_VOID(Validate(job.info));
  VolumeDraft draft(job, text);
  if (request.force) {
    DOLIUM_TRY(const std::string source, draft.FindSourceState());
    DOLIUM_TRY_VOID(
        DropUnfinishedScales(volume.folder(), volume.info(), draft.request(), source));
  }
  DOLIUM_TRY(const Location job_folder, JobFolderOf(job));
  DOLIUM_TRY(const auto there, JobAt(job_folder));
  for (const Stage& stage : job.stages) {
    if (there) break;
    const Location folder =
        ResolveScaleKey(volume.folder(), job.info.scales[stage.scale].key);
    DOLIUM_TRY(const Occupancy occupancy, InspectFolder(folder));
    if (occupancy == Occupancy::kOccupied) {
      return Exists(
                 fmt::format("{}: is there already, but not in the volume's info; what "
                             "a downsampling left unfinished may be dropped, all else "
                             "is to be moved away",
                             folder.Describe()))
          .WithHint(Hint::kReplace);
    }
  }
  DOLIUM_TRY(const OpenJob open, BeginJobIn(BuiltinFormats(), draft, job_folder, {}));
  return PlanOfAddition(open, job.volume);
}

Result<OpenJob> BeginTranscode(const TranscodeRequest& request, const RunOptions& options,
                               const FindingVisitor& visitor) {
  DOLIUM_TRY(const Location location, ParseLocation(request.source));
  DOLIUM_TRY(const Location target, ParseLocation(request.target));
  DOLIUM_TRY_VOID(CheckDisjoint(location, target));
  DOLIUM_TRY(const Volume volume, OpenVolume(location, {.exported = request.exported}));
  const bool is_export = volume.dvid_export() != nullptr;
  VolumeJob job;
  // Of an export, it is the blocks that are left out, when it is opened.
  job.skip_damaged = request.skip_damaged && !is_export;
  job.info = volume.info();
  job.info.scales.clear();
  DOLIUM_TRY(const std::string from,
             PortableText(volume.folder(), volume.folder().Describe()));
  std::vector<size_t> scales = request.scales;
  if (scales.empty()) {
    scales.resize(volume.info().scales.size());
    std::iota(scales.begin(), scales.end(), size_t{0});
  }
  std::ranges::sort(scales);  // Finest first.
  if (std::ranges::adjacent_find(scales) != scales.end()) {
    return InvalidArgument("a scale is named twice");
  }
  uint64_t shard_bytes = request.storage.shard_bytes;
  for (const size_t index : scales) {
    DOLIUM_TRY(const auto source, volume.OpenCopy(index));
    ScaleInfo scale = source->info();
    StorageRequest storage = request.storage;
    storage.sharded = request.sharded.value_or(scale.sharding.has_value() || is_export);
    if (!storage.sharding && scale.sharding && storage.sharded && !request.sharded &&
        !storage.chunk_size && !storage.stored_shard_bytes) {
      storage.sharding = scale.sharding;
    }
    // A key that leads elsewhere would do so again.
    if (scale.key.find("..") != std::string::npos || scale.key.starts_with('/')) {
      scale.key.clear();
    }
    DOLIUM_TRY_VOID(EstimateShardBytes(
        job.info, scale, *FromSameVoxels(source, /*may_copy=*/false), storage));
    shard_bytes = storage.shard_bytes;
    if (!storage.wrapper && !storage.sharded) {
      DOLIUM_TRY(storage.wrapper, FindWrapper(*source));
    }
    DOLIUM_TRY_VOID(ChooseStorage(job.info, storage, scale));
    DropForeignSettings(scale);
    scale.chunk_sizes.resize(1);
    job.info.scales.push_back(scale);
    job.stages.push_back(
        {.scale = job.info.scales.size() - 1,
         .input = VolumeInput{from, ToJson(volume.info()), index,
                              SameStoredForm(source->info(), scale),
                              is_export ? std::optional(request.exported) : std::nullopt},
         .layout = LayoutOf(scale, false),
         .wrapper = storage.wrapper.value_or(Wrapper::kNone)});
  }
  if (job.stages.empty()) return InvalidArgument("no scale is to be transcoded");
  if (request.pyramid) {
    StorageRequest coarser = request.storage;
    coarser.sharded = job.info.scales.back().sharding.has_value();
    coarser.shard_bytes = shard_bytes;
    coarser.sharding.reset();
    coarser.wrapper = job.stages.back().wrapper;
    DOLIUM_TRY_VOID(AddPyramid(*request.pyramid, coarser, job.info.scales.size() - 1,
                               job.info, job.stages));
  }
  DOLIUM_TRY(const auto left_out, AddFolderCopies(volume, target, job));
  DOLIUM_TRY_VOID(Validate(job.info));
  json text = {{"transcode", from},
               {"scales", scales},
               {"sharded", request.sharded ? json(*request.sharded) : json()},
               {"skip_damaged", job.skip_damaged},
               {"storage", TextOf(request.storage)}};
  if (is_export) text["export"] = ToText(request.exported);
  if (request.pyramid) text["pyramid"] = TextOf(*request.pyramid);
  VolumeDraft draft(std::move(job), text);
  if (is_export && request.exported.salvage) {
    DvidReadOptions strict = request.exported;
    strict.salvage = false;
    draft.LeavesOut(text, {{"export", ToText(strict)}});
  }
  draft.CheckFirst(volume, options.writer, visitor);
  DOLIUM_TRY(OpenJob open,
             BeginJob(BuiltinFormats(), draft, target, request.force, options));
  if (visitor) std::ranges::for_each(left_out, visitor);
  return open;
}

Result<Plan> PlanTranscode(const TranscodeRequest& request, const RunOptions& options,
                           const FindingVisitor& visitor) {
  DOLIUM_TRY(const OpenJob open, BeginTranscode(request, options, visitor));
  return PlanOfVolume(open);
}

}  // namespace dolium::volume
