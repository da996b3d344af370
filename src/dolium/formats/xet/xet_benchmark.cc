// Chunking, hashing and compressing, on one core and in memory.
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "dolium/base/endian.h"
#include "dolium/formats/xet/bg4.h"
#include "dolium/formats/xet/chunker.h"
#include "dolium/formats/xet/compression.h"

namespace dolium::xet {
namespace {

constexpr size_t kSize = size_t{64} << 20;

const ByteVector& RandomBytes() {
  static const ByteVector bytes = [] {
    ByteVector out(kSize);
    uint64_t state = 0;
    for (size_t i = 0; i < kSize; i += 8) {
      state += 0x9E3779B97F4A7C15;
      uint64_t z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
      StoreLE(out.data() + i, z ^ (z >> 31));
    }
    return out;
  }();
  return bytes;
}

void SetBytes(benchmark::State& state, size_t each) {
  state.SetBytesProcessed(static_cast<int64_t>(each) *
                          static_cast<int64_t>(state.iterations()));
}

void GearScan(benchmark::State& state) {
  const auto variants = AvailableGearVariants();
  const auto number = static_cast<size_t>(state.range(0));
  if (number >= variants.size()) {
    state.SkipWithError("not on this processor");
    return;
  }
  state.SetLabel(std::string(GearVariantName(variants[number])));
  std::vector<uint32_t> marks;
  for (auto _ : state) {
    marks.clear();
    GearScanner(variants[number]).Scan(RandomBytes(), marks);
    benchmark::DoNotOptimize(marks.data());
  }
  SetBytes(state, kSize);
}
BENCHMARK(GearScan)->DenseRange(0, 2);

void Cut(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(CutPoints(RandomBytes(), {.jobs = 1}));
  }
  SetBytes(state, kSize);
}
BENCHMARK(Cut);

// On so many cores; time is that of the clock on the wall.
void CutAndHash(benchmark::State& state) {
  const auto jobs = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(ChunkAndHash(RandomBytes(), {.jobs = jobs}));
  }
  SetBytes(state, kSize);
}
BENCHMARK(CutAndHash)->Arg(1)->Arg(2)->UseRealTime();

void HashChunk(benchmark::State& state) {
  const BytesView chunk = BytesView(RandomBytes()).first(65536);
  for (auto _ : state) benchmark::DoNotOptimize(ChunkHash(chunk));
  SetBytes(state, chunk.size());
}
BENCHMARK(HashChunk);

void Bg4(benchmark::State& state) {
  const BytesView chunk = BytesView(RandomBytes()).first(65536);
  ByteVector split(chunk.size());
  ByteVector joined(chunk.size());
  for (auto _ : state) {
    Bg4Split(chunk, split);
    Bg4Join(split, joined);
    benchmark::DoNotOptimize(joined.data());
  }
  SetBytes(state, chunk.size());
}
BENCHMARK(Bg4);

void Compress(benchmark::State& state) {
  // Numbers that grow slowly: BG4 helps.
  ByteVector chunk(65536);
  for (size_t i = 0; i < chunk.size(); i += 4) {
    StoreLE(chunk.data() + i, static_cast<uint32_t>(1000000 + i * 3));
  }
  ChunkCompressor compressor;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        compressor.Encode(chunk, static_cast<Scheme>(state.range(0))).bytes.data());
  }
  SetBytes(state, chunk.size());
}
BENCHMARK(Compress)->Arg(1)->Arg(2);

}  // namespace
}  // namespace dolium::xet
