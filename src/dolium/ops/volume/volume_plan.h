// Bulk work on volumes: ingest, downsample, transcode, as jobs (job/job.h).
//
// A plan has stages, one for each scale that it writes; the tasks of a stage need some of
// those of the stages before it. A task is plain text (JSON) and writes one part of a
// scale, a shard as a rule. So tasks may run on threads (RunPlan), or in any other
// processes that see the same locations. Killed at any point, the same request resumes
// the plan.
//
// While a plan is under way, the new volume carries a marker (unfinished.h) and has no
// info; scales that are added to a volume carry it, and the volume's info does not list
// them. The end of the job writes the info.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/domain/volume/arrays/array_source.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/domain/volume/downsample/downsample.h"
#include "dolium/domain/volume/dvid/dvid_export.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/plan.h"

namespace dolium::volume {

inline constexpr uint64_t kDefaultShardBytes = uint64_t{1} << 30;

// How the chunks of new scales are stored.
struct StorageRequest {
  std::optional<Vec3> chunk_size;        // 64,64,64; or as in the source
  std::optional<EncodingSpec> encoding;  // chosen by type; or as in the source
  bool sharded = true;
  // Voxels of a shard, in bytes, before they are encoded; at most that.
  uint64_t shard_bytes = kDefaultShardBytes;
  // Instead: about so many bytes as they are stored, by a sample of chunks.
  std::optional<uint64_t> stored_shard_bytes = std::nullopt;
  // All of it, where the choice by shard_bytes will not do. For one scale only.
  std::optional<neuroglancer::ShardingSpec> sharding;
  // Without shards: what is around chunks, gzip for `<name>.gz` as cloud-volume does;
  // nullopt: as in the source, which an array is not.
  std::optional<Wrapper> wrapper = std::nullopt;
};

// The spec of shards, of its text: JSON, as an info has it.
Result<neuroglancer::ShardingSpec> ParseSharding(std::string_view text);

// How scales are made from finer ones.
struct PyramidRequest {
  // Scales to make, the full one not counted; nullopt: until a scale is one chunk.
  std::optional<size_t> scales;
  // Nullopt: 2 where the voxels are (nearly) shortest, else 1, so that scales become
  // isotropic.
  std::optional<Vec3> factor;
  std::optional<DownsampleMethod> method;  // mode for segmentations, else average
  bool ignore_zero = false;                // mode: zeros lose against any label
};

struct IngestRequest {
  ArraySourceRequest source;
  std::string target;              // location
  std::optional<VolumeType> type;  // segmentation for uint32 and uint64, else image
  Resolution resolution = {1, 1, 1};
  Vec3 offset = {0, 0, 0};
  StorageRequest storage;
  PyramidRequest pyramid;
  bool force = false;  // replace a volume that is there: build beside, then swap
};

struct DownsampleRequest {
  std::string volume;          // location
  std::optional<size_t> from;  // scale; the coarsest, or (rebuild) 0
  // Scales that the volume has in the end, with those that it has already; then
  // pyramid.scales does not count.
  std::optional<size_t> total_scales = std::nullopt;
  PyramidRequest pyramid;
  StorageRequest storage;  // without a wish: as in the scale that is downsampled
  std::optional<bool> sharded;
  // Make the scales that are listed after `from` again, stored as they are, and add none.
  bool rebuild = false;
  bool skip_damaged = false;  // leave out what is damaged of the scale
  bool force = false;         // drop what other requests began and did not finish
};

struct TranscodeRequest {
  std::string source;          // location
  std::string target;          // location
  std::vector<size_t> scales;  // of the source; empty: all
  StorageRequest storage;
  std::optional<bool> sharded;    // as in the source; exports become sharded
  DvidReadOptions exported = {};  // how to read the source, if it is a DVID export
  // Scales to add below the coarsest, made from it; none.
  std::optional<PyramidRequest> pyramid = std::nullopt;
  bool skip_damaged = false;  // leave out chunks of a volume that are damaged
  bool force = false;
};

// Makes a volume without voxels. It takes the place of one that is there, if `force`,
// once it is complete; else that is kExists.
Result<void> CreateVolume(const Location& folder, const VolumeInfo& info, bool force,
                          const RunOptions& options = {});
// The same with a marker that readers refuse it for (unfinished.h): whoever writes its
// voxels removes it. One that carries a marker already is kExists, unless `force`.
Result<void> CreateUnfinishedVolume(const Location& folder, const VolumeInfo& info,
                                    bool force);

// Each makes a plan, or finds the one that an equal request began. kExists if the target
// is there, or another request is under way there, and not `force`. kInvalidArgument if
// the new volume would be one that a check calls wrong. A plan of a new volume, or of new
// scales, has a stage for each.
Result<Plan> PlanIngest(const IngestRequest& request);
Result<Plan> PlanDownsample(const DownsampleRequest& request);
// Mesh, skeletons and segment properties of a volume are copied file by file. `visitor`
// gets warnings of what the copy does not have of the volume, and what there is to say of
// a source that is a DVID export before anything is written: warnings, and damage, which
// is kCorrupt then.
Result<Plan> PlanTranscode(const TranscodeRequest& request,
                           const RunOptions& options = {},
                           const FindingVisitor& visitor = {});

// Begins the same job, for a caller that runs it at once (job_engine.h).
Result<OpenJob> BeginTranscode(const TranscodeRequest& request, const RunOptions& options,
                               const FindingVisitor& visitor);
// How many scales it writes.
Result<size_t> CountStages(const OpenJob& open);

}  // namespace dolium::volume
