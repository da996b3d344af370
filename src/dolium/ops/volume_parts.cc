#include "dolium/ops/volume_parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/domain/volume/morton.h"
#include "dolium/domain/volume/volume_sharding.h"

namespace dolium::volume {
namespace {

constexpr Vec3 kBlock = {8, 8, 8};

// Cuts the grid into blocks, x fastest.
std::vector<Box> Blocks(const Vec3& grid, const Vec3& block) {
  std::vector<Box> parts;
  Vec3 at{};
  for (at[2] = 0; at[2] < grid[2]; at[2] += block[2]) {
    for (at[1] = 0; at[1] < grid[1]; at[1] += block[1]) {
      for (at[0] = 0; at[0] < grid[0]; at[0] += block[0]) {
        const Box whole{at, {at[0] + block[0], at[1] + block[1], at[2] + block[2]}};
        parts.push_back(whole.Intersect({{0, 0, 0}, grid}));
      }
    }
  }
  return parts;
}

Error NotBoxes(const Scale& scale) {
  return Unsupported(fmt::format(
      "{}: a volume is written shard by shard, so its shards must be boxes of chunks: "
      "the hash identity, and preshift, minishard and shard bits that add up to those of "
      "the chunk numbers",
      scale.folder().Describe()));
}

}  // namespace

std::string_view ToString(PartLayout layout) {
  switch (layout) {
    case PartLayout::kShards:
      return "shards";
    case PartLayout::kLayers:
      return "layers";
    case PartLayout::kBlocks:
      return "blocks";
  }
  return "unknown";
}

std::optional<PartLayout> ParsePartLayout(std::string_view name) {
  for (const PartLayout layout :
       {PartLayout::kShards, PartLayout::kLayers, PartLayout::kBlocks}) {
    if (ToString(layout) == name) return layout;
  }
  return std::nullopt;
}

PartLayout LayoutOf(const ScaleInfo& scale, bool whole_pages) {
  if (whole_pages) return PartLayout::kLayers;
  return scale.sharding ? PartLayout::kShards : PartLayout::kBlocks;
}

Result<Vec3> PartSize(const Scale& scale) {
  if (!scale.info().sharding) return kBlock;
  DOLIUM_TRY(const MortonCode morton, MortonCode::Make(scale.grid().shape()));
  const auto first = ShardCells(*scale.info().sharding, morton, 0);
  if (!first) return NotBoxes(scale);
  return first->size();
}

Result<std::vector<Box>> PartsOf(const Scale& scale, PartLayout layout) {
  const Vec3& grid = scale.grid().shape();
  if (!scale.info().sharding) {
    const Vec3 layer = {std::max<int64_t>(1, grid[0]), std::max<int64_t>(1, grid[1]), 1};
    return Blocks(grid, layout == PartLayout::kLayers ? layer : kBlock);
  }
  DOLIUM_TRY(const Vec3 shard_size, PartSize(scale));
  if (layout == PartLayout::kLayers) {
    return Blocks(grid, {std::max<int64_t>(1, grid[0]), std::max<int64_t>(1, grid[1]),
                         std::max<int64_t>(1, shard_size[2])});
  }
  const neuroglancer::ShardingSpec& spec = *scale.info().sharding;
  DOLIUM_TRY(const MortonCode morton, MortonCode::Make(grid));
  std::vector<Box> parts;
  DOLIUM_TRY_VOID(ForEachShard(spec, morton, [&](uint64_t shard) {
    parts.push_back(*ShardCells(spec, morton, shard));
    return true;
  }));
  return parts;
}

}  // namespace dolium::volume
