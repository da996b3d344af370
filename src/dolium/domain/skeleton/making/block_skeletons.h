// The skeletons of all labels of a block, component by component.
//
// Blocks of a volume overlap by one voxel. Both blocks of such a face see the same voxels
// in it, and so choose the same points, in the middle of each contact, through which
// lines leave. Strands of a label that share a point are connected (join_strands.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/skeleton/making/center_line.h"
#include "dolium/domain/skeleton/making/label_components.h"

namespace dolium::skeleton {

struct StrandOptions {
  Resolution resolution = {1, 1, 1};  // nanometres of a voxel
  TeasarOptions teasar = {};
  // Also the area of the object across the line, at each vertex.
  bool cross_sections = false;
  // Components of fewer voxels are left out if they do not leave the block.
  uint64_t min_voxels = 0;
  size_t jobs = 0;
  std::stop_token stop = {};
};

// The part of a block that is worked on; what is around it is only looked at. `shares`
// says of which faces, begin and end of x, y and z, another block has the voxels too.
struct BlockCore {
  Box box;
  std::array<std::array<bool, 2>, 3> shares = {};
};

// The line of one component. Vertices are voxels of the volume, or of the block.
struct SkeletonStrand {
  uint64_t id = 0;  // of the label
  // Without those of faces at the end that are shared, so that none counts twice.
  uint64_t voxels = 0;
  bool is_cut = false;  // it goes on in another block
  CenterLine line;
  std::vector<float> areas;  // square nanometres, if asked for
};

// In the order of their first voxels, at most as many as there are components.
Result<std::vector<SkeletonStrand>> MakeStrands(const LabelBlock& block,
                                                const BlockCore& core,
                                                const StrandOptions& options);

}  // namespace dolium::skeleton
