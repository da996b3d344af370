// Making the meshes of a segmentation: a folder of multi-resolution meshes, one for each
// label, which becomes that of the volume or is a thing of its own.
//
// It is a job (job/job.h) of two stages. A part of the first is a block of cells, in
// which it finds the surfaces of all labels at once (domain/mesh/making/label_cells.h)
// and notes them in the folder of the job. A part of the second is a group of labels, a
// shard if there are shards: it joins what the blocks found of each, simplifies the whole
// of it, and cuts all levels of detail. The meshes do not depend on the blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/volume/dvid/dvid_export.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/plan.h"

namespace dolium::mesh {

struct MeshMakeRequest {
  std::string volume;                     // location
  volume::DvidReadOptions exported = {};  // how to read it, if it is a DVID export
  // A new folder. Empty: that which the volume's info names, or `mesh` in the volume,
  // which the info will name then.
  std::string target;
  // The scale to make them of. Nullopt: the finest of those that are nearly isotropic.
  std::optional<size_t> scale = std::nullopt;
  // The bound of the finest level, in nanometres; each that follows has twice as much. 0:
  // the finest is not simplified. Nullopt: the longest side of a voxel.
  std::optional<double> error = std::nullopt;
  // Levels of detail, at most; small meshes have fewer. Nullopt: as many as the largest
  // mesh there can be needs.
  std::optional<unsigned> levels = std::nullopt;
  unsigned bits = 16;  // of positions: 10 or 16
  bool sharded = false;
  bool open = false;        // at the border of the data; else surfaces are closed there
  uint64_t min_voxels = 0;  // smaller labels have no mesh
  std::optional<std::vector<uint64_t>> segments = std::nullopt;  // none but these
  int64_t block_side = 256;  // cells of a block, about
  bool force = false;        // replace meshes that are there
};

// What a request leaves open.
struct MeshMakeChoice {
  std::string target;  // location
  size_t scale = 0;
  volume::Resolution resolution = {1, 1, 1};
  double error = 0;
  unsigned levels = 1;
  std::optional<neuroglancer::ShardingSpec> sharding;
  bool is_registered = false;  // the volume's info will name the folder
};
using ChoiceVisitor = std::function<void(const MeshMakeChoice& choice)>;

// Begins the job, or finds what is left of it. kExists, unless `force`, if the target is
// there; with `force`, if it holds what is no part of a folder of meshes. kUnsupported
// unless the volume has one channel of an unsigned type; kInvalidArgument without a
// target if the volume cannot be written to. Memory is that of `options`, but for what a
// single mesh takes, which is simplified in one.
Result<OpenJob> BeginMeshMake(const MeshMakeRequest& request,
                              const RunOptions& options = {},
                              const ChoiceVisitor& visitor = {});

Result<Plan> PlanMeshMake(const MeshMakeRequest& request, const RunOptions& options = {},
                          const ChoiceVisitor& visitor = {});

Result<JobReport> MakeMeshes(const MeshMakeRequest& request, const RunOptions& options,
                             const ChoiceVisitor& visitor = {});

}  // namespace dolium::mesh
