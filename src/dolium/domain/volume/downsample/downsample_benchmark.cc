// Downsampling by 2x2x1 and 2x2x2, in voxels of input per second: images of noise, labels
// as cells with smooth boundaries, labels of noise (no block is uniform). Chunks stay in
// the L2 cache; slabs do not.

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "dolium/base/bytes.h"
#include "dolium/base/endian.h"
#include "dolium/domain/volume/downsample/downsample_internal.h"

namespace dolium::volume {
namespace {

constexpr Vec3 kChunk = {64, 64, 64};
constexpr Vec3 kSlab = {512, 512, 64};

// The label at each voxel is that of the nearest of the points scattered one to a cell.
class Cells {
 public:
  Cells() {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> within(0, kCell);
    for (auto& point : points_) point = {within(random), within(random), within(random)};
  }

  uint64_t At(int64_t x, int64_t y, int64_t z) const {
    double nearest = HUGE_VAL;
    size_t label = 0;
    for (int64_t i = 0; i < 27; ++i) {
      const Vec3 cell = {x / kCell + i % 3, y / kCell + i / 3 % 3, z / kCell + i / 9};
      const auto index = static_cast<size_t>(cell[0] + cell[1] * 37 + cell[2] * 1301);
      const auto& point = points_[index % points_.size()];
      const double dx = static_cast<double>((cell[0] - 1) * kCell - x) + point[0];
      const double dy = static_cast<double>((cell[1] - 1) * kCell - y) + point[1];
      const double dz = static_cast<double>((cell[2] - 1) * kCell - z) + point[2];
      const double distance = dx * dx + dy * dy + dz * dz;
      if (distance < nearest) {
        nearest = distance;
        label = index;
      }
    }
    return label + 1;
  }

 private:
  static constexpr int64_t kCell = 24;
  std::array<std::array<double, 3>, 4096> points_;
};

enum class Content { kCells, kNoise };

// Made once for each size: cells are slow to make.
const std::vector<uint64_t>& Labels(const Vec3& size, Content content) {
  static std::map<std::pair<Vec3, Content>, std::vector<uint64_t>> made;
  auto& labels = made[{size, content}];
  if (!labels.empty()) return labels;
  const Cells cells;
  std::mt19937_64 random(1);
  for (int64_t z = 0; z < size[2]; ++z) {
    for (int64_t y = 0; y < size[1]; ++y) {
      for (int64_t x = 0; x < size[0]; ++x) {
        labels.push_back(content == Content::kCells ? cells.At(x, y, z) : random());
      }
    }
  }
  return labels;
}

ByteVector Voxels(const ArrayShape& shape, Content content) {
  ByteVector voxels(*shape.bytes());
  const size_t voxel = SizeOf(shape.type);
  std::byte* to = voxels.data();
  for (const uint64_t label : Labels(shape.size, content)) {
    std::array<std::byte, 8> bytes;
    StoreLE(bytes.data(), label);
    if (shape.type == DataType::kFloat32) bytes[3] = std::byte{0x3F};  // No NaN.
    std::memcpy(to, bytes.data(), voxel);
    to += voxel;
  }
  return voxels;
}

void Measure(benchmark::State& state, Simd simd, const DownsampleSpec& spec,
             const ArrayShape& shape, Content content) {
  const ByteVector voxels = Voxels(shape, content);
  ByteVector out(*Downsampled(shape, spec.factor).bytes());
  for (auto _ : state) {
    DownsampleWith(simd, spec, shape, voxels, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(*shape.voxels()));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(voxels.size()));
}

void Register(const std::string& name, DownsampleMethod method, Content content,
              DataType type) {
  for (const Vec3& factor : {Vec3{2, 2, 1}, Vec3{2, 2, 2}}) {
    for (const Vec3& size : {kChunk, kSlab}) {
      for (const Simd simd : {Simd::kNone, Simd::kAvx2}) {
        if (simd != Simd::kNone && simd != BestSimd()) continue;
        std::string full = name;
        full.append("/").append(ToString(type)).append("/").append(ToString(factor));
        full.append(size == kChunk ? "/chunk" : "/slab");
        full.append(simd == Simd::kNone ? "/portable" : "/avx2");
        benchmark::RegisterBenchmark(full.c_str(), Measure, simd,
                                     DownsampleSpec{factor, method, false},
                                     ArrayShape{size, 1, type}, content);
      }
    }
  }
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const auto type : {DataType::kUint8, DataType::kUint16, DataType::kFloat32}) {
    Register("average", DownsampleMethod::kAverage, Content::kNoise, type);
  }
  for (const auto type : {DataType::kUint8, DataType::kUint32, DataType::kUint64}) {
    Register("mode_cells", DownsampleMethod::kMode, Content::kCells, type);
    Register("mode_noise", DownsampleMethod::kMode, Content::kNoise, type);
  }
  return true;
}();

}  // namespace
}  // namespace dolium::volume
