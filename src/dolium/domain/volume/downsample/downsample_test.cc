#include "dolium/domain/volume/downsample/downsample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/bytes.h"
#include "dolium/domain/volume/downsample/downsample_internal.h"

namespace dolium::volume {
namespace {

using testing::ElementsAre;

constexpr auto kAverage = DownsampleMethod::kAverage;
constexpr auto kMode = DownsampleMethod::kMode;
constexpr auto kStride = DownsampleMethod::kStride;

template <typename T>
constexpr DataType TypeOf() {
  if (std::is_same_v<T, uint8_t>) return DataType::kUint8;
  if (std::is_same_v<T, int8_t>) return DataType::kInt8;
  if (std::is_same_v<T, uint16_t>) return DataType::kUint16;
  if (std::is_same_v<T, int16_t>) return DataType::kInt16;
  if (std::is_same_v<T, uint32_t>) return DataType::kUint32;
  if (std::is_same_v<T, int32_t>) return DataType::kInt32;
  if (std::is_same_v<T, uint64_t>) return DataType::kUint64;
  return DataType::kFloat32;
}

template <typename T>
std::vector<T> Shrink(Simd simd, const DownsampleSpec& spec, const ArrayShape& shape,
                      const std::vector<T>& voxels) {
  const uint64_t size = *Downsampled(shape, spec.factor).bytes();
  std::vector<T> result(size / sizeof(T));
  // Bytes around the result that must stay, and an odd address for both arrays.
  ByteVector in(voxels.size() * sizeof(T) + 1);
  std::memcpy(in.data() + 1, voxels.data(), in.size() - 1);
  ByteVector out(size + 2, std::byte{0x5A});
  DownsampleWith(simd, spec, shape, BytesView(in).subspan(1),
                 MutableBytes(out).subspan(1, size));
  EXPECT_EQ(out.front(), std::byte{0x5A});
  EXPECT_EQ(out.back(), std::byte{0x5A});
  std::memcpy(result.data(), out.data() + 1, size);
  return result;
}

// One block, one voxel of result.
template <typename T>
T One(DownsampleMethod method, const std::vector<T>& block, bool ignore_zero = false) {
  const auto size = static_cast<int64_t>(block.size());
  const DownsampleSpec spec = {{8, 8, 8}, method, ignore_zero};
  ArrayShape shape = {{size, 1, 1}, 1, TypeOf<T>()};
  if (size > 8) shape.size = {8, size / 8, 1};
  if (size > 64) shape.size = {8, 8, size / 64};
  const auto result = Shrink(Simd::kNone, spec, shape, block);
  EXPECT_EQ(result.size(), 1);
  return result.at(0);
}

// What the header says, word for word and slowly.

template <typename T>
T MeanOf(const std::vector<std::vector<T>>& columns) {
  if constexpr (std::is_same_v<T, float>) {
    double sum = -0.0;
    size_t count = 0;
    for (const auto& column : columns) {
      double of_column = -0.0;
      for (const T value : column) of_column += static_cast<double>(value);
      sum += of_column;
      count += column.size();
    }
    return static_cast<float>(sum / static_cast<double>(count));
  } else {
    __int128 sum = 0;
    __int128 count = 0;
    for (const auto& column : columns) {
      for (const T value : column) sum += value;
      count += static_cast<__int128>(column.size());
    }
    __int128 floor = sum / count;
    if (floor * count > sum) --floor;
    const __int128 rest = 2 * (sum - floor * count);
    if (rest > count || (rest == count && floor % 2 != 0)) ++floor;
    return static_cast<T>(floor);
  }
}

struct ByTotalOrder {
  template <typename T>
  bool operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, float>) {
      if (std::signbit(a) != std::signbit(b)) return std::signbit(a);
      const auto bits_a = std::bit_cast<uint32_t>(a);
      const auto bits_b = std::bit_cast<uint32_t>(b);
      return std::signbit(a) ? bits_a > bits_b : bits_a < bits_b;
    } else {
      return a < b;
    }
  }
};

