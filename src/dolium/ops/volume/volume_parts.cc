#include "dolium/ops/volume/volume_parts.h"

#include <algorithm>

#include "dolium/domain/volume/morton.h"
#include "dolium/domain/volume/volume_sharding.h"

namespace dolium::volume {
namespace {

// How many blocks there are in each dimension.
Vec3 BlockCounts(const Vec3& grid, const Vec3& block) {
  Vec3 counts{};
  for (size_t d = 0; d < 3; ++d) counts[d] = (grid[d] + block[d] - 1) / block[d];
  return counts;
}

// The blocks of the grid that have one of these cells.
std::vector<Part> Blocks(const Vec3& grid, const Vec3& block, const Box& cells) {
  const Vec3 counts = BlockCounts(grid, block);
  std::vector<Part> parts;
  if (cells.empty()) return parts;
  Vec3 at{};
  for (at[2] = cells.begin[2] / block[2]; at[2] * block[2] < cells.end[2]; ++at[2]) {
    for (at[1] = cells.begin[1] / block[1]; at[1] * block[1] < cells.end[1]; ++at[1]) {
      for (at[0] = cells.begin[0] / block[0]; at[0] * block[0] < cells.end[0]; ++at[0]) {
        Box whole;
        for (size_t d = 0; d < 3; ++d) {
          whole.begin[d] = at[d] * block[d];
          whole.end[d] = whole.begin[d] + block[d];
        }
        parts.push_back(
            {static_cast<uint64_t>((at[2] * counts[1] + at[1]) * counts[0] + at[0]),
             whole.Intersect({{0, 0, 0}, grid})});
      }
    }
  }
  return parts;
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

namespace {

// The cells of a block, for layouts other than kShards.
Result<Vec3> BlockSize(const Scale& scale, PartLayout layout) {
  if (layout != PartLayout::kLayers) return kBlockCells;
  const Vec3& grid = scale.grid().shape();
  Vec3 layer = {std::max<int64_t>(1, grid[0]), std::max<int64_t>(1, grid[1]), 1};
  if (scale.info().sharding) {
    DOLIUM_TRY(const Vec3 shard, PartSize(scale));
    layer[2] = std::max<int64_t>(1, shard[2]);
  }
  return layer;
}

}  // namespace

Result<std::vector<Part>> PartsOf(const Scale& scale, PartLayout layout) {
  const Vec3& grid = scale.grid().shape();
  if (layout != PartLayout::kShards) {
    DOLIUM_TRY(const Vec3 block, BlockSize(scale, layout));
    return Blocks(grid, block, {{0, 0, 0}, grid});
  }
  DOLIUM_TRY_VOID(PartSize(scale));  // They must be boxes.
  const neuroglancer::ShardingSpec& spec = *scale.info().sharding;
  DOLIUM_TRY(const MortonCode morton, MortonCode::Make(grid));
  std::vector<Part> parts;
  DOLIUM_TRY_VOID(ForEachShard(spec, morton, [&](uint64_t shard) {
    parts.push_back({shard, *ShardCells(spec, morton, shard)});
    return true;
  }));
  return parts;
}

Result<std::vector<Part>> PartsTouching(const Scale& scale, PartLayout layout,
                                        const Box& cells) {
  const Vec3& grid = scale.grid().shape();
  if (layout != PartLayout::kShards) {
    DOLIUM_TRY(const Vec3 block, BlockSize(scale, layout));
    return Blocks(grid, block, cells);
  }
  DOLIUM_TRY(const Vec3 size, PartSize(scale));
  const neuroglancer::ShardingSpec& spec = *scale.info().sharding;
  DOLIUM_TRY(const MortonCode morton, MortonCode::Make(grid));
  // Shards lie side by side, so they are blocks with other numbers.
  std::vector<Part> parts = Blocks(grid, size, cells);
  for (Part& part : parts) {
    part.number = spec.LocationOf(morton.Encode(part.cells.begin)).shard;
  }
  return parts;
}

Result<uint64_t> PartLimit(const Scale& scale, PartLayout layout) {
  const Vec3& grid = scale.grid().shape();
  if (layout != PartLayout::kShards) {
    DOLIUM_TRY(const Vec3 block, BlockSize(scale, layout));
    const Vec3 counts = BlockCounts(grid, block);
    return static_cast<uint64_t>(counts[0]) * static_cast<uint64_t>(counts[1]) *
           static_cast<uint64_t>(counts[2]);
  }
  DOLIUM_TRY(const MortonCode morton, MortonCode::Make(grid));
  const neuroglancer::ShardingSpec& spec = *scale.info().sharding;
  if (scale.grid().cell_count() == 0) return 0;
  const Vec3 last = {grid[0] - 1, grid[1] - 1, grid[2] - 1};
  // Of all cells, the last one has the greatest code, and so the greatest shard.
  return spec.LocationOf(morton.Encode(last)).shard + 1;
}

}  // namespace dolium::volume
