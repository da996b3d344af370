#include "dolium/domain/volume/voxel_view.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace dolium::volume {
namespace {

// Strides of an array that has its dimensions in this order, fastest first.
Strides StridesInOrder(const ArrayShape& shape, const std::array<size_t, 4>& order) {
  const int64_t extents[] = {shape.size[0], shape.size[1], shape.size[2], shape.channels};
  Strides strides{};
  auto step = static_cast<int64_t>(SizeOf(shape.type));
  for (const size_t d : order) {
    strides[d] = step;
    step *= extents[d];
  }
  return strides;
}

TEST(VoxelView, CopiesBetweenAnyTwoOrders) {
  std::mt19937 random(1);
  for (const DataType type :
       {DataType::kUint8, DataType::kUint16, DataType::kFloat32, DataType::kUint64}) {
    const ArrayShape shape{{19, 5, 33}, 3, type};
    ByteVector values(*shape.bytes());
    for (std::byte& byte : values) byte = static_cast<std::byte>(random());
    std::array<size_t, 4> order = {0, 1, 2, 3};
    do {
      ByteVector between(values.size());
      const MutableVoxelView other{between.data(), shape, StridesInOrder(shape, order)};
      CopyVoxels(VoxelView::Dense(shape, values.data()), other);
      ByteVector back(values.size());
      CopyVoxels({between.data(), shape, other.strides},
                 MutableVoxelView::Dense(shape, back.data()));
      ASSERT_EQ(back, values);
      const size_t item = SizeOf(type);
      const int64_t at = 7 * other.strides[0] + 2 * other.strides[1] +
                         30 * other.strides[2] + 1 * other.strides[3];
      const size_t dense = (7 + 19 * (2 + 5 * (30 + 33 * 1))) * item;
      EXPECT_TRUE(Equal(BytesView(between).subspan(static_cast<size_t>(at), item),
                        BytesView(values).subspan(dense, item)));
    } while (std::ranges::next_permutation(order).found);
  }
}

TEST(VoxelView, CopiesAPartToItsPlaceAndNothingElse) {
  const ArrayShape shape{{6, 5, 4}, 1, DataType::kUint16};
  const Box whole{{-2, 10, 0}, {4, 15, 4}};
  const Box part{{0, 12, 1}, {3, 14, 2}};
  std::vector<uint16_t> values(120);
  std::iota(values.begin(), values.end(), uint16_t{1});
  std::vector<uint16_t> copy(120, 0);
  const auto* from = reinterpret_cast<const std::byte*>(values.data());
  auto* to = reinterpret_cast<std::byte*>(copy.data());
  CopyVoxels(VoxelView::Dense(shape, from).Part(whole, part),
             MutableVoxelView::Dense(shape, to).Part(whole, part));
  for (size_t i = 0; i < copy.size(); ++i) {
    const auto x = static_cast<int64_t>(i % 6) - 2;
    const auto y = static_cast<int64_t>(i / 6 % 5) + 10;
    const auto z = static_cast<int64_t>(i / 30);
    const bool inside = part.Contains({{x, y, z}, {x + 1, y + 1, z + 1}});
    EXPECT_EQ(copy[i], inside ? values[i] : 0) << i;
  }
}

TEST(VoxelView, RunsBackwardsWhereStridesAreNegative) {
  const ArrayShape shape{{4, 1, 1}, 1, DataType::kUint8};
  const uint8_t values[] = {1, 2, 3, 4};
  uint8_t copy[4] = {};
  const VoxelView reversed{
      reinterpret_cast<const std::byte*>(values) + 3, shape, {-1, 4, 4, 4}};
  CopyVoxels(reversed,
             MutableVoxelView::Dense(shape, reinterpret_cast<std::byte*>(copy)));
  EXPECT_EQ(std::vector<uint8_t>(copy, copy + 4), (std::vector<uint8_t>{4, 3, 2, 1}));
}

TEST(VoxelView, ClearsAPart) {
  const ArrayShape shape{{3, 3, 1}, 2, DataType::kUint8};
  ByteVector values(18, std::byte{9});
  const auto view = MutableVoxelView::Dense(shape, values.data());
  ClearVoxels(view.Part({{0, 0, 0}, {3, 3, 1}}, {{1, 1, 0}, {3, 2, 1}}));
  std::vector<size_t> cleared;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == std::byte{0}) cleared.push_back(i);
  }
  EXPECT_EQ(cleared, (std::vector<size_t>{4, 5, 13, 14}));
}

}  // namespace
}  // namespace dolium::volume
