#include "dolium/domain/annotation/cell_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/volume/morton.h"

namespace dolium::annotation {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

SpatialLevel LevelOf(std::vector<uint64_t> shape, std::vector<double> chunk) {
  return {.key = "s", .grid_shape = std::move(shape), .chunk_size = std::move(chunk)};
}

std::vector<std::string> CellsOf(const CellGrid& grid, AnnotationType type,
                                 const std::vector<float>& geometry) {
  std::vector<std::string> names;
  grid.VisitCells(type, geometry, [&](std::span<const uint64_t> cell) {
    names.push_back(CellGrid::NameOf(cell));
  });
  return names;
}

TEST(CellGrid, HasTheMortonCodesOfVolumes) {
  const CellGrid grid({0, 0, 0}, LevelOf({5, 2, 9}, {1, 1, 1}));
  const auto morton = volume::MortonCode::Make({5, 2, 9});
  ASSERT_TRUE(morton);
  for (uint64_t x = 0; x < 5; ++x) {
    for (uint64_t y = 0; y < 2; ++y) {
      for (uint64_t z = 0; z < 9; ++z) {
        const Cell cell = {x, y, z};
        const uint64_t code = grid.Encode(cell);
        EXPECT_EQ(code, morton->Encode({static_cast<int64_t>(x), static_cast<int64_t>(y),
                                        static_cast<int64_t>(z)}));
        EXPECT_EQ(grid.Decode(code), cell);
        EXPECT_EQ(grid.ParseName(CellGrid::NameOf(cell)), cell);
      }
    }
  }
  EXPECT_EQ(grid.cell_count(), 90U);
}

TEST(CellGrid, RefusesWhatIsNoCell) {
  const CellGrid grid({0, 0, 0}, LevelOf({5, 2, 9}, {1, 1, 1}));
  EXPECT_EQ(grid.Decode(uint64_t{1} << 40), std::nullopt);
  for (const char* name : {"", "0_0", "0_0_0_0", "5_0_0", "0_0_09", "0_0_-1", "a_b_c",
                           "0_0_0 ", "99999999999999999999_0_0"}) {
    EXPECT_EQ(grid.ParseName(name), std::nullopt) << name;
  }
}

TEST(CellGrid, PutsAPointInOneCell) {
  const CellGrid grid({10, 0}, LevelOf({2, 4}, {5, 2.5}));
  EXPECT_THAT(CellsOf(grid, AnnotationType::kPoint, {10, 0}), ElementsAre("0_0"));
  EXPECT_THAT(CellsOf(grid, AnnotationType::kPoint, {15, 2.5}), ElementsAre("1_1"));
  // On the upper bound, and outside.
  EXPECT_THAT(CellsOf(grid, AnnotationType::kPoint, {20, 10}), ElementsAre("1_3"));
  EXPECT_THAT(CellsOf(grid, AnnotationType::kPoint, {-1e30F, 1e30F}), ElementsAre("0_3"));
  EXPECT_EQ(grid.CodeOfPoint(std::vector<float>{15, 2.5}),
            grid.Encode(std::vector<uint64_t>{1, 1}));
}

TEST(CellGrid, PutsLinesIntoTheCellsThatTheyMeet) {
  const CellGrid grid({0, 0}, LevelOf({4, 4}, {1, 1}));
  // Through corners it would be in all four cells around them.
  EXPECT_THAT(CellsOf(grid, AnnotationType::kLine, {0.5, 0.25, 2.5, 2.25}),
              UnorderedElementsAre("0_0", "1_0", "1_1", "2_1", "2_2"));
  EXPECT_THAT(CellsOf(grid, AnnotationType::kPolyline, {0.5, 0.5, 0.5, 1.5, 1.5, 1.5}),
              UnorderedElementsAre("0_0", "0_1", "1_1"));
  EXPECT_THAT(CellsOf(grid, AnnotationType::kPolyline, {3.5, 0.5}), ElementsAre("3_0"));
}

TEST(CellGrid, PutsBoxesAndEllipsoidsIntoTheCellsThatTheyMeet) {
  const CellGrid grid({0, 0}, LevelOf({4, 4}, {1, 1}));
  EXPECT_THAT(CellsOf(grid, AnnotationType::kBox, {2.5, 1.5, 0.5, 1.25}),
              UnorderedElementsAre("0_1", "1_1", "2_1"));
  // A circle around (1.5, 1.5) that reaches over the sides of its cell, not the corners.
  EXPECT_THAT(CellsOf(grid, AnnotationType::kEllipsoid, {1.5, 1.5, 0.6F, 0.6F}),
              UnorderedElementsAre("1_1", "0_1", "2_1", "1_0", "1_2"));
  EXPECT_THAT(CellsOf(grid, AnnotationType::kEllipsoid, {1.5, 1.5, 0.6F, 0}),
              UnorderedElementsAre("1_1", "0_1", "2_1"));
}

TEST(CellGrid, RangesHoldWhatDividesDifferentlyInFloat32) {
  const CellGrid grid({0, 0}, LevelOf({10, 10}, {0.1, 0.1}));
  const auto range = grid.RangeOf({{0.3, 0.55}, {0.3, 0.58}});
  EXPECT_THAT(range.first, ElementsAre(2, 5));
  EXPECT_THAT(range.last, ElementsAre(3, 5));
  EXPECT_EQ(range.count(), 2U);
  EXPECT_TRUE(range.Contains(std::vector<uint64_t>{3, 5}));
  EXPECT_FALSE(range.Contains(std::vector<uint64_t>{3, 6}));
}

}  // namespace
}  // namespace dolium::annotation
