#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "dolium/formats/dvid/label_block.h"

namespace dolium::dvid {
namespace {

constexpr std::array<uint32_t, 3> kGrid = {8, 8, 8};

// Slanted slabs: about as many labels in a sub-block as `width` is small.
std::vector<uint64_t> Voxels(size_t width) {
  std::vector<uint64_t> voxels;
  for (size_t z = 0; z < 64; ++z) {
    for (size_t y = 0; y < 64; ++y) {
      for (size_t x = 0; x < 64; ++x) {
        voxels.push_back(1000 + (x + y / 2) / width + 100 * ((z + y / 3) / width));
      }
    }
  }
  return voxels;
}

void Decode(benchmark::State& state) {
  const ByteVector bytes =
      EncodeBlock(kGrid, Voxels(static_cast<size_t>(state.range(0))));
  const auto block = LabelBlock::Parse(bytes);
  std::vector<uint64_t> voxels(static_cast<size_t>(block->voxels()));
  for (auto _ : state) {
    benchmark::DoNotOptimize(DecodeBlock(*block, block->labels(), voxels));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(voxels.size()));
}
BENCHMARK(Decode)->Arg(60)->Arg(12)->Arg(3)->Arg(1);

void Encode(benchmark::State& state) {
  const auto voxels = Voxels(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(EncodeBlock(kGrid, voxels));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(voxels.size()));
}
BENCHMARK(Encode)->Arg(60)->Arg(12)->Arg(3)->Arg(1);

}  // namespace
}  // namespace dolium::dvid
