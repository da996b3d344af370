// The surfaces of all labels of an array.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "dolium/base/result.h"
#include "dolium/domain/mesh/making/make_mesh.h"
#include "dolium/domain/volume/voxel_view.h"

namespace dolium::mesh {

// Calls `visit` for each label but 0, in nanometres from the origin of the volume, where
// `options.voxels` says which voxels the array has. In any order, from `options.jobs`
// threads (0: one per core). kInvalidArgument unless the array has one channel of an
// unsigned type, and the size of that box.
using LabelMeshVisitor = std::function<Result<void>(uint64_t label, Mesh mesh)>;
Result<void> MeshLabels(const volume::VoxelView& labels, const MakeOptions& options,
                        const LabelMeshVisitor& visit, const std::stop_token& stop = {});

}  // namespace dolium::mesh
