#include "dolium/domain/mesh/making/make_mesh.h"

#include <map>
#include <mutex>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/mesh/making/label_meshes.h"
#include "dolium/domain/mesh/mesh_source.h"
#include "dolium/domain/mesh/testing/labels.h"

namespace dolium::mesh {
namespace {

using ::testing::IsEmpty;
using volume::Box;
using volume::Vec3;

constexpr Box kData = {{0, 0, 0}, {96, 96, 96}};

MakeOptions OptionsFor(const Box& data) {
  MakeOptions options;
  options.voxels = data;
  options.resolution = {8, 8, 8};
  options.error = 8;
  options.levels = 3;
  options.cell = {32, 32, 32};
  return options;
}

Surface SurfaceOf(const std::vector<FoundBlock>& blocks, const MakeOptions& options,
                  uint64_t label = 1) {
  auto surface = MakeLabelSurface(RunsOf(blocks, label), options);
  EXPECT_TRUE(surface) << surface.error().message;
  return surface ? *std::move(surface) : Surface{};
}

// The mesh of a level as a client sees it, in nanometres; fragments are joined where
// positions are the same.
Mesh ReadLevel(const EncodedMesh& encoded, size_t level, unsigned bits) {
  Mesh mesh;
  const auto ranges = FragmentRanges(encoded.manifest, level);
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto fragment = DecodeFragment(
        BytesView(encoded.fragments).subspan(ranges[i].offset, ranges[i].length), bits);
    EXPECT_TRUE(fragment) << fragment.error().message;
    EXPECT_TRUE(AddFragment(encoded.manifest, level,
                            encoded.manifest.levels[level].fragments[i].cell, bits,
                            *fragment, mesh));
  }
  WeldVertices(mesh);
  return mesh;
}

// As lattice steps make it: eight to a voxel.
double VoxelsIn(const Topology& topology) { return topology.volume / 8; }

struct Shape {
  const char* name;
  LabelAt label;
  int64_t euler;
  double voxels;
};

std::vector<Shape> Shapes() {
  constexpr double kPi = std::numbers::pi;
  return {
      {"ball", Ball({48, 47, 46}, 40), 2, 4.0 / 3 * kPi * 40 * 40 * 40},
      {"torus", Torus({48, 47, 46}, 30, 12), 0, 2 * kPi * kPi * 30 * 12 * 12},
  };
}

TEST(MakeLabelSurface, IsClosedOrientedAndOfTheRightGenusAndVolume) {
  for (const Shape& shape : Shapes()) {
    for (const double error : {0.0, 4.0}) {
      SCOPED_TRACE(testing::Message() << shape.name << ", error " << error);
      MakeOptions options = OptionsFor(kData);
      options.error = error;
      const Surface surface = SurfaceOf(FindInBlocks(shape.label, kData, 96), options);
      const Topology topology = TopologyOf(surface.mesh);
      EXPECT_EQ(topology.open_sides, 0U);
      EXPECT_EQ(topology.repeated_sides, 0U);
      EXPECT_EQ(topology.euler, shape.euler);
      EXPECT_NEAR(VoxelsIn(topology) / shape.voxels, 1, 0.01);
    }
  }
}

TEST(MakeLabelSurface, IsTheSameWhateverTheBlocks) {
  for (const Shape& shape : Shapes()) {
    const MakeOptions options = OptionsFor(kData);
    const Surface whole = SurfaceOf(FindInBlocks(shape.label, kData, 200), options);
    EXPECT_GT(whole.mesh.triangles.size(), 100U);
    for (const int64_t side : {64, 17}) {
      const Surface cut = SurfaceOf(FindInBlocks(shape.label, kData, side), options);
      EXPECT_EQ(cut.origin, whole.origin) << shape.name << ", blocks of " << side;
      EXPECT_EQ(cut.mesh, whole.mesh) << shape.name << ", blocks of " << side;
    }
  }
}

TEST(MakeLabelSurface, ClosesEachOfTouchingLabels) {
  // Eight labels meet in the middle of a ball; a grain of them all is around it.
  const LabelAt label = [](double x, double y, double z) -> uint32_t {
    const uint32_t eighth = (x < 20 ? 1U : 0U) | (y < 20 ? 2U : 0U) | (z < 20 ? 4U : 0U);
    if (std::hypot(x - 20, y - 20, z - 20) < 10) return eighth + 1;
    const auto grain = static_cast<uint32_t>(x * 3 + y * 5 + z * 7);
    return grain % 3 == 0 ? grain % 8 + 1 : 0;
  };
  const Box data = {{0, 0, 0}, {40, 40, 40}};
  MakeOptions options = OptionsFor(data);
  options.error = 0;
  const auto blocks = FindInBlocks(label, data, 13);
  for (uint64_t id = 1; id <= 8; ++id) {
    const Topology topology = TopologyOf(SurfaceOf(blocks, options, id).mesh);
    EXPECT_EQ(topology.open_sides, 0U) << "label " << id;
    EXPECT_EQ(topology.repeated_sides, 0U) << "label " << id;
    EXPECT_GT(topology.volume, 0) << "label " << id;
  }
}

TEST(MakeLabelSurface, IsClosedWhereTheDataEndsOrOpen) {
  const LabelAt everywhere = [](double, double, double) -> uint32_t { return 1; };
  const Box data = {{-5, 10, 3}, {5, 20, 13}};
  MakeOptions options = OptionsFor(data);
  options.error = 0;
  const auto blocks = FindInBlocks(everywhere, data, 4);
  const Surface closed = SurfaceOf(blocks, options);
  EXPECT_EQ(TopologyOf(closed.mesh).open_sides, 0U);
  EXPECT_EQ(closed.origin, (Vec3{-6, 9, 2}));
  // A box whose edges and corners are cut.
  EXPECT_NEAR(VoxelsIn(TopologyOf(closed.mesh)), 1000, 20);
  options.open = true;
  EXPECT_TRUE(SurfaceOf(blocks, options).mesh.triangles.empty());

  // A rod through it is a tube: of its two ends, nothing is left.
  const LabelAt rod = [](double, double y, double z) -> uint32_t {
    return std::hypot(y - 15, z - 8) < 3 ? 1 : 0;
  };
  const Mesh tube = SurfaceOf(FindInBlocks(rod, data, 4), options).mesh;
  EXPECT_EQ(TopologyOf(tube).euler, 0);
  EXPECT_GT(TopologyOf(tube).open_sides, 0U);
  for (const Triangle& triangle : tube.triangles) {
    float least = 1000;
    float most = 0;
    for (const uint32_t vertex : triangle) {
      least = std::min(least, tube.vertices[vertex][0]);
      most = std::max(most, tube.vertices[vertex][0]);
    }
    // From the centre of the first voxel to that of the last.
    EXPECT_GE(least, 1);
    EXPECT_LE(most, 19);
    EXPECT_LT(least, most);
  }
}

TEST(MakeLabelSurface, MakesLargeOnesInCubesThatFit) {
  // Longer than what is simplified at once, with knots.
  const Box data = {{-700, 0, 0}, {900, 24, 24}};
  const LabelAt rod = [](double x, double y, double z) -> uint32_t {
    if (x < -690 || x > 890) return 0;
    return std::hypot(y - 12, z - 12) < 7 + 3 * std::sin(x / 40) ? 1 : 0;
  };
  MakeOptions options = OptionsFor(data);
  const auto one = SurfaceOf(FindInBlocks(rod, data, 400), options);
  const Topology topology = TopologyOf(one.mesh);
  EXPECT_EQ(topology.open_sides, 0U);
  EXPECT_EQ(topology.repeated_sides, 0U);
  EXPECT_EQ(topology.euler, 2);
  options.jobs = 2;
  const auto other = SurfaceOf(FindInBlocks(rod, data, 250), options);
  EXPECT_EQ(one.mesh, other.mesh);
}

TEST(MeshLabels, GivesSurfacesOfAllLabelsOfAnArrayInNanometres) {
  // z is the fastest dimension here.
  constexpr int64_t kSide = 30;
  std::vector<uint16_t> labels;
  for (int64_t x = 0; x < kSide; ++x) {
    for (int64_t y = 0; y < kSide; ++y) {
      for (int64_t z = 0; z < kSide; ++z) {
        const double distance =
            std::hypot(static_cast<double>(x) - 14.5, static_cast<double>(y) - 14.5,
                       static_cast<double>(z) - 14.5);
        labels.push_back(distance < 10 ? 7 : distance < 13 ? 300 : 0);
      }
    }
  }
  volume::VoxelView view;
  view.data = reinterpret_cast<const std::byte*>(labels.data());
  view.shape = {{kSide, kSide, kSide}, 1, volume::DataType::kUint16};
  view.strides = {2 * kSide * kSide, 2 * kSide, 2, 0};
  MakeOptions options = OptionsFor({{100, 0, -50}, {130, 30, -20}});
  options.error = 0;
  std::mutex mutex;
  std::map<uint64_t, Topology> made;
  ASSERT_TRUE(MeshLabels(view, options, [&](uint64_t label, Mesh mesh) -> Result<void> {
    const std::lock_guard lock(mutex);
    made[label] = TopologyOf(mesh);
    for (const Point& vertex : mesh.vertices) {
      EXPECT_NEAR(vertex[0], (100 + 15) * 8, 14 * 8);
      EXPECT_NEAR(vertex[2], (-50 + 15) * 8, 14 * 8);
    }
    return {};
  }));
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[7].euler, 2);
  EXPECT_EQ(made[300].euler, 4);  // an outer surface, and an inner one
  EXPECT_EQ(made[300].open_sides, 0U);
  EXPECT_NEAR(made[7].volume / 512, 4.0 / 3 * std::numbers::pi * 1000, 60);
  view.shape.size[0] = 29;
  EXPECT_FALSE(MeshLabels(view, options, [](uint64_t, Mesh) { return Result<void>(); }));
}