template <typename T>
T ModeOf(const std::vector<std::vector<T>>& columns, bool ignore_zero) {
  std::map<T, int, ByTotalOrder> counts;
  for (const auto& column : columns) {
    for (const T value : column) ++counts[value];
  }
  if (ignore_zero && counts.size() > 1) counts.erase(T{0});
  return std::max_element(counts.begin(), counts.end(),
                          [](auto& a, auto& b) { return a.second < b.second; })
      ->first;
}

template <typename T>
std::vector<T> Expected(const DownsampleSpec& spec, const ArrayShape& shape,
                        const std::vector<T>& voxels) {
  const auto& [fx, fy, fz] = spec.factor;
  const auto& [sx, sy, sz] = shape.size;
  std::vector<T> result;
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t z0 = 0; z0 < sz; z0 += fz) {
      for (int64_t y0 = 0; y0 < sy; y0 += fy) {
        for (int64_t x0 = 0; x0 < sx; x0 += fx) {
          std::vector<std::vector<T>> columns;
          for (int64_t x = x0; x < std::min(x0 + fx, sx); ++x) {
            columns.emplace_back();
            for (int64_t z = z0; z < std::min(z0 + fz, sz); ++z) {
              for (int64_t y = y0; y < std::min(y0 + fy, sy); ++y) {
                const int64_t at = ((c * sz + z) * sy + y) * sx + x;
                columns.back().push_back(voxels[static_cast<size_t>(at)]);
              }
            }
          }
          result.push_back(spec.method == kAverage ? MeanOf(columns)
                           : spec.method == kMode
                               ? ModeOf(columns, spec.mode_ignores_zero)
                               : columns[0][0]);
        }
      }
    }
  }
  return result;
}

// Arrays with what is hard: extremes, few values and many, large uniform parts.
template <typename T>
std::vector<T> Voxels(std::mt19937_64& random, size_t size) {
  std::vector<T> palette = {0, 1, 2, std::numeric_limits<T>::max(),
                            std::numeric_limits<T>::lowest()};
  if constexpr (std::is_same_v<T, float>) {
    palette.insert(palette.end(), {-0.0F, 1e-40F, -3.25F, 1e30F});
  } else {
    palette.push_back(static_cast<T>(std::numeric_limits<T>::max() - 1));
    palette.push_back(static_cast<T>(std::numeric_limits<T>::max() / 2 + 1));
    palette.push_back(static_cast<T>(-1));
    palette.push_back(static_cast<T>(-2));
  }
  std::shuffle(palette.begin(), palette.end(), random);
  const uint64_t kind = random() % 4;
  const size_t few = 1 + random() % palette.size();
  std::vector<T> voxels(size);
  T value = palette[0];
  for (auto& voxel : voxels) {
    if (kind == 0) value = static_cast<T>(random() >> (random() % 64));
    if (kind == 1) value = palette[random() % few];
    if (kind == 2 && random() % 40 == 0) value = palette[random() % few];
    if (kind == 3) value = static_cast<T>(random() % 3);
    voxel = value;
  }
  return voxels;
}

// Equality of bits, for floats too.
template <typename T>
bool SameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return Equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

std::vector<Simd> AllSimd() {
  if (BestSimd() == Simd::kNone) return {Simd::kNone};
  return {Simd::kNone, Simd::kAvx2};
}

template <typename T>
class DownsampleTypes : public testing::Test {
 protected:
  void Check(std::mt19937_64& random, const DownsampleSpec& spec, const Vec3& size,
             int64_t channels) {
    const ArrayShape shape = {size, channels, TypeOf<T>()};
    const auto voxels = Voxels<T>(random, *shape.bytes() / sizeof(T));
    const auto expected = Expected(spec, shape, voxels);
    for (const Simd simd : AllSimd()) {
      ASSERT_TRUE(SameBits(Shrink(simd, spec, shape, voxels), expected))
          << "size " << ToString(size) << " factor " << ToString(spec.factor)
          << " method " << static_cast<int>(spec.method) << " ignore_zero "
          << spec.mode_ignores_zero << " simd " << static_cast<int>(simd);
    }
  }
};

using AllTypes = testing::Types<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t,
                                uint64_t, float>;
TYPED_TEST_SUITE(DownsampleTypes, AllTypes);

