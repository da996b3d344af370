#include "dolium/domain/mesh/files/mesh_files.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dolium/base/endian.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/mesh/testing/shapes.h"

namespace dolium::mesh {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Mesh SmallBall() { return Sphere({100, -20, 3.5F}, 10, 5); }

std::string ErrorOf(MeshFile kind, std::string_view text) {
  const auto mesh = ParseMeshFile(kind, AsBytes(text));
  return mesh ? "no error" : mesh.error().message;
}

Mesh ParseText(MeshFile kind, std::string_view text) {
  return Must(ParseMeshFile(kind, AsBytes(text)));
}

constexpr std::string_view kSquarePly =
    "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty double x\n"
    "property float y\nproperty int z\nproperty uchar red\nelement face 1\n"
    "property list uchar int vertex_indices\nproperty float quality\n"
    "element edge 1\nproperty int a\nproperty int b\nend_header\n"
    "0 0 0 9\n1 0 0 9\n1 1 0 9\n0 1.5 0 9\n4 0 1 2 3 0.5\n0 1\n";

TEST(MeshFiles, AreReadAsTheyAreWritten) {
  for (const MeshFile kind : {MeshFile::kPly, MeshFile::kObj}) {
    EXPECT_EQ(Must(ParseMeshFile(kind, Must(WriteMeshFile(kind, SmallBall())))),
              SmallBall())
        << ToString(kind);
  }
  const Mesh soup = Must(
      ParseMeshFile(MeshFile::kStl, Must(WriteMeshFile(MeshFile::kStl, SmallBall()))));
  EXPECT_EQ(Corners(soup), Corners(SmallBall()));
  EXPECT_EQ(soup.vertices.size(), SmallBall().vertices.size());
  EXPECT_EQ(ParseMeshFileKind("stl"), MeshFile::kStl);
  EXPECT_EQ(ParseMeshFileKind("off"), std::nullopt);
}

TEST(MeshFiles, WithoutTrianglesAreWritten) {
  for (const MeshFile kind : {MeshFile::kPly, MeshFile::kStl}) {
    const Mesh read = Must(ParseMeshFile(kind, Must(WriteMeshFile(kind, Mesh()))));
    EXPECT_EQ(read, Mesh()) << ToString(kind);
  }
  EXPECT_FALSE(Must(WriteMeshFile(MeshFile::kGlb, Mesh())).empty());
}

TEST(PlyFiles, HavePropertiesInAnyOrderAndFacesOfManyCorners) {
  const Mesh mesh = ParseText(MeshFile::kPly, kSquarePly);
  EXPECT_THAT(mesh.vertices, ElementsAre(Point{0, 0, 0}, Point{1, 0, 0}, Point{1, 1, 0},
                                         Point{0, 1.5F, 0}));
  EXPECT_THAT(mesh.triangles, ElementsAre(Triangle{0, 1, 2}, Triangle{0, 2, 3}));
}

TEST(PlyFiles, AreReadInBothOrdersOfBytes) {
  std::string big =
      "ply\r\nformat binary_big_endian 1.0\r\nelement vertex 3\r\nproperty float x\r\n"
      "property float y\r\nproperty float z\r\nelement face 1\r\n"
      "property list uint8 uint16 vertex_index\r\nend_header\r\n";
  for (const uint32_t word : {0U, 0U, 0U, 0x3f800000U, 0U, 0U, 0U, 0x40000000U, 0U}) {
    for (int shift = 24; shift >= 0; shift -= 8) big += static_cast<char>(word >> shift);
  }
  big += std::string("\x03\x00\x00\x00\x01\x00\x02", 7);
  const Mesh mesh = ParseText(MeshFile::kPly, big);
  EXPECT_THAT(mesh.vertices, ElementsAre(Point{0, 0, 0}, Point{1, 0, 0}, Point{0, 2, 0}));
  EXPECT_THAT(mesh.triangles, ElementsAre(Triangle{0, 1, 2}));
}

TEST(PlyFiles, AreRefusedWithAReason) {
  const auto ply = [](std::string_view rest) {
    return ErrorOf(MeshFile::kPly, "ply\n" + std::string(rest));
  };
  EXPECT_EQ(ErrorOf(MeshFile::kPly, "solid"), "line 1: expected \"ply\"");
  EXPECT_EQ(ply("format ascii 1.0\n"), "the header has no end_header");
  EXPECT_EQ(ply("end_header\n"), "the header names no format");
  EXPECT_EQ(ply("format ascii 1.0\nelement vertex -1\n"),
            "line 3: expected an element's name and count");
  EXPECT_EQ(ply("format ascii 1.0\nelement vertex 18446744073709551615\n"
                "property float x\nend_header\n0\n"),
            "element vertex: 18446744073709551615 of them, 2 bytes remain");
  EXPECT_EQ(ply("format ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n"),
            "element vertex 0: has no x, y and z");
  std::string text(kSquarePly);
  text.replace(text.find("4 0 1 2 3"), 9, "4 0 1 2 4");
  EXPECT_EQ(ErrorOf(MeshFile::kPly, text), "triangle 1 has vertex 4, there are 4");
  text.replace(text.find("4 0 1 2 4"), 9, "9 0 1 2 -1");
  EXPECT_THAT(ErrorOf(MeshFile::kPly, text),
              HasSubstr("element face 0: found -1, expected"));
  text = kSquarePly;
  text.replace(text.find("1 1 0 9"), 7, "1 nan 0 9");
  EXPECT_THAT(ErrorOf(MeshFile::kPly, text), HasSubstr("vertex 2 is (1, nan, 0)"));
  text = kSquarePly;
  text.replace(text.find("4 0 1 2 3"), 9, "4000000000 0");
  EXPECT_THAT(ErrorOf(MeshFile::kPly, text), HasSubstr("a list of 4000000000 numbers"));
}

TEST(ObjFiles, HaveCornersOfAnySpelling) {
  const Mesh mesh =
      ParseText(MeshFile::kObj,
                "# square\no thing\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\n"
                "vt 0 0\nvn 0 0 1\nf 1/1/1 2//1 3/1 -1\n");
  EXPECT_EQ(mesh.vertices.size(), 4U);
  EXPECT_THAT(mesh.triangles, ElementsAre(Triangle{0, 1, 2}, Triangle{0, 2, 3}));
}

TEST(ObjFiles, AreRefusedWithAReason) {
  EXPECT_EQ(ErrorOf(MeshFile::kObj, "v 1 2\n"), "line 1: expected three numbers after v");
  EXPECT_EQ(ErrorOf(MeshFile::kObj, "v 1 2 3\nf 0 1 1\n"),
            "line 2: found \"0\", expected the number of a vertex");
  EXPECT_EQ(ErrorOf(MeshFile::kObj, "v 1 2 3\nf -2 1 1\n"),
            "line 2: found \"-2\", expected the number of a vertex");
  EXPECT_EQ(ErrorOf(MeshFile::kObj, "v 1 2 3\nf 1 1 2\n"),
            "triangle 0 has vertex 1, there are 1");
  EXPECT_EQ(ErrorOf(MeshFile::kObj, "v inf 2 3\n"),
            "vertex 0 is (inf, 2, 3), expected finite numbers");
  EXPECT_THAT(ErrorOf(MeshFile::kObj, "nothing\n"), HasSubstr("is it an OBJ file?"));
}

TEST(StlFiles, OfTextAreJoinedAtTheirCorners) {
  const Mesh mesh = ParseText(
      MeshFile::kStl,
      "solid two\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 "
      "0\n"
      "endloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 1 0\n"
      "vertex 0 1 0\nendloop\nendfacet\nendsolid two\n");
  EXPECT_EQ(mesh.vertices.size(), 4U);
  EXPECT_THAT(mesh.triangles, ElementsAre(Triangle{0, 1, 2}, Triangle{0, 2, 3}));
}

TEST(StlFiles, AreRefusedWithAReason) {
  EXPECT_EQ(ErrorOf(MeshFile::kStl, "short"), "neither text nor a header of 84 bytes");
  std::string counted(84, '\0');
  counted[80] = counted[81] = counted[82] = counted[83] = '\xff';
  EXPECT_EQ(ErrorOf(MeshFile::kStl, counted),
            "4294967295 triangles take 214748364834 bytes, it has 84");
  EXPECT_EQ(ErrorOf(MeshFile::kStl, "solid\nvertex 1 2 3\n"), "ends within a triangle");
  EXPECT_EQ(ErrorOf(MeshFile::kStl, "solid\nvertex 1 2 3\nendloop\n"),
            "line 3: a triangle without three corners");
}

TEST(GlbFiles, AreChunksOfTheSizesThatTheyName) {
  const ByteVector glb = Must(WriteMeshFile(MeshFile::kGlb, SmallBall()));
  EXPECT_EQ(AsText(glb).substr(0, 4), "glTF");
  EXPECT_EQ(LoadLE<uint32_t>(&glb[4]), 2U);
  EXPECT_EQ(LoadLE<uint32_t>(&glb[8]), glb.size());
  const uint32_t text_bytes = LoadLE<uint32_t>(&glb[12]);
  EXPECT_EQ(text_bytes % 4, 0U);
  const auto text = nlohmann::json::parse(AsText(glb).substr(20, text_bytes));
  const uint64_t bytes = text["buffers"][0]["byteLength"];
  EXPECT_EQ(LoadLE<uint32_t>(&glb[20 + text_bytes]), bytes);
  EXPECT_EQ(glb.size(), 28 + text_bytes + bytes);
  EXPECT_EQ(text["accessors"][0]["count"], SmallBall().vertices.size());
  EXPECT_EQ(text["accessors"][1]["count"], 3 * SmallBall().triangles.size());
  const Mesh ball = SmallBall();
  const auto highest = std::ranges::max(ball.vertices)[0];
  EXPECT_EQ(text["accessors"][0]["max"][0].get<float>(), highest);
  const auto read = ParseMeshFile(MeshFile::kGlb, glb);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace dolium::mesh