TEST(EncodeLevels, MakesLevelsThatAreClosedAndThatClientsDraw) {
  for (const Shape& shape : Shapes()) {
    for (const unsigned bits : {10U, 16U}) {
      SCOPED_TRACE(testing::Message() << shape.name << ", " << bits << " bits");
      MakeOptions options = OptionsFor(kData);
      options.bits = bits;
      const auto blocks = FindInBlocks(shape.label, kData, 40);
      const auto encoded = EncodeLevels(SurfaceOf(blocks, options), options);
      ASSERT_TRUE(encoded) << encoded.error().message;
      ASSERT_TRUE(*encoded);
      const Manifest& manifest = (*encoded)->manifest;
      EXPECT_THAT(CheckManifest(manifest, (*encoded)->fragments.size()), IsEmpty());
      ASSERT_EQ(manifest.levels.size(), 3U);
      EXPECT_GT(manifest.levels[0].fragments.size(), 8U);
      EXPECT_EQ(manifest.levels[2].fragments.size(), 1U);
      size_t finer = SIZE_MAX;
      for (size_t level = 0; level < manifest.levels.size(); ++level) {
        SCOPED_TRACE(testing::Message() << "level " << level);
        EXPECT_EQ(manifest.levels[level].scale, 8.0F * static_cast<float>(1 << level));
        const Mesh mesh = ReadLevel(**encoded, level, bits);
        const Topology topology = TopologyOf(mesh);
        EXPECT_EQ(topology.open_sides, 0U);
        EXPECT_EQ(topology.euler, shape.euler);
        // The errors add up where the surface is round.
        const double tolerance = 0.02 + 0.06 * static_cast<double>(level);
        EXPECT_NEAR(topology.volume / 512 / shape.voxels, 1, tolerance);
        EXPECT_LT(mesh.triangles.size(), finer);
        finer = mesh.triangles.size();
      }
    }
  }
}

