#include "dolium/domain/mesh/draco.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/mesh/testing/shapes.h"
#include "dolium/formats/neuroglancer/testing/shards.h"

namespace dolium::mesh {
namespace {

using neuroglancer::FromHex;
using testing::HasSubstr;
using testing::SizeIs;

// Two triangles, sequential and not compressed: written by hand, drawn by the client.
constexpr const char* kSequential =
    "445241434f0202010000000204010001020002030101000503000001fe00030000000000000000"
    "00feff01000000000000000000feff01000000000000000000feff01";

QuantizedMesh QuantizedSphere(unsigned bits, uint32_t rings) {
  const float half = static_cast<float>((1U << bits) - 1) / 2;
  const Mesh sphere = Sphere({half, half, half}, half, rings);
  QuantizedMesh mesh;
  for (const Point& vertex : sphere.vertices) {
    mesh.vertices.push_back({static_cast<uint32_t>(vertex[0]),
                             static_cast<uint32_t>(vertex[1]),
                             static_cast<uint32_t>(vertex[2])});
  }
  mesh.triangles = sphere.triangles;
  return mesh;
}

TEST(DecodeFragment, ReadsASequentialMesh) {
  const auto mesh = DecodeFragment(FromHex(kSequential), 16);
  ASSERT_TRUE(mesh) << mesh.error().message;
  EXPECT_THAT(mesh->vertices, testing::ElementsAre(std::array<uint32_t, 3>{0, 0, 0},
                                                   std::array<uint32_t, 3>{65535, 0, 0},
                                                   std::array<uint32_t, 3>{0, 65535, 0},
                                                   std::array<uint32_t, 3>{0, 0, 65535}));
  EXPECT_THAT(mesh->triangles,
              testing::ElementsAre(Triangle{0, 1, 2}, Triangle{0, 2, 3}));
}

TEST(DecodeFragment, RejectsPositionsOfMoreBits) {
  EXPECT_EQ(DecodeFragment(FromHex(kSequential), 10).error().message,
            "vertex 1 is at (65535, 0, 0), expected numbers of 10 bits");
}

TEST(DecodeFragment, TakesNoBytesForNoTriangles) {
  const auto mesh = DecodeFragment({}, 10);
  ASSERT_TRUE(mesh);
  EXPECT_THAT(mesh->triangles, SizeIs(0));
}

TEST(DecodeFragment, RejectsEveryTruncation) {
  const ByteVector sequential = FromHex(kSequential);
  const auto edgebreaker = EncodeFragment(QuantizedSphere(10, 8), 10);
  ASSERT_TRUE(edgebreaker);
  for (const BytesView bytes : {BytesView(sequential), BytesView(*edgebreaker)}) {
    for (size_t length = 1; length < bytes.size(); ++length) {
      EXPECT_FALSE(DecodeFragment(bytes.first(length), 16)) << length;
    }
  }
}

TEST(DecodeFragment, RefusesWhatIsNotAMeshOfToday) {
  ByteVector bytes = FromHex(kSequential);
  bytes[6] = std::byte{1};
  auto mesh = DecodeFragment(bytes, 16);
  EXPECT_EQ(mesh.error().message, "Draco bitstream 2.1, expected 2.2");
  EXPECT_EQ(mesh.error().code, ErrorCode::kUnsupported);
  bytes = FromHex(kSequential);
  bytes[7] = std::byte{0};
  EXPECT_EQ(DecodeFragment(bytes, 16).error().message,
            "geometry 0 of Draco, expected 1, triangles");
  bytes[7] = std::byte{1};
  bytes[8] = std::byte{9};
  EXPECT_EQ(DecodeFragment(bytes, 16).error().message,
            "method 9 of Draco is none of meshes");
  bytes[0] = std::byte{'d'};
  EXPECT_EQ(DecodeFragment(bytes, 16).error().message,
            "67 bytes that do not begin as Draco's do");
}

TEST(DecodeFragment, BelievesNoCountThatTheBytesCannotHold) {
  // The counts of faces and points: 2^32 - 1 each.
  ByteVector bytes = FromHex("445241434f020201000000ffffffff0fffffffff0f0100010200");
  EXPECT_THAT(DecodeFragment(bytes, 16).error().message,
              HasSubstr("4294967295 faces and 4294967295 points, more than the"));
  bytes = FromHex("445241434f020201000000ff");
  EXPECT_EQ(DecodeFragment(bytes, 16).error().message,
            "counts of faces and points are cut short");
}

TEST(DecodeFragment, RejectsMoreThanTheLimit) {
  const auto bytes = EncodeFragment(QuantizedSphere(10, 8), 10);
  ASSERT_TRUE(bytes);
  EXPECT_TRUE(DecodeFragment(*bytes, 10, {.max_faces = 224, .max_points = 114}));
  EXPECT_EQ(
      DecodeFragment(*bytes, 10, {.max_faces = 223, .max_points = 114}).error().message,
      "224 faces and 114 points, more than the 223 and 114 that it may have");
  EXPECT_FALSE(DecodeFragment(*bytes, 10, {.max_faces = 224, .max_points = 113}));
}

TEST(DecodeFragment, RejectsAnIndexOfNoPoint) {
  ByteVector bytes = FromHex(kSequential);
  bytes[14] = std::byte{4};
  EXPECT_EQ(DecodeFragment(bytes, 16).error().message, "face 0 has point 4, there are 4");
}

TEST(EncodeFragment, KeepsEveryTriangle) {
  for (const unsigned bits : {10U, 16U}) {
    for (const int level : {0, 1, 5, 7, 10}) {
      QuantizedMesh mesh = QuantizedSphere(bits, 20);
      const auto bytes = EncodeFragment(mesh, bits, level);
      ASSERT_TRUE(bytes) << bytes.error().message;
      const auto decoded = DecodeFragment(*bytes, bits);
      ASSERT_TRUE(decoded) << decoded.error().message;
      CleanMesh(mesh);
      EXPECT_EQ(Corners(*decoded), Corners(mesh)) << bits << " " << level;
      EXPECT_EQ(decoded->vertices.size(), mesh.vertices.size());
    }
  }
}

TEST(EncodeFragment, GivesTheSameBytesForTheSameMesh) {
  const QuantizedMesh mesh = QuantizedSphere(16, 20);
  const auto first = EncodeFragment(mesh, 16);
  const auto second = EncodeFragment(mesh, 16);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(Equal(*first, *second));
}

// Three triangles at one edge, two balls that share a vertex, and a triangle twice.
TEST(EncodeFragment, TakesMeshesThatAreNoSurfaces) {
  QuantizedMesh mesh;
  mesh.vertices = {{0, 0, 0}, {9, 0, 0}, {0, 9, 0}, {0, 0, 9},
                   {9, 9, 9}, {5, 5, 1}, {7, 2, 2}};
  mesh.triangles = {{0, 1, 2}, {0, 1, 3}, {0, 1, 4}, {4, 5, 6}, {0, 1, 2}};
  const auto bytes = EncodeFragment(mesh, 10);
  ASSERT_TRUE(bytes) << bytes.error().message;
  const auto decoded = DecodeFragment(*bytes, 10);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(Corners(*decoded), Corners(mesh));
}

TEST(EncodeFragment, MergesVerticesAndDropsTrianglesWithoutArea) {
  QuantizedMesh mesh;
  mesh.vertices = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 1}, {8, 8, 8}, {2, 2, 1}};
  mesh.triangles = {{0, 1, 2}, {3, 2, 5}, {0, 3, 1}};
  const auto bytes = EncodeFragment(mesh, 10);
  ASSERT_TRUE(bytes);
  const auto decoded = DecodeFragment(*bytes, 10);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_THAT(decoded->vertices, SizeIs(4));
  EXPECT_THAT(decoded->triangles, SizeIs(2));
}

