#include "dolium/domain/volume/voxels.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace dolium::volume {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Box, ContainsWhatLiesWithinIt) {
  const Box box{{-2, 0, 5}, {3, 4, 6}};
  EXPECT_TRUE(box.Contains(box));
  EXPECT_TRUE(box.Contains({{-2, 1, 5}, {0, 4, 6}}));
  EXPECT_FALSE(box.Contains({{-3, 1, 5}, {0, 4, 6}}));
  EXPECT_FALSE(box.Contains({{-2, 1, 5}, {0, 5, 6}}));
}

TEST(Box, ContainsEveryEmptyBox) {
  EXPECT_TRUE((Box{{0, 0, 0}, {1, 1, 1}}.Contains({{9, 9, 9}, {9, 10, 10}})));
  EXPECT_TRUE(Box{}.Contains(Box{}));
}

TEST(Box, IntersectsToTheCommonPart) {
  const Box box{{-2, 0, 5}, {3, 4, 6}};
  EXPECT_EQ(box.Intersect({{0, -9, 5}, {9, 2, 9}}), (Box{{0, 0, 5}, {3, 2, 6}}));
  const Box everything{{kMin, kMin, kMin}, {kMax, kMax, kMax}};
  EXPECT_EQ(box.Intersect(everything), box);
}

TEST(Box, IntersectsToAnEmptyBoxOfSizeZeroWhenNothingIsCommon) {
  const Box common = Box{{0, 0, 0}, {2, 2, 2}}.Intersect({{5, 0, 0}, {6, 2, 2}});
  EXPECT_TRUE(common.empty());
  EXPECT_EQ(common.size(), (Vec3{0, 2, 2}));
}

TEST(Box, PrintsAsRanges) {
  EXPECT_EQ(ToString(Box{{-2, 0, 5}, {3, 4, 6}}), "-2:3,0:4,5:6");
  EXPECT_EQ(ToString(Vec3{-1, 0, 7}), "-1,0,7");
}

TEST(DataType, HasANameAndASize) {
  const std::pair<DataType, std::pair<std::string_view, size_t>> rows[] = {
      {DataType::kUint8, {"uint8", 1}},   {DataType::kInt8, {"int8", 1}},
      {DataType::kUint16, {"uint16", 2}}, {DataType::kInt16, {"int16", 2}},
      {DataType::kUint32, {"uint32", 4}}, {DataType::kInt32, {"int32", 4}},
      {DataType::kUint64, {"uint64", 8}}, {DataType::kFloat32, {"float32", 4}},
  };
  for (const auto& [type, row] : rows) {
    EXPECT_EQ(ToString(type), row.first);
    EXPECT_EQ(SizeOf(type), row.second);
    EXPECT_EQ(ParseDataType(row.first), type);
  }
}

TEST(ParseDataType, IgnoresCaseAndRefusesOtherTypes) {
  EXPECT_EQ(ParseDataType("UINT8"), DataType::kUint8);
  EXPECT_EQ(ParseDataType("Float32"), DataType::kFloat32);
  EXPECT_EQ(ParseDataType("int64"), std::nullopt);
  EXPECT_EQ(ParseDataType("float64"), std::nullopt);
  EXPECT_EQ(ParseDataType("uint"), std::nullopt);
  EXPECT_EQ(ParseDataType(""), std::nullopt);
}

TEST(ArrayShape, CountsVoxelsAndBytes) {
  const ArrayShape shape{{4, 5, 6}, 3, DataType::kUint32};
  EXPECT_EQ(shape.voxels(), 120u);
  EXPECT_EQ(shape.bytes(), 1440u);
}

TEST(ArrayShape, HasNoCountThatDoesNotFit) {
  const int64_t big = int64_t{1} << 32;
  EXPECT_EQ((ArrayShape{{big, big, 1}, 1, DataType::kUint8}.voxels()), std::nullopt);
  EXPECT_EQ((ArrayShape{{1, big, big}, 1, DataType::kUint8}.bytes()), std::nullopt);
  const ArrayShape channels{{big, 1, 1}, big, DataType::kUint8};
  EXPECT_EQ(channels.voxels(), uint64_t{1} << 32);
  EXPECT_EQ(channels.bytes(), std::nullopt);
  EXPECT_EQ((ArrayShape{{big, big / 2, 1}, 1, DataType::kUint8}.bytes()),
            uint64_t{1} << 63);
  EXPECT_EQ((ArrayShape{{big, big / 2, 1}, 1, DataType::kUint16}.bytes()), std::nullopt);
}

}  // namespace
}  // namespace dolium::volume
