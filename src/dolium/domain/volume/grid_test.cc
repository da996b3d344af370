#include "dolium/domain/volume/grid.h"

#include <cstdint>
#include <limits>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium::volume {
namespace {

using testing::HasSubstr;

constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();

Grid MakeGrid(const Vec3& offset, const Vec3& size, const Vec3& chunk) {
  const Vec3 end = {offset[0] + size[0], offset[1] + size[1], offset[2] + size[2]};
  return Grid::Make({offset, end}, chunk).value();
}

std::string ErrorOf(const Box& bounds, const Vec3& chunk) {
  const auto grid = Grid::Make(bounds, chunk);
  if (grid) return "";
  EXPECT_EQ(grid.error().code, ErrorCode::kInvalidArgument);
  return grid.error().message;
}

TEST(Grid, RoundsTheNumberOfCellsUp) {
  const Grid grid = MakeGrid({0, 0, 0}, {6446, 6643, 8064}, {64, 64, 64});
  EXPECT_EQ(grid.shape(), (Vec3{101, 104, 126}));
  EXPECT_EQ(grid.cell_count(), 101u * 104u * 126u);
}

TEST(Grid, TruncatesTheCellsAtTheFarEdges) {
  const Grid grid = MakeGrid({-10, -20, 5}, {20, 20, 20}, {16, 16, 16});
  EXPECT_EQ(grid.shape(), (Vec3{2, 2, 2}));
  EXPECT_EQ(grid.VoxelsOf(Vec3{0, 0, 0}), (Box{{-10, -20, 5}, {6, -4, 21}}));
  EXPECT_EQ(grid.VoxelsOf(Vec3{1, 0, 1}), (Box{{6, -20, 21}, {10, -4, 25}}));
  EXPECT_EQ(grid.VoxelsOf(grid.cells()), grid.bounds());
}

TEST(Grid, NamesCellsAsTheClientDoes) {
  const Grid negative = MakeGrid({-10, -20, 5}, {20, 20, 20}, {16, 16, 16});
  EXPECT_EQ(negative.NameOf({0, 0, 0}), "-10-6_-20--4_5-21");
  EXPECT_EQ(negative.NameOf({1, 1, 1}), "6-10_-4-0_21-25");
  const Grid plain = MakeGrid({0, 0, 0}, {128, 64, 48}, {32, 32, 32});
  EXPECT_EQ(plain.NameOf({3, 1, 1}), "96-128_32-64_32-48");
}

TEST(Grid, ParsesEveryNameItGives) {
  const Grid grid = MakeGrid({-7, 0, 100}, {23, 11, 9}, {5, 4, 9});
  std::set<std::string> names;
  for (int64_t z = 0; z < grid.shape()[2]; ++z) {
    for (int64_t y = 0; y < grid.shape()[1]; ++y) {
      for (int64_t x = 0; x < grid.shape()[0]; ++x) {
        const std::string name = grid.NameOf({x, y, z});
        EXPECT_EQ(grid.ParseName(name), (Vec3{x, y, z})) << name;
        names.insert(name);
      }
    }
  }
  EXPECT_EQ(names.size(), grid.cell_count());
}

TEST(Grid, ParsesNoNameThatIsNotExactlyACells) {
  const Grid grid = MakeGrid({0, 0, 0}, {100, 100, 100}, {64, 64, 64});
  ASSERT_EQ(grid.ParseName("64-100_0-64_0-64"), (Vec3{1, 0, 0}));
  for (const char* name : {"",
                           "0",
                           "0-",
                           "0-64",
                           "0-64_0-64",
                           "0-64_0-64_0-64_",
                           "0-64_0-64_0-64_0-64",
                           "0-64_0-64_0-64.gz",
                           "64-128_0-64_0-64",
                           "1-65_0-64_0-64",
                           "00-64_0-64_0-64",
                           "+0-64_0-64_0-64",
                           " 0-64_0-64_0-64",
                           "0-064_0-64_0-64",
                           "-0-64_0-64_0-64",
                           "0--64_0-64_0-64",
                           "128-192_0-64_0-64",
                           "-64-0_0-64_0-64",
                           "0_64-0_64-0_64",
                           "0-64_0-64-0-64",
                           "0x0-64_0-64_0-64",
                           "info",
                           "a-b_c-d_e-f",
                           "99999999999999999999-64_0-64_0-64",
                           "-9223372036854775808-64_0-64_0-64",
                           "0-9223372036854775807_0-64_0-64"}) {
    EXPECT_EQ(grid.ParseName(name), std::nullopt) << name;
  }
}

TEST(Grid, FindsTheCellsThatTouchABox) {
  const Grid grid = MakeGrid({-10, 0, 0}, {100, 50, 20}, {16, 25, 20});
  EXPECT_EQ(grid.CellsTouching(grid.bounds()), grid.cells());
  EXPECT_EQ(grid.CellsTouching({{-10, 0, 0}, {6, 25, 1}}), (Box{{0, 0, 0}, {1, 1, 1}}));
  EXPECT_EQ(grid.CellsTouching({{5, 24, 0}, {7, 26, 1}}), (Box{{0, 0, 0}, {2, 2, 1}}));
  EXPECT_EQ(grid.CellsTouching({{kMin64, kMin64, kMin64}, {kMax64, kMax64, kMax64}}),
            grid.cells());
  EXPECT_TRUE(grid.CellsTouching({{90, 0, 0}, {91, 1, 1}}).empty());
  EXPECT_TRUE(grid.CellsTouching({{0, 0, 0}, {0, 1, 1}}).empty());
}

TEST(Grid, AgreesWithALookAtEveryVoxel) {
  std::mt19937_64 random(2);
  const auto up_to = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  for (int round = 0; round < 300; ++round) {
    const Vec3 offset = {up_to(20) - 10, up_to(20) - 10, 0};
    const Vec3 size = {1 + up_to(12), 1 + up_to(12), 1 + up_to(3)};
    const Grid grid = MakeGrid(offset, size, {1 + up_to(5), 1 + up_to(15), 1 + up_to(3)});
    Box wanted;
    for (size_t d = 0; d < 3; ++d) {
      wanted.begin[d] = offset[d] + up_to(15) - 2;
      wanted.end[d] = wanted.begin[d] + up_to(8);
    }
    const Box touching = grid.CellsTouching(wanted);
    Box all = {grid.bounds().end, grid.bounds().begin};
    for (int64_t z = 0; z < grid.shape()[2]; ++z) {
      for (int64_t y = 0; y < grid.shape()[1]; ++y) {
        for (int64_t x = 0; x < grid.shape()[0]; ++x) {
          const Box voxels = grid.VoxelsOf(Vec3{x, y, z});
          ASSERT_FALSE(voxels.empty());
          ASSERT_TRUE(grid.bounds().Contains(voxels));
          const bool touches = !voxels.Intersect(wanted).empty();
          const Box cell = {{x, y, z}, {x + 1, y + 1, z + 1}};
          ASSERT_EQ(touches, !touching.Intersect(cell).empty());
          for (size_t d = 0; d < 3; ++d) {
            all.begin[d] = std::min(all.begin[d], voxels.begin[d]);
            all.end[d] = std::max(all.end[d], voxels.end[d]);
          }
        }
      }
    }
    ASSERT_EQ(all, grid.bounds());
  }
}

TEST(Grid, HasNoCellsWithoutVoxels) {
  const Grid grid = MakeGrid({5, 5, 5}, {0, 10, 10}, {4, 4, 4});
  EXPECT_EQ(grid.shape(), (Vec3{0, 3, 3}));
  EXPECT_EQ(grid.cell_count(), 0u);
  EXPECT_TRUE(grid.CellsTouching(grid.bounds()).empty());
  EXPECT_EQ(grid.ParseName("5-5_5-9_5-9"), std::nullopt);
}

TEST(Grid, WorksAtTheEndsOfTheCoordinates) {
  const int64_t m = kMaxCoordinate;
  const Grid grid = Grid::Make({{-m, 0, m - 1}, {m, 1, m}}, {m, kMax64, kMax64}).value();
  EXPECT_EQ(grid.shape(), (Vec3{2, 1, 1}));
  EXPECT_EQ(grid.VoxelsOf(Vec3{1, 0, 0}), (Box{{0, 0, m - 1}, {m, 1, m}}));
  EXPECT_EQ(grid.NameOf({0, 0, 0}),
            "-4611686018427387902-0_0-1_4611686018427387901-4611686018427387902");
  EXPECT_EQ(grid.ParseName(grid.NameOf({1, 0, 0})), (Vec3{1, 0, 0}));
  EXPECT_EQ(grid.CellsTouching({{kMin64, kMin64, kMin64}, {kMax64, kMax64, kMax64}}),
            grid.cells());
}

TEST(Grid, RefusesAbsurdSizes) {
  const int64_t m = kMaxCoordinate;
  EXPECT_THAT(ErrorOf({{0, 0, 0}, {m + 1, 1, 1}}, {1, 1, 1}),
              HasSubstr("voxels 0:4611686018427387903,0:1,0:1, expected ranges within"));
  EXPECT_THAT(ErrorOf({{-m - 1, 0, 0}, {1, 1, 1}}, {1, 1, 1}), HasSubstr("expected"));
  EXPECT_THAT(ErrorOf({{kMin64, 0, 0}, {kMax64, 1, 1}}, {1, 1, 1}), HasSubstr("within"));
  EXPECT_THAT(ErrorOf({{0, 2, 0}, {1, 1, 1}}, {1, 1, 1}), HasSubstr("0:1,2:1,0:1"));
  EXPECT_THAT(ErrorOf({{0, 0, 0}, {9, 9, 9}}, {1, 0, 1}),
              HasSubstr("chunks of 1,0,1, expected sizes from 1"));
  EXPECT_THAT(
      ErrorOf({{0, 0, 0}, {m, m, m}}, {64, 64, 64}),
      HasSubstr("72057594037927936 x 72057594037927936 x 72057594037927936 chunks, "
                "more than 2^64"));
}

}  // namespace
}  // namespace dolium::volume
