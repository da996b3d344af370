#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/domain/skeleton/making/distance.h"
#include "dolium/domain/skeleton/making/join_strands.h"
#include "dolium/domain/skeleton/testing/label_shapes.h"

namespace dolium::skeleton {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr Resolution kCoarse = {16, 16, 40};

LabelBlock RandomBlock(const Vec3& size, uint32_t labels, uint32_t seed) {
  std::minstd_rand random(seed);
  LabelBlock block;
  block.size = size;
  block.labels.resize(static_cast<size_t>(size[0] * size[1] * size[2]));
  for (uint32_t& label : block.labels)
    label = random() % 4 == 0 ? static_cast<uint32_t>(random() % labels) : 1;
  for (uint32_t i = 1; i < labels; ++i) block.ids.push_back(100 + i);
  return block;
}

Vec3 PlaceAt(const LabelBlock& block, size_t index) {
  const auto i = static_cast<int64_t>(index);
  return {i % block.size[0], i / block.size[0] % block.size[1],
          i / block.size[0] / block.size[1]};
}

Skeleton MakeOne(const LabelShapes& shapes, const StrandOptions& wanted = {},
                 const JoinOptions& wanted_join = {}) {
  StrandOptions options = wanted;
  options.resolution = shapes.resolution();
  JoinOptions join = wanted_join;
  join.resolution = shapes.resolution();
  const auto made = MakeSkeletons(shapes.Block(), options, join);
  EXPECT_TRUE(made);
  EXPECT_THAT(*made, SizeIs(1));
  return made->front().skeleton;
}

// The same from blocks of some size, which overlap by a voxel.
Skeleton MakeInBlocks(const LabelShapes& shapes, const Vec3& side,
                      const StrandOptions& wanted = {}) {
  StrandOptions options = wanted;
  options.resolution = shapes.resolution();
  JoinOptions join;
  join.resolution = shapes.resolution();
  std::vector<SkeletonStrand> strands;
  const Vec3& size = shapes.size();
  for (int64_t z = 0; z < size[2]; z += side[2]) {
    for (int64_t y = 0; y < size[1]; y += side[1]) {
      for (int64_t x = 0; x < size[0]; x += side[0]) {
        Box box = {{x, y, z}, {x, y, z}};
        BlockCore core;
        for (size_t d = 0; d < 3; ++d) {
          core.shares[d] = {box.begin[d] > 0, box.begin[d] + side[d] < size[d]};
          box.end[d] = std::min(box.begin[d] + side[d] + 1, size[d]);
        }
        const LabelBlock block = shapes.Block(box);
        core.box = {{0, 0, 0}, block.size};
        auto made = MakeStrands(block, core, options);
        EXPECT_TRUE(made);
        for (SkeletonStrand& strand : *made) {
          for (Vec3& vertex : strand.line.vertices) {
            for (size_t d = 0; d < 3; ++d) vertex[d] += box.begin[d];
          }
          strands.push_back(std::move(strand));
        }
      }
    }
  }
  return JoinStrands(strands, join);
}

float NumberOf(const Skeleton& skeleton, size_t attribute, size_t vertex) {
  return std::bit_cast<float>(
      LoadLE<uint32_t>(skeleton.attributes[attribute].data() + 4 * vertex));
}

TEST(DistanceToBoundary, IsThatOfTheNearestVoxelWithAnotherLabel) {
  const LabelBlock block = RandomBlock({19, 7, 11}, 3, 5);
  const Resolution resolution = {3, 5, 7.5};
  const auto distances = DistanceToBoundary(block, resolution, 2);
  ASSERT_TRUE(distances);
  for (size_t i = 0; i < block.labels.size(); ++i) {
    double expected = block.labels[i] == 0 ? 0 : kNoBoundary;
    for (size_t k = 0; k < block.labels.size() && block.labels[i] != 0; ++k) {
      if (block.labels[k] == block.labels[i]) continue;
      const Vec3 a = PlaceAt(block, i);
      const Vec3 b = PlaceAt(block, k);
      expected = std::min(expected,
                          std::hypot(static_cast<double>(a[0] - b[0]) * resolution[0],
                                     static_cast<double>(a[1] - b[1]) * resolution[1],
                                     static_cast<double>(a[2] - b[2]) * resolution[2]));
    }
    ASSERT_NEAR((*distances)[i], expected, 1e-3) << i;
  }
}

TEST(DistanceToBoundary, HasNoBoundaryAtTheSidesOfTheBlock) {
  LabelBlock block;
  block.size = {4, 3, 2};
  block.labels.assign(24, 1);
  block.ids = {0, 7};
  const auto distances = DistanceToBoundary(block, {1, 1, 1}, 1);
  ASSERT_TRUE(distances);
  EXPECT_THAT(*distances, ::testing::Each(kNoBoundary));
}

TEST(NumberLabels, LeavesOutThoseThatAreNotWanted) {
  const std::vector<uint64_t> voxels = {5, 0, uint64_t{1} << 60, 9, 5, 9};
  const std::vector<uint64_t> wanted = {5, uint64_t{1} << 60};
  const auto block = NumberLabels<uint64_t>(voxels, {6, 1, 1}, wanted);
  ASSERT_TRUE(block);
  EXPECT_THAT(block->labels, ElementsAre(1, 0, 2, 0, 1, 0));
  EXPECT_THAT(block->ids, ElementsAre(0, 5, uint64_t{1} << 60));
}

TEST(NumberLabels, RefusesABlockWithALongSide) {
  const std::vector<uint8_t> voxels(70'000);
  const auto block = NumberLabels<uint8_t>(voxels, {70'000, 1, 1});
  ASSERT_FALSE(block);
  EXPECT_EQ(block.error().message,
            "a block of 70000,1,1 voxels, expected at most 65535 in each direction");
}

// By flooding, voxel by voxel.
std::vector<size_t> FloodComponents(const LabelBlock& block) {
  std::vector<size_t> numbers(block.labels.size());
  size_t count = 0;
  for (size_t start = 0; start < numbers.size(); ++start) {
    if (block.labels[start] == 0 || numbers[start] != 0) continue;
    std::vector<size_t> next = {start};
    numbers[start] = ++count;
    while (!next.empty()) {
      const Vec3 at = PlaceAt(block, next.back());
      next.pop_back();
      for (size_t i = 0; i < 27; ++i) {
        const Vec3 to = {at[0] + static_cast<int64_t>(i % 3) - 1,
                         at[1] + static_cast<int64_t>(i / 3 % 3) - 1,
                         at[2] + static_cast<int64_t>(i / 9) - 1};
        if (!Box{{0, 0, 0}, block.size}.Contains(
                {to, {to[0] + 1, to[1] + 1, to[2] + 1}})) {
          continue;
        }
        const size_t index = block.IndexOf(to[0], to[1], to[2]);
        if (block.labels[index] != block.labels[start] || numbers[index] != 0) continue;
        numbers[index] = count;
        next.push_back(index);
      }
    }
  }
  return numbers;
}

TEST(FindComponents, AreThoseOfAFlood) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    LabelBlock block = RandomBlock({13, 9, 6}, 4, seed);
    // Sparse, so that corners matter.
    for (uint32_t& label : block.labels) label = label == 1 ? 0 : label;
    const auto expected = FloodComponents(block);
    const ComponentSet found = FindComponents(block, {{0, 0, 0}, block.size});
    ASSERT_THAT(found.components(), SizeIs(*std::ranges::max_element(expected))) << seed;
    for (size_t i = 0; i < found.components().size(); ++i) {
      const Component& component = found.components()[i];
      uint64_t voxels = 0;
      for (const skeleton::Run& run : component.runs) {
        for (int64_t x = run.begin; x < run.end; ++x, ++voxels) {
          ASSERT_EQ(expected[block.IndexOf(x, run.y, run.z)], i + 1);
          ASSERT_EQ(found.ComponentAt({x, run.y, run.z}), i);
        }
      }
      EXPECT_EQ(component.voxels, voxels);
    }
  }
}

TEST(MakeSkeletons, FollowATube) {
  LabelShapes shapes({100, 40, 60}, {16, 16, 16});
  shapes.AddTube(3, {160, 200, 200}, {1440, 440, 760}, 150);
  const Skeleton skeleton = MakeOne(shapes);
  EXPECT_EQ(TreesOf(skeleton), 1);
  EXPECT_EQ(EndsOf(skeleton), 2);
  EXPECT_EQ(ForksOf(skeleton), 0);
  // The axis and the round ends; steps from voxel to voxel are longer than a line.
  const double length = std::hypot(1280, 240, 560) + 300;
  EXPECT_GT(LengthOf(skeleton), length * 0.95);
  EXPECT_LT(LengthOf(skeleton), length * 1.15);
  // In the middle, the line is on the axis, and its radius that of the tube.
  size_t middle = 0;
  for (size_t i = 0; i < skeleton.vertices.size(); ++i) {
    const Point& at = skeleton.vertices[i];
    if (at[0] < 500 || at[0] > 1100) continue;
    ++middle;
    const double part = (at[0] - 160) / 1280;
    EXPECT_LT(std::hypot(at[1] - 200 - 240 * part, at[2] - 200 - 560 * part), 32) << i;
    EXPECT_NEAR(NumberOf(skeleton, 0, i), 150, 16) << i;
  }
  EXPECT_GT(middle, 20);
}

TEST(MakeSkeletons, FollowATubeThroughLongVoxels) {
  LabelShapes shapes({20, 20, 60}, kCoarse);
  shapes.AddTube(3, {160, 168, 300}, {160, 168, 2100}, 90);
  const Skeleton skeleton = MakeOne(shapes);
  EXPECT_EQ(TreesOf(skeleton), 1);
  EXPECT_EQ(EndsOf(skeleton), 2);
  EXPECT_NEAR(LengthOf(skeleton), 1800 + 180, 150);
}

TEST(MakeSkeletons, HaveTheForksOfATree) {
  LabelShapes shapes({128, 128, 32}, kCoarse);
  shapes.AddTube(9, {100, 1000, 640}, {1000, 1000, 640}, 100);
  shapes.AddTube(9, {1000, 1000, 640}, {1900, 300, 640}, 100);
  shapes.AddTube(9, {1000, 1000, 640}, {1900, 1700, 640}, 100);
  const Skeleton skeleton = MakeOne(shapes);
  EXPECT_EQ(TreesOf(skeleton), 1);
  EXPECT_EQ(EndsOf(skeleton), 3);
  ASSERT_EQ(ForksOf(skeleton), 1);
  std::vector<size_t> degrees(skeleton.vertices.size());
  for (const Edge& edge : skeleton.edges) {
    for (const uint32_t end : edge) ++degrees[end];
  }
  const auto fork =
      static_cast<size_t>(std::ranges::max_element(degrees) - degrees.begin());
  const Point& at = skeleton.vertices[fork];
  EXPECT_LT(std::hypot(at[0] - 1000, at[1] - 1000, at[2] - 640), 150);
}

TEST(MakeSkeletons, KeepPartsThatAreNotConnectedApart) {
  LabelShapes shapes({100, 60, 10}, kCoarse);
  shapes.AddTube(5, {100, 200, 200}, {1500, 200, 200}, 90);
  shapes.AddTube(5, {100, 700, 200}, {1500, 700, 200}, 90);
  const Skeleton skeleton = MakeOne(shapes);
  EXPECT_EQ(TreesOf(skeleton), 2);
  EXPECT_EQ(EndsOf(skeleton), 4);
}

TEST(MakeSkeletons, HaveAVertexForAVoxel) {
  LabelShapes shapes({3, 3, 3}, {8, 8, 8});
  shapes.AddTube(5, {12, 12, 12}, {12, 12, 12}, 1);
  const Skeleton skeleton = MakeOne(shapes);
  EXPECT_THAT(skeleton.vertices, ElementsAre(Point{12, 12, 12}));
  EXPECT_THAT(skeleton.edges, SizeIs(0));
}

TEST(MakeSkeletons, LeaveOutSmallComponents) {
  LabelShapes shapes({64, 64, 16}, kCoarse);
  shapes.AddTube(1, {100, 200, 200}, {900, 200, 200}, 90);
  shapes.AddTube(2, {100, 800, 200}, {140, 800, 200}, 50);
  const auto made =
      MakeSkeletons(shapes.Block(), {.resolution = kCoarse, .min_voxels = 500},
                    {.resolution = kCoarse});
  ASSERT_TRUE(made);
  ASSERT_THAT(*made, SizeIs(1));
  EXPECT_EQ(made->front().id, 1);
}

TEST(MakeSkeletons, HaveOneVertexInTheMiddleOfACellBody) {
  const Resolution resolution = {100, 100, 100};
  LabelShapes shapes({170, 100, 100}, resolution);
  shapes.AddTube(1, {5000, 5000, 5000}, {5000, 5000, 5000}, 4200);
  shapes.AddTube(1, {5000, 5000, 5000}, {16'500, 5000, 5000}, 400);
  // A nucleus has a label of its own, and makes no shell of it.
  shapes.AddTube(0, {5000, 5000, 5000}, {5000, 5000, 5000}, 1500);
  const Skeleton skeleton = MakeOne(shapes);
  EXPECT_EQ(TreesOf(skeleton), 1);
  EXPECT_EQ(EndsOf(skeleton), 2);
  bool has_middle = false;
  for (const Point& at : skeleton.vertices) {
    has_middle |= std::hypot(at[0] - 5000, at[1] - 5000, at[2] - 5000) < 200;
  }
  EXPECT_TRUE(has_middle);
}

TEST(MakeSkeletons, MeasureTheAreaAcross) {
  LabelShapes shapes({120, 40, 40}, {10, 10, 10});
  shapes.AddTube(3, {100, 200, 200}, {1100, 200, 200}, 100);
  const Skeleton skeleton = MakeOne(shapes, {.cross_sections = true});
  ASSERT_THAT(skeleton.attributes, SizeIs(2));
  for (size_t i = 0; i < skeleton.vertices.size(); ++i) {
    if (skeleton.vertices[i][0] < 400 || skeleton.vertices[i][0] > 800) continue;
    EXPECT_NEAR(NumberOf(skeleton, 1, i), std::numbers::pi * 100 * 100, 2500) << i;
  }
}

TEST(MakeSkeletons, MeasureTheAreaAcrossAnObliqueTube) {
  LabelShapes shapes({80, 80, 40}, {10, 10, 20});
  shapes.AddTube(3, {150, 150, 150}, {650, 650, 650}, 100);
  const Skeleton skeleton = MakeOne(shapes, {.cross_sections = true});
  double sum = 0;
  size_t count = 0;
  for (size_t i = 0; i < skeleton.vertices.size(); ++i) {
    const Point& at = skeleton.vertices[i];
    if (at[0] < 300 || at[0] > 500) continue;
    sum += NumberOf(skeleton, 1, i);
    ++count;
  }
  ASSERT_GT(count, 5);
  EXPECT_NEAR(sum / static_cast<double>(count), std::numbers::pi * 100 * 100, 5000);
}

class InBlocks : public ::testing::TestWithParam<int64_t> {};

TEST_P(InBlocks, TreesAreTheSameWhateverTheSizeOfBlocks) {
  LabelShapes shapes({130, 130, 70}, {16, 16, 16});
  shapes.AddTube(9, {100, 1000, 560}, {1000, 1000, 560}, 120);
  shapes.AddTube(9, {1000, 1000, 560}, {1950, 300, 200}, 100);
  shapes.AddTube(9, {1000, 1000, 560}, {1950, 1800, 900}, 100);
  const Skeleton whole = MakeOne(shapes);
  ASSERT_EQ(TreesOf(whole), 1);
  ASSERT_EQ(EndsOf(whole), 3);
  const Skeleton joined = MakeInBlocks(shapes, {GetParam(), GetParam(), 30});
  EXPECT_EQ(TreesOf(joined), 1);
  EXPECT_EQ(EndsOf(joined), 3);
  // The axes, and the ends: both are longer by their steps, in their own ways.
  const double length = 900 + 1234 + 1288 + 320;
  EXPECT_NEAR(LengthOf(joined), length, 0.12 * length);
  EXPECT_NEAR(LengthOf(whole), length, 0.12 * length);
}

// A tube that runs along the faces between blocks has a line in each of them.
TEST_P(InBlocks, AnObjectAlongAFaceHasOneLine) {
  const int64_t side = GetParam();
  LabelShapes shapes({200, 2 * side, 40}, kCoarse);
  const auto face = static_cast<float>(16 * side + 5);
  shapes.AddTube(4, {100, face, 810}, {3000, face, 790}, 120);
  const Skeleton joined = MakeInBlocks(shapes, {64, side, 20});
  EXPECT_EQ(TreesOf(joined), 1);
  EXPECT_EQ(EndsOf(joined), 2);
  EXPECT_NEAR(LengthOf(joined), 2900 + 240, 250);
}

INSTANTIATE_TEST_SUITE_P(Sizes, InBlocks, ::testing::Values(24, 40, 63));

TEST(JoinStrands, CutsALoop) {
  LabelShapes shapes({120, 120, 12}, {16, 16, 16});
  for (int i = 0; i < 32; ++i) {
    const double a = std::numbers::pi * i / 16;
    const double b = std::numbers::pi * (i + 1) / 16;
    shapes.AddTube(6,
                   {static_cast<float>(960 + 800 * std::cos(a)),
                    static_cast<float>(960 + 800 * std::sin(a)), 96},
                   {static_cast<float>(960 + 800 * std::cos(b)),
                    static_cast<float>(960 + 800 * std::sin(b)), 96},
                   64);
  }
  const Skeleton joined = MakeInBlocks(shapes, {50, 50, 12});
  EXPECT_EQ(TreesOf(joined), 1);
  EXPECT_EQ(EndsOf(joined), 2);
  EXPECT_GT(LengthOf(joined), 2 * std::numbers::pi * 800 * 0.75);
}

SkeletonStrand StrandOf(const std::vector<Vec3>& vertices,
                        const std::vector<Edge>& edges) {
  SkeletonStrand strand;
  strand.id = 1;
  strand.line = {vertices, edges, std::vector<float>(vertices.size(), 10)};
  return strand;
}

TEST(JoinStrands, RemovesShortBranchesAndShortTrees) {
  // A line of ten with a branch of two, and another line of three.
  std::vector<Vec3> vertices;
  std::vector<Edge> edges;
  for (uint32_t i = 0; i < 10; ++i) {
    vertices.push_back({i, 0, 0});
    if (i > 0) edges.push_back({i - 1, i});
  }
  vertices.push_back({5, 1, 0});
  vertices.push_back({5, 2, 0});
  edges.push_back({5, 10});
  edges.push_back({10, 11});
  const std::vector<SkeletonStrand> strands = {
      StrandOf(vertices, edges),
      StrandOf({{0, 9, 0}, {1, 9, 0}, {2, 9, 0}}, {{0, 1}, {1, 2}})};
  const JoinOptions none = {.resolution = {10, 10, 10}};
  EXPECT_EQ(LengthOf(JoinStrands(strands, none)), 130);
  JoinOptions options = none;
  options.tick = 20.5;
  EXPECT_EQ(LengthOf(JoinStrands(strands, options)), 110);
  options.dust = 20;
  EXPECT_EQ(LengthOf(JoinStrands(strands, options)), 110);
  options.dust = 20.5;
  const Skeleton left = JoinStrands(strands, options);
  EXPECT_EQ(LengthOf(left), 90);
  EXPECT_EQ(left.vertices.front(), (Point{5, 5, 5}));
}

}  // namespace
}  // namespace dolium::skeleton
