// Making the skeletons of a segmentation: a folder of them, one for each label, which
// becomes that of the volume or is a thing of its own.
//
// It is a job (job/job.h) of two stages. A part of the first is a block: it traces all
// labels in it (domain/skeleton/making/block_skeletons.h) and leaves the strands in the
// folder of the job. A part of the second is a group of labels, a shard if there are
// shards: it joins the strands of each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/skeleton/making/center_line.h"
#include "dolium/domain/volume/dvid/dvid_export.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/plan.h"

namespace dolium::skeleton {

struct SkeletonMakeRequest {
  std::string volume;                     // location
  volume::DvidReadOptions exported = {};  // how to read it, if it is a DVID export
  // A new folder. Empty: that which the volume's info names, or `skeletons` in the
  // volume, which the info will name then.
  std::string target;
  // The scale to make them of. Nullopt: the finest of those that are nearly isotropic.
  std::optional<size_t> scale = std::nullopt;
  TeasarOptions teasar = {};
  bool cross_sections = false;  // also the area across the line, at each vertex
  uint64_t min_voxels = 1000;   // smaller labels have no skeleton
  double dust = 1000;           // trees that are shorter are left out; nanometres
  double tick = 900;            // ends of branches that are shorter are removed
  bool sharded = false;
  std::optional<std::vector<uint64_t>> segments = std::nullopt;  // none but these
  // Voxels of a block, about. Nullopt: as memory allows.
  std::optional<int64_t> block_side = std::nullopt;
  bool force = false;  // replace skeletons that are there
};

// What a request leaves open.
struct SkeletonMakeChoice {
  std::string target;  // location
  size_t scale = 0;
  volume::Resolution resolution = {1, 1, 1};
  volume::Vec3 block = {0, 0, 0};
  std::optional<neuroglancer::ShardingSpec> sharding;
  bool is_registered = false;  // the volume's info will name the folder
};
using SkeletonChoiceVisitor = std::function<void(const SkeletonMakeChoice& choice)>;

// Begins the job, or finds what is left of it. kExists, unless `force`, if the target is
// there; with `force`, if it holds what is no part of a folder of skeletons. kUnsupported
// unless the volume has one channel of an unsigned type; kInvalidArgument without a
// target if the volume cannot be written to.
Result<OpenJob> BeginSkeletonMake(const SkeletonMakeRequest& request,
                                  const RunOptions& options = {},
                                  const SkeletonChoiceVisitor& visitor = {});

Result<Plan> PlanSkeletonMake(const SkeletonMakeRequest& request,
                              const RunOptions& options = {},
                              const SkeletonChoiceVisitor& visitor = {});

Result<JobReport> MakeSkeletonsOf(const SkeletonMakeRequest& request,
                                  const RunOptions& options,
                                  const SkeletonChoiceVisitor& visitor = {});

}  // namespace dolium::skeleton
