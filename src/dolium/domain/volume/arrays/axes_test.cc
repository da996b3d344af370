#include "dolium/domain/volume/arrays/axes.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium::volume {
namespace {

using ::testing::ElementsAre;

Result<AxisMap> Map(std::optional<std::string> axes, const std::vector<uint64_t>& sizes) {
  return MapAxes(axes, sizes, NumberType::kUint16);
}

TEST(MapAxes, NamesDimensionsXYZAndChannel) {
  const auto map = Map(std::nullopt, {10, 20, 30, 2});
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_THAT(map->shape.size, ElementsAre(10, 20, 30));
  EXPECT_EQ(map->shape.channels, 2);
  EXPECT_EQ(Map(std::nullopt, {10, 20})->shape.size, (Vec3{10, 20, 1}));
}

TEST(MapAxes, FollowsTheOrderGiven) {
  const auto map = Map("czyx", {2, 30, 20, 10});
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_THAT(map->shape.size, ElementsAre(10, 20, 30));
  EXPECT_EQ(map->shape.channels, 2);
  EXPECT_THAT(map->dimension, ElementsAre(3, 2, 1, 0));
  const auto page = Map("yxc", {20, 10, 3});
  EXPECT_EQ(page->shape.size, (Vec3{10, 20, 1}));
  EXPECT_EQ(page->shape.channels, 3);
  EXPECT_EQ(page->dimension[2], std::nullopt);
}

TEST(MapAxes, RejectsAxesThatDoNotFit) {
  EXPECT_EQ(Map("xyz", {1, 2}).error().message,
            "axes \"xyz\" name 3 dimensions, and the array has 2");
  EXPECT_EQ(Map("xyy", {1, 2, 3}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(Map("xyt", {1, 2, 3}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(Map("xz", {1, 2}).error().message, "axes \"xz\" lack x or y");
  EXPECT_EQ(Map(std::nullopt, {1, 2, 3, 4, 5}).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(Map(std::nullopt, {7}).error().code, ErrorCode::kUnsupported);
}

TEST(MapAxes, RejectsSizesThatAreZeroOrTooBig) {
  EXPECT_EQ(Map(std::nullopt, {1, 0, 3}).error().message, "the array is empty");
  EXPECT_EQ(Map(std::nullopt, {UINT64_MAX, 2}).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(Map(std::nullopt, {1u << 31, 1u << 31, 2}).error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(Map(std::nullopt, {1u << 31, 1u << 30, 1}));
}

TEST(DenseStrides, StartAtEitherEnd) {
  const std::vector<uint64_t> sizes = {30, 20, 10};
  const auto map = Map("zyx", sizes);
  EXPECT_THAT(DenseStrides(*map, sizes, /*c_order=*/true), ElementsAre(2, 20, 400, 0));
  EXPECT_THAT(DenseStrides(*map, sizes, /*c_order=*/false), ElementsAre(1200, 60, 2, 0));
}

}  // namespace
}  // namespace dolium::volume