double DistanceFromBall(const Point& point, const Point& centre, double radius) {
  double sum = 0;
  for (size_t d = 0; d < 3; ++d) {
    sum += std::pow(double{point[d]} - double{centre[d]}, 2);
  }
  return std::abs(std::sqrt(sum) - radius);
}

TEST(EncodeLevels, StayWithinTheirErrorsSoThatGapsBetweenLevelsDo) {
  MakeOptions options = OptionsFor(kData);
  const auto encoded = EncodeLevels(
      SurfaceOf(FindInBlocks(Ball({48, 47, 46}, 40), kData, 40), options), options);
  ASSERT_TRUE(encoded && *encoded);
  const size_t levels = (*encoded)->manifest.levels.size();
  for (size_t level = 0; level < levels; ++level) {
    const Mesh mesh = ReadLevel(**encoded, level, options.bits);
    // Of positions on the border of a cell, where another level may go on; a voxel is
    // not exact by half its diagonal.
    const double error = 8 * static_cast<double>(1 << level) + 7;
    for (const Triangle& triangle : mesh.triangles) {
      Point middle = {0, 0, 0};
      for (const uint32_t vertex : triangle) {
        for (size_t d = 0; d < 3; ++d) middle[d] += mesh.vertices[vertex][d] / 3;
      }
      ASSERT_LE(DistanceFromBall(middle, {384, 376, 368}, 320), error)
          << "level " << level;
    }
  }
}

