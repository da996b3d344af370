// Axes: which dimension of a file's array is x, y, z and channel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/volume/arrays/number_array.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

// x, y, z and channel, in this order, as places in arrays of four.
inline constexpr size_t kChannelAxis = 3;

struct AxisMap {
  NumberShape shape;
  // For x, y, z, channel: its dimension; nullopt if the array has none, so that it is 1.
  std::array<std::optional<size_t>, 4> dimension;
};

// Names the dimensions of an array of sizes `sizes`: as `axes` does, or else x, y, z,
// channel. kInvalidArgument if `axes` is no list of axes for so many dimensions;
// kUnsupported if there are too few or too many; kCorrupt if a size is 0 or all together
// do not fit.
Result<AxisMap> MapAxes(const std::optional<std::string>& axes,
                        std::span<const uint64_t> sizes, NumberType type);

// An array that is written to a file.
struct FileAxes {
  std::vector<uint64_t> sizes;  // of its dimensions, as the file lists them
  // All four axes, from the fastest to the slowest; those that the file does not have
  // come last.
  std::array<size_t, 4> by_speed = {0, 1, 2, kChannelAxis};
};

// Lists the dimensions of an array as `axes` says, or else as x, y, z and, if there are
// several, channel. The first is the fastest or (`c_order`) the last. kInvalidArgument if
// `axes` is no list of axes, or lacks one that has more than one voxel.
Result<FileAxes> OrderAxes(const std::optional<std::string>& axes,
                           const ArrayShape& shape, bool c_order);

// For x, y, z, channel: the distance in bytes from one number to the next, in an array of
// sizes `sizes` without gaps, whose first or (`c_order`) last dimension is the fastest.
std::array<int64_t, 4> DenseStrides(const AxisMap& map, std::span<const uint64_t> sizes,
                                    bool c_order);

}  // namespace dolium::volume