TYPED_TEST(DownsampleTypes, AgreesWithTheDefinitionForAllFactors) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    DownsampleSpec spec;
    Vec3 size;
    for (size_t axis = 0; axis < 3; ++axis) {
      spec.factor[axis] = static_cast<int64_t>(1 + random() % 8);
      size[axis] = static_cast<int64_t>(1 + random() % (axis == 0 ? 40 : 14));
    }
    spec.method = static_cast<DownsampleMethod>(random() % 3);
    spec.mode_ignores_zero = random() % 2 == 0;
    this->Check(random, spec, size, static_cast<int64_t>(1 + random() % 3));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DownsampleTypes, AgreesWithTheDefinitionForTheFrequentFactors) {
  std::mt19937_64 random(2);
  const Vec3 factors[] = {{2, 2, 1}, {2, 2, 2}, {2, 1, 1}, {2, 1, 2}};
  for (int i = 0; i < 500; ++i) {
    DownsampleSpec spec;
    spec.factor = factors[random() % 4];
    spec.method = random() % 3 == 0 ? kAverage : kMode;
    spec.mode_ignores_zero = random() % 2 == 0;
    const Vec3 size = {static_cast<int64_t>(1 + random() % 300),
                       static_cast<int64_t>(1 + random() % 5),
                       static_cast<int64_t>(1 + random() % 5)};
    this->Check(random, spec, size, static_cast<int64_t>(1 + random() % 2));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DownsampleTypes, AgreesWithTheDefinitionForRowsLongerThanAStrip) {
  std::mt19937_64 random(3);
  for (const int64_t fx : {1, 2, 3, 8}) {
    for (const auto method : {kAverage, kMode, kStride}) {
      this->Check(random, {{fx, 3, 1}, method, false}, {2500, 3, 1}, 1);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DownsampleTypes, AveragesOfTheLargestBlockDoNotOverflow) {
  constexpr TypeParam kMax = std::numeric_limits<TypeParam>::max();
  constexpr TypeParam kLowest = std::numeric_limits<TypeParam>::lowest();
  EXPECT_EQ(One(kAverage, std::vector<TypeParam>(512, kMax)), kMax);
  EXPECT_EQ(One(kAverage, std::vector<TypeParam>(512, kLowest)), kLowest);
}

// Every block of eight values out of four, for each kernel: no network or choice of runs
// is wrong for some arrangement.
TYPED_TEST(DownsampleTypes, ModeIsRightForAllArrangementsOfFourValues) {
  const std::vector<TypeParam> values = {std::numeric_limits<TypeParam>::lowest(), 0, 1,
                                         std::numeric_limits<TypeParam>::max()};
  constexpr int64_t kBlocks = 1 << 16;
  const ArrayShape shape = {{2 * kBlocks, 2, 2}, 1, TypeOf<TypeParam>()};
  std::vector<TypeParam> voxels(8 * kBlocks);
  for (size_t block = 0; block < kBlocks; ++block) {
    for (size_t i = 0; i < 8; ++i) {
      voxels[i / 2 * 2 * kBlocks + 2 * block + i % 2] = values[block >> (2 * i) & 3];
    }
  }
  for (const bool ignore_zero : {false, true}) {
    const DownsampleSpec spec = {{2, 2, 2}, kMode, ignore_zero};
    const auto expected = Expected(spec, shape, voxels);
    for (const Simd simd : AllSimd()) {
      EXPECT_TRUE(SameBits(Shrink(simd, spec, shape, voxels), expected));
    }
  }
}

TEST(Downsampled, RoundsSizesUpAndKeepsTheRest) {
  EXPECT_EQ(Downsampled({{5, 4, 1}, 3, DataType::kInt16}, {2, 2, 2}),
            (ArrayShape{{3, 2, 1}, 3, DataType::kInt16}));
  EXPECT_EQ(Downsampled({{9, 8, 7}, 1, DataType::kUint8}, {1, 8, 8}).size,
            (Vec3{9, 1, 1}));
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Downsampled({{kMax, kMax, 1}, 1, DataType::kUint8}, {8, 1, 1}).size,
            (Vec3{kMax / 8 + 1, kMax, 1}));
}

TEST(Downsample, AveragesRoundHalvesToEven) {
  EXPECT_EQ(One<uint8_t>(kAverage, {0, 1}), 0);
  EXPECT_EQ(One<uint8_t>(kAverage, {1, 2}), 2);
  EXPECT_EQ(One<uint8_t>(kAverage, {254, 255}), 254);
  EXPECT_EQ(One<int16_t>(kAverage, {-1, 0}), 0);
  EXPECT_EQ(One<int16_t>(kAverage, {-1, -2}), -2);
  EXPECT_EQ(One<int16_t>(kAverage, {-3, -2}), -2);
}

TEST(Downsample, AveragesRoundToTheNearest) {
  EXPECT_EQ(One<uint8_t>(kAverage, {0, 0, 1}), 0);
  EXPECT_EQ(One<uint8_t>(kAverage, {0, 1, 1}), 1);
  EXPECT_EQ(One<int8_t>(kAverage, {0, -1, -1}), -1);
  EXPECT_EQ(One<uint64_t>(kAverage, {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0} - 1}),
            ~uint64_t{0});
}

TEST(Downsample, AveragesOfFloatsKeepInfinityAndNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const DownsampleSpec spec = {{2, 1, 1}, kAverage, false};
  const std::vector<float> voxels = {1, 2, kInfinity, 1, 1, kNaN, kInfinity, -kInfinity};
  for (const Simd simd : AllSimd()) {
    const auto means = Shrink(simd, spec, {{8, 1, 1}, 1, DataType::kFloat32}, voxels);
    EXPECT_THAT(means, ElementsAre(1.5F, kInfinity, testing::IsNan(), testing::IsNan()));
  }
}

TEST(Downsample, EdgesAverageTheVoxelsThatAreThere) {
  const std::vector<uint8_t> voxels = {10, 20, 30,  //
                                       50, 60, 70};
  const ArrayShape shape = {{3, 2, 1}, 1, DataType::kUint8};
  EXPECT_THAT(Shrink(BestSimd(), {{2, 2, 1}, kAverage, false}, shape, voxels),
              ElementsAre(35, 50));
  EXPECT_THAT(Shrink(BestSimd(), {{2, 4, 8}, kStride, false}, shape, voxels),
              ElementsAre(10, 30));
}

TEST(Downsample, OfEquallyFrequentLabelsTheSmallestWins) {
  EXPECT_EQ(One<uint32_t>(kMode, {7, 5, 9, 5, 7, 1}), 5);
  EXPECT_EQ(One<uint32_t>(kMode, {9, 7, 8}), 7);
  EXPECT_EQ(One<int32_t>(kMode, {3, -3}), -3);
  EXPECT_EQ(One<uint64_t>(kMode, {0, 4}), 0);
}

TEST(Downsample, ZerosCountOnlyAmongThemselvesIfAskedFor) {
  EXPECT_EQ(One<uint32_t>(kMode, {0, 0, 0, 4}), 0);
  EXPECT_EQ(One<uint32_t>(kMode, {0, 0, 0, 4}, /*ignore_zero=*/true), 4);
  EXPECT_EQ(One<uint32_t>(kMode, {0, 0, 6, 4}, /*ignore_zero=*/true), 4);
  EXPECT_EQ(One<uint32_t>(kMode, {0, 0, 0, 0}, /*ignore_zero=*/true), 0);
}

TEST(Downsample, CountsAsManyLabelsAsABlockCanHold) {
  std::vector<uint16_t> block(512);
  for (size_t i = 0; i < block.size(); ++i) block[i] = static_cast<uint16_t>(600 - i);
  EXPECT_EQ(One(kMode, block), 89);
  block[17] = block[400];
  EXPECT_EQ(One(kMode, block), 200);
}

TEST(Downsample, FactorsOfOneCopy) {
  const std::vector<int16_t> voxels = {1, -2, 3, -4, 5, -6};
  for (const auto method : {kAverage, kMode, kStride}) {
    EXPECT_EQ(Shrink(BestSimd(), {{1, 1, 1}, method, true},
                     {{1, 2, 3}, 1, DataType::kInt16}, voxels),
              voxels);
  }
}

TEST(DownsampleDeathTest, AbortsIfAnArrayHasTheWrongSize) {
  ByteVector in(8);
  ByteVector out(3);
  EXPECT_DEATH(Downsample({}, {{4, 2, 1}, 1, DataType::kUint8}, in, out), "");
}

}  // namespace
}  // namespace dolium::volume