TEST(EncodeFragment, GivesNoBytesIfNoTriangleIsLeft) {
  const auto bytes = EncodeFragment({{{1, 1, 1}, {2, 2, 2}}, {{0, 1, 0}}}, 16);
  ASSERT_TRUE(bytes);
  EXPECT_THAT(*bytes, SizeIs(0));
}

TEST(EncodeFragment, RefusesWhatDoesNotFit) {
  EXPECT_EQ(EncodeFragment({{{0, 1024, 0}}, {}}, 10).error().message,
            "vertex 0 is at (0, 1024, 0), expected numbers of 10 bits");
  EXPECT_EQ(EncodeFragment({{{0, 0, 0}}, {{0, 0, 1}}}, 10).error().message,
            "triangle 0 has vertex 1, there are 1");
  EXPECT_EQ(EncodeFragment({}, 12).error().message,
            "12 bits for a position, expected 10 or 16");
}

// The least that faces take: what the limit by bytes must let through.
TEST(DecodeFragment, TakesTheFlattestMesh) {
  const QuantizedMesh sheet = Sheet(700);
  const auto bytes = EncodeFragment(sheet, 10);
  ASSERT_TRUE(bytes);
  EXPECT_LT(bytes->size() * 1000, sheet.triangles.size());
  const auto decoded = DecodeFragment(*bytes, 10);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->triangles.size(), sheet.triangles.size());
}

}  // namespace
}  // namespace dolium::mesh
