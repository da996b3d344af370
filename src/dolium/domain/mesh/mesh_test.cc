#include "dolium/domain/mesh/mesh.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/mesh/testing/shapes.h"

namespace dolium::mesh {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(WeldVertices, MergesEqualVerticesAndKeepsTriangles) {
  Mesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}, {-0.0F, 1, 0}, {1, 1, 0}},
            {{0, 1, 2}, {3, 5, 4}}};
  WeldVertices(mesh);
  EXPECT_THAT(mesh.vertices, ElementsAre(Point{0, 0, 0}, Point{1, 0, 0}, Point{0, 1, 0},
                                         Point{1, 1, 0}));
  EXPECT_THAT(mesh.triangles, ElementsAre(Triangle{0, 1, 2}, Triangle{1, 3, 2}));
}

TEST(WeldVertices, LeavesAMeshWithoutEqualVertices) {
  const Mesh sphere = Sphere({5, 6, 7}, 3, 30);
  Mesh welded = sphere;
  WeldVertices(welded);
  EXPECT_EQ(welded, sphere);
  Mesh empty;
  WeldVertices(empty);
  EXPECT_THAT(empty.vertices, SizeIs(0));
}

TEST(CleanMesh, DropsWhatNoTriangleUses) {
  QuantizedMesh mesh{{{9, 9, 9}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}},
                     {{1, 2, 3}, {1, 2, 4}}};
  CleanMesh(mesh);
  EXPECT_THAT(mesh.vertices, SizeIs(3));
  EXPECT_THAT(mesh.triangles, ElementsAre(Triangle{0, 1, 2}));
}

TEST(AppendMesh, ShiftsIndices) {
  Mesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  ASSERT_TRUE(AppendMesh(mesh, Mesh(mesh)));
  EXPECT_THAT(mesh.triangles, ElementsAre(Triangle{0, 1, 2}, Triangle{3, 4, 5}));
  EXPECT_THAT(mesh.vertices, SizeIs(6));
}

TEST(TransformOfAMesh, IsThreeRowsOfFour) {
  Mesh mesh{{{1, 2, 3}}, {}};
  Transform({10, 0, 0, 1, 0, 0, 100, 2, 0, 1000, 0, 3}, mesh);
  EXPECT_THAT(mesh.vertices, ElementsAre(Point{11, 302, 2003}));
}

TEST(ValidateAMesh, FindsIndicesAndPositionsThatAreNone) {
  EXPECT_EQ(Validate(Mesh{{{0, 0, 0}}, {{0, 0, 1}}}).error().message,
            "triangle 0 has vertex 1, there are 1");
  EXPECT_EQ(Validate(Mesh{{{0, std::numeric_limits<float>::infinity(), 0}}, {}})
                .error()
                .message,
            "vertex 0 is (0, inf, 0), expected finite numbers");
}

}  // namespace
}  // namespace dolium::mesh