TEST(EncodeLevels, CutsTrianglesWhereClientsDo) {
  MakeOptions options = OptionsFor(kData);
  const auto encoded = EncodeLevels(
      SurfaceOf(FindInBlocks(Ball({48, 47, 46}, 40), kData, 40), options), options);
  ASSERT_TRUE(encoded && *encoded);
  const Manifest& manifest = (*encoded)->manifest;
  constexpr uint32_t kMiddle = 1 << 15;
  size_t on_planes = 0;
  for (size_t level = 1; level < manifest.levels.size(); ++level) {
    const auto ranges = FragmentRanges(manifest, level);
    for (const ByteRange& range : ranges) {
      const auto fragment = DecodeFragment(
          BytesView((*encoded)->fragments).subspan(range.offset, range.length), 16);
      ASSERT_TRUE(fragment);
      for (const Triangle& triangle : fragment->triangles) {
        for (size_t d = 0; d < 3; ++d) {
          bool is_low = true;
          bool is_high = true;
          for (const uint32_t vertex : triangle) {
            const uint32_t at = fragment->vertices[vertex][d];
            is_low = is_low && at <= kMiddle;
            is_high = is_high && at >= kMiddle;
            on_planes += at == kMiddle ? 1 : 0;
          }
          EXPECT_TRUE(is_low || is_high) << "level " << level;
        }
      }
    }
  }
  EXPECT_GT(on_planes, 100U);
}

TEST(EncodeLevels, KeepsCellsAsLongInNanometresAsVoxelsAre) {
  const Box data = {{1000, 2000, 3000}, {1040, 2040, 3010}};
  MakeOptions options = OptionsFor(data);
  options.resolution = {8, 8, 40};
  options.cell = {16, 16, 3};
  options.levels = 8;
  const LabelAt ellipsoid = [](double x, double y, double z) -> uint32_t {
    return std::hypot(x - 1020, y - 2020, (z - 3005) * 5) < 18 ? 1 : 0;
  };
  const auto encoded =
      EncodeLevels(SurfaceOf(FindInBlocks(ellipsoid, data, 16), options), options);
  ASSERT_TRUE(encoded && *encoded);
  EXPECT_EQ((*encoded)->manifest.chunk_shape, (Point{128, 128, 120}));
  const Mesh mesh = ReadLevel(**encoded, 0, 16);
  Point low = mesh.vertices.front();
  Point high = low;
  for (const Point& vertex : mesh.vertices) {
    for (size_t d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], vertex[d]);
      high[d] = std::max(high[d], vertex[d]);
    }
  }
  const std::array<double, 3> centre = {1020 * 8, 2020 * 8, 3005 * 40};
  for (size_t d = 0; d < 3; ++d) {
    EXPECT_NEAR((low[d] + high[d]) / 2, centre[d], 12);
    EXPECT_NEAR(high[d] - low[d], 2 * 18 * 8, 45);
  }
}

TEST(EncodeLevels, LeavesOutWhatHasNoTriangles) {
  const auto encoded = EncodeLevels(Surface{}, OptionsFor(kData));
  ASSERT_TRUE(encoded);
  EXPECT_FALSE(*encoded);
}

}  // namespace
}  // namespace dolium::mesh
