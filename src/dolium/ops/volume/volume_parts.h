// Parts of a scale: the boxes of cells that tasks write, each by itself.
//
// They have numbers: that of the shard, where a part is a shard, so that a task can say
// those of the parts that it needs without a list of all; else counted, x fastest. So
// there may be gaps.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/domain/volume/whole_scale.h"

namespace dolium::volume {

// kShards: a part is a shard. kLayers: a part is all shards (or, without shards, cells)
// of the same z, for arrays of which whole pages must be read. kBlocks: without shards, a
// part is a block of some hundred cells.
enum class PartLayout : uint8_t { kShards, kLayers, kBlocks };

std::string_view ToString(PartLayout layout);
std::optional<PartLayout> ParsePartLayout(std::string_view name);

// The layout for a scale that is filled from whole pages, or from anywhere.
PartLayout LayoutOf(const ScaleInfo& scale, bool whole_pages);

struct Part {
  uint64_t number = 0;
  Box cells;

  friend bool operator==(const Part&, const Part&) = default;
};

// All parts, by number. kUnsupported for the murmur hash, and for shards that are not
// boxes of cells.
Result<std::vector<Part>> PartsOf(const Scale& scale, PartLayout layout);

// The parts that have one of these cells. Takes time for these only. Precondition: the
// cells are in the grid.
Result<std::vector<Part>> PartsTouching(const Scale& scale, PartLayout layout,
                                        const Box& cells);

// No part has this number, or a greater one.
Result<uint64_t> PartLimit(const Scale& scale, PartLayout layout);

}  // namespace dolium::volume
