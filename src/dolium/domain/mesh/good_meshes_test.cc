// Meshes that cloud-volume wrote: see testdata/good/README.md.
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/mesh/mesh_source.h"
#include "dolium/domain/mesh/testing/shapes.h"

namespace dolium::mesh {
namespace {

using testing::SizeIs;

constexpr uint64_t kIds[] = {5, 77, 123456789012345};
constexpr std::array<Triangle, 8> kFaces = {{{0, 2, 4},
                                             {2, 1, 4},
                                             {1, 3, 4},
                                             {3, 0, 4},
                                             {2, 0, 5},
                                             {1, 2, 5},
                                             {3, 1, 5},
                                             {0, 3, 5}}};

Result<MeshSource> OpenGood(const std::string& folder) {
  DOLIUM_TRY(Location location,
             ParseLocation(std::string(DOLIUM_SOURCE_DIR) +
                           "/src/dolium/domain/mesh/testdata/good/" + folder));
  return MeshSource::Open(std::move(location));
}

// As the script makes them.
void AddOctahedron(const Point& centre, const Point& radius, Mesh& mesh) {
  Mesh part;
  for (size_t d = 0; d < 3; ++d) {
    for (const float sign : {1.0F, -1.0F}) {
      Point tip = centre;
      tip[d] += sign * radius[d];
      part.vertices.push_back(tip);
    }
  }
  part.triangles.assign(kFaces.begin(), kFaces.end());
  ASSERT_TRUE(AppendMesh(mesh, part));
}

TEST(GoodMeshes, LegacyOnesAreRead) {
  const auto source = OpenGood("legacy");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->kind(), MeshKind::kLegacy);
  const auto ids = source->ListIds();
  ASSERT_TRUE(ids) << ids.error().message;
  EXPECT_THAT(*ids, testing::ElementsAreArray(kIds));
  for (const uint64_t id : kIds) {
    const auto mesh = source->Get(id);
    ASSERT_TRUE(mesh) << mesh.error().message;
    ASSERT_TRUE(*mesh);
    Mesh expected;
    AddOctahedron({static_cast<float>(100 * id % 997), 20, 30}, {10, 10, 10}, expected);
    EXPECT_EQ(Corners(**mesh), Corners(expected));
  }
}

class GoodMultiresMeshes : public testing::TestWithParam<const char*> {};

TEST_P(GoodMultiresMeshes, AreRead) {
  const auto source = OpenGood(GetParam());
  ASSERT_TRUE(source) << source.error().message;
  ASSERT_EQ(source->kind(), MeshKind::kMultires);
  const unsigned bits = source->info()->vertex_quantization_bits;
  const auto ids = source->ListIds();
  ASSERT_TRUE(ids) << ids.error().message;
  EXPECT_THAT(*ids, testing::ElementsAreArray(kIds));
  const auto meshes = source->GetMany(kIds, {.stored_units = true});
  ASSERT_TRUE(meshes) << meshes.error().message;
  for (size_t i = 0; i < std::size(kIds); ++i) {
    ASSERT_TRUE((*meshes)[i]);
    const Mesh& mesh = *(*meshes)[i];
    const float left = static_cast<float>(kIds[i] % 10);
    Mesh expected;
    AddOctahedron({left + 5, 12, 18}, {5, 10, 15}, expected);
    AddOctahedron({left + 15, 12, 18}, {5, 10, 15}, expected);
    // The middle is between two steps; all else is exact.
    const auto found = Corners(mesh);
    const auto wanted = Corners(expected);
    ASSERT_EQ(found.size(), wanted.size());
    const float step = 30.0F / static_cast<float>(1U << bits);
    for (size_t t = 0; t < found.size(); ++t) {
      for (size_t corner = 0; corner < 3; ++corner) {
        for (size_t d = 0; d < 3; ++d) {
          EXPECT_NEAR(found[t][corner][d], wanted[t][corner][d], step);
        }
      }
    }
    EXPECT_THAT(mesh.vertices, SizeIs(11)) << "the tips that touch are one vertex";
    const auto manifest = source->GetManifest(kIds[i]);
    ASSERT_TRUE(manifest && *manifest);
    EXPECT_THAT(CheckManifest(**manifest), SizeIs(0));
    EXPECT_THAT((*manifest)->levels, SizeIs(1));
  }
  const auto nanometres = source->Get(5, {.weld = false});
  ASSERT_TRUE(nanometres && *nanometres);
  EXPECT_THAT((*nanometres)->vertices, SizeIs(12));
  float top = 0;
  for (const Point& vertex : (*nanometres)->vertices) top = std::max(top, vertex[2]);
  EXPECT_EQ(top, 33 * 40);
}

INSTANTIATE_TEST_SUITE_P(CloudVolume, GoodMultiresMeshes,
                         testing::Values("multires_10", "multires_16",
                                         "multires_10_sharded", "multires_16_sharded"),
                         [](const auto& folder) { return std::string(folder.param); });

}  // namespace
}  // namespace dolium::mesh
