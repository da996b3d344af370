// Chunks of 64 x 64 x 64 voxels in blocks of 8 x 8 x 8, one thread: voxels per second, by
// type and by how many labels meet in a block.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <benchmark/benchmark.h>

#include "dolium/base/endian.h"
#include "dolium/domain/volume/encodings/compressed_segmentation.h"

namespace dolium::volume {
namespace {

constexpr int64_t kSide = 64;
constexpr Vec3 kBlock = {8, 8, 8};

// A number that looks random, from 0 to 2^32 - 1.
uint64_t Random(int64_t x, int64_t y, int64_t z, uint64_t what) {
  uint64_t mixed = static_cast<uint64_t>(x) * 0x9e3779b97f4a7c15 +
                   static_cast<uint64_t>(y) * 0xc2b2ae3d27d4eb4f +
                   static_cast<uint64_t>(z) * 0x165667b19e3779f9 + what;
  for (int round = 0; round < 2; ++round) {
    mixed ^= mixed >> 29;
    mixed *= 0xbf58476d1ce4e5b9;
  }
  return mixed >> 32;
}

// Cells around one point in each cube of `cell` voxels, each with a label of its own;
// with `cell` 0, each voxel has one of 100 labels.
ByteVector MakeCells(const ArrayShape& shape, int64_t cell) {
  ByteVector voxels(static_cast<size_t>(*shape.bytes()));
  std::byte* to = voxels.data();
  for (int64_t z = 0; z < kSide; ++z) {
    for (int64_t y = 0; y < kSide; ++y) {
      for (int64_t x = 0; x < kSide; ++x) {
        uint64_t label = Random(x, y, z, 0) % 100;
        int64_t nearest = INT64_MAX;
        for (int64_t i = 0; cell > 0 && i < 27; ++i) {
          const Vec3 cube = {x / cell + i % 3 - 1, y / cell + i / 3 % 3 - 1,
                             z / cell + i / 9 - 1};
          int64_t distance = 0;
          for (size_t d = 0; d < 3; ++d) {
            const int64_t point =
                cube[d] * cell +
                static_cast<int64_t>(Random(cube[0], cube[1], cube[2], d + 1)) % cell;
            const int64_t away = point - std::array{x, y, z}[d];
            distance += away * away;
          }
          if (distance >= nearest) continue;
          nearest = distance;
          label = Random(cube[0], cube[1], cube[2], 9);
        }
        if (shape.type == DataType::kUint64) {
          StoreLE<uint64_t>(to, label | uint64_t{3} << 56);
        } else {
          StoreLE<uint32_t>(to, static_cast<uint32_t>(label));
        }
        to += SizeOf(shape.type);
      }
    }
  }
  return voxels;
}

ArrayShape ShapeOf(const benchmark::State& state) {
  return {{kSide, kSide, kSide},
          1,
          state.range(0) == 64 ? DataType::kUint64 : DataType::kUint32};
}

void EncodeChunk(benchmark::State& state) {
  const ArrayShape shape = ShapeOf(state);
  const ByteVector voxels = MakeCells(shape, state.range(1));
  for (auto _ : state) {
    auto stored = EncodeCompressedSegmentation(shape, kBlock, voxels);
    if (!stored) std::abort();
    benchmark::DoNotOptimize(stored->data());
  }
  state.SetItemsProcessed(state.iterations() * kSide * kSide * kSide);
}

void DecodeChunk(benchmark::State& state) {
  const ArrayShape shape = ShapeOf(state);
  ByteVector voxels = MakeCells(shape, state.range(1));
  const auto stored = EncodeCompressedSegmentation(shape, kBlock, voxels);
  if (!stored) std::abort();
  for (auto _ : state) {
    if (!DecodeCompressedSegmentation(shape, kBlock, *stored, voxels)) std::abort();
    benchmark::DoNotOptimize(voxels.data());
  }
  state.SetItemsProcessed(state.iterations() * kSide * kSide * kSide);
}

// One label in a block, then about 2, 9, 45 and 100.
const std::vector<std::vector<int64_t>> kCases = {{32, 64}, {1000, 24, 8, 3, 0}};
BENCHMARK(EncodeChunk)->ArgNames({"bits", "cell"})->ArgsProduct(kCases);
BENCHMARK(DecodeChunk)->ArgNames({"bits", "cell"})->ArgsProduct(kCases);

}  // namespace
}  // namespace dolium::volume
