// The kind of job that makes skeletons.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/skeleton/making/center_line.h"
#include "dolium/domain/volume/dvid/dvid_export.h"
#include "dolium/domain/volume/voxels.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/job_record.h"
#include "dolium/ops/job/plan_folder.h"

namespace dolium::skeleton {

inline constexpr std::string_view kSkeletonMakeKind = "skeleton-make";

// All that a part needs to know: the parameters of the record.
struct SkeletonMakeJob {
  std::string source;  // location
  volume::DvidReadOptions exported = {};
  size_t scale = 0;
  TeasarOptions teasar = {};
  bool cross_sections = false;
  uint64_t min_voxels = 0;
  double dust = 0;
  double tick = 0;
  uint64_t segments = 0;  // a hash of those wanted, which are in the job's folder; 0: all
  unsigned group_bits = 0;  // 2^that groups of labels; of shards if sharded
  std::optional<neuroglancer::ShardingSpec> sharding = std::nullopt;
  std::string volume = {};  // location of that whose info is to name the folder; or none
  std::string key = {};     // by which it names it
  volume::Vec3 block = {256, 256, 256};  // voxels from one block to the next
};

// What was asked for: all but the size of blocks, which memory decides. A rerun with
// other memory goes on with the blocks that the job began with.
Result<std::string> RequestText(const SkeletonMakeJob& job);
Result<std::string> ToText(const SkeletonMakeJob& job);
// kCorrupt if it is none.
Result<SkeletonMakeJob> ParseSkeletonMakeJob(std::string_view text);

// The labels that are wanted, in the folder of a job: ascending.
Result<void> WriteWantedLabels(const PlanFolder& folder,
                               const std::vector<uint64_t>& labels);

// kUnsupported if the volume has no labels; kInvalidArgument if it has no such scale.
Result<void> CheckSkeletonSource(const SkeletonMakeJob& job);
Result<std::string> FindSkeletonSourceState(const SkeletonMakeJob& job,
                                            const WriterOptions& options);
// kExists if a folder has something else than skeletons in it.
Result<void> CheckSkeletonsReplaceable(const Location& folder);

// Of the row in the table of kinds.
Result<std::unique_ptr<Job>> OpenSkeletonMakeJob(Formats formats, const Location& folder,
                                                 const JobRecord& record);
Result<void> CheckSkeletonMakeReplaceable(Formats formats, const JobRecord& record,
                                          const Location& folder);

}  // namespace dolium::skeleton
