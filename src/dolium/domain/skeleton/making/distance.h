// The distance of each voxel to the boundary of its label, in nanometres.
#pragma once

#include <cstddef>
#include <stop_token>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/skeleton/making/label_components.h"

namespace dolium::skeleton {

// Exact Euclidean distances, for all labels of a block at once: from the centre of a
// voxel to that of the nearest one with another label, or with none. What lies outside of
// the block is taken to have the same label. A label without a boundary has kNoBoundary.
// Voxels without a label have 0.
inline constexpr float kNoBoundary = 1e15F;

Result<std::vector<float>> DistanceToBoundary(const LabelBlock& block,
                                              const Resolution& resolution, size_t jobs,
                                              const std::stop_token& stop = {});

}  // namespace dolium::skeleton
