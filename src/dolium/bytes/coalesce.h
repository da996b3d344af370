// Merging ranges that lie close together, so that fewer and larger reads serve them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dolium/base/byte_range.h"

namespace dolium {

// One read, and which of the ranges asked for lie within it.
struct RangeGroup {
  ByteRange covering;
  std::vector<size_t> indices;  // into the input
};

// Groups ranges, given in any order, that overlap or have at most `max_gap` bytes between
// them. A group covers at most `max_length` bytes, unless one range alone is longer.
// Every range that is not empty is in exactly one group; groups and the ranges in them
// come in order of offset. Precondition: the ends fit 64 bits.
std::vector<RangeGroup> CoalesceRanges(std::span<const ByteRange> ranges,
                                       uint64_t max_gap, uint64_t max_length);

}  // namespace dolium
