// The info of a volume, of arbitrary bytes; and if it is one, what follows from it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dolium/base/testing/require.h"
#include "dolium/domain/volume/grid.h"
#include "dolium/domain/volume/morton.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/domain/volume/volume_sharding.h"

using namespace dolium::volume;
using dolium::Require;

namespace {

void TryShards(const dolium::neuroglancer::ShardingSpec& spec, const Grid& grid) {
  const auto morton = MortonCode::Make(grid.shape());
  Require(morton.has_value());
  int visits = 0;
  const auto visited = ForEachShard(spec, *morton, [&](uint64_t shard) {
    const auto cells = ShardCells(spec, *morton, shard);
    Require(!cells || (!cells->empty() && grid.cells().Contains(*cells)));
    const auto codes = ForEachCodeOfShard(spec, *morton, shard, [&](uint64_t code) {
      Require(morton->Decode(code).has_value());
      Require(spec.LocationOf(code).shard == shard);
      return ++visits % 16 != 0;
    });
    Require(codes.has_value());
    return ++visits < 256;
  });
  static_cast<void>(visited.has_value());
}

void TryGrid(const ScaleInfo& scale, const Vec3& chunk_size) {
  const auto grid = Grid::Make(scale.bounds(), chunk_size);
  Require(grid.has_value());
  if (scale.sharding) TryShards(*scale.sharding, *grid);
  if (grid->cell_count() == 0) return;
  const Vec3& shape = grid->shape();
  const Vec3 last = {shape[0] - 1, shape[1] - 1, shape[2] - 1};
  for (const Vec3& cell : {Vec3{0, 0, 0}, last}) {
    Require(grid->ParseName(grid->NameOf(cell)) == cell);
    Require(grid->bounds().Contains(grid->VoxelsOf(cell)));
  }
  Require(grid->CellsTouching(scale.bounds()) == grid->cells());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto info = ParseVolumeInfo(text);
  if (!info) return 0;
  const std::string written = ToJson(*info);
  const auto again = ParseVolumeInfo(written);
  Require(again.has_value() && *again == *info && ToJson(*again) == written);
  static_cast<void>(CheckVolumeInfo(*info).size());
  for (const ScaleInfo& scale : info->scales) {
    static_cast<void>(CheckUsable(*info, scale).has_value());
    for (const Vec3& chunk_size : scale.chunk_sizes) TryGrid(scale, chunk_size);
  }
  return 0;
}
