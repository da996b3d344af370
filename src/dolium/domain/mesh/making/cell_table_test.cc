#include "dolium/domain/mesh/making/cell_table.h"

#include <bit>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace dolium::mesh {
namespace {

// The two corners of an edge.
std::pair<unsigned, unsigned> CornersOfEdge(unsigned edge) {
  const unsigned axis = edge / 4;
  const unsigned low = edge & 1;
  const unsigned high = edge >> 1 & 1;
  const unsigned corner = axis == 0   ? low << 1 | high << 2
                          : axis == 1 ? low | high << 2
                                      : low | high << 1;
  return {corner, corner | 1U << axis};
}

// The faces that a set of edges have in common, as axis and side.
std::set<std::pair<unsigned, unsigned>> CommonFaces(unsigned a, unsigned b) {
  std::set<std::pair<unsigned, unsigned>> faces;
  for (unsigned axis = 0; axis < 3; ++axis) {
    for (unsigned side = 0; side < 2; ++side) {
      bool is_common = true;
      for (const unsigned edge : {a, b}) {
        const auto [from, to] = CornersOfEdge(edge);
        is_common = is_common && (from >> axis & 1) == side && (to >> axis & 1) == side;
      }
      if (is_common) faces.insert({axis, side});
    }
  }
  return faces;
}

TEST(CellCases, HaveAVertexOnEachEdgeFromInsideToOutside) {
  for (unsigned inside = 0; inside < 256; ++inside) {
    std::set<unsigned> used;
    for (const auto& triangle : CellCases()[inside].used()) {
      used.insert(triangle.begin(), triangle.end());
    }
    std::set<unsigned> expected;
    for (unsigned edge = 0; edge < kCellEdges; ++edge) {
      const auto [from, to] = CornersOfEdge(edge);
      if ((inside >> from & 1) != (inside >> to & 1)) expected.insert(edge);
    }
    EXPECT_EQ(used, expected) << "case " << inside;
  }
}

// What a case leaves on a face: sides of triangles without another one, by face.
using FaceSides = std::set<std::pair<unsigned, unsigned>>;
std::map<std::pair<unsigned, unsigned>, FaceSides> OutlinesOf(unsigned inside) {
  FaceSides sides;
  for (const auto& triangle : CellCases()[inside].used()) {
    for (size_t i = 0; i < 3; ++i) {
      const unsigned from = triangle[i];
      const unsigned to = triangle[(i + 1) % 3];
      if (sides.erase({to, from}) == 0) {
        EXPECT_TRUE(sides.insert({from, to}).second) << "case " << inside;
      } else {
        // A side that two triangles have lies within the cell.
        EXPECT_TRUE(CommonFaces(from, to).empty()) << "case " << inside;
      }
    }
  }
  std::map<std::pair<unsigned, unsigned>, FaceSides> outlines;
  for (const auto& [from, to] : sides) {
    const auto faces = CommonFaces(from, to);
    EXPECT_EQ(faces.size(), 1U) << "case " << inside;
    if (!faces.empty()) outlines[*faces.begin()].insert({from, to});
  }
  return outlines;
}

// The same edge of the cell behind a face.
unsigned Mirrored(unsigned edge, unsigned axis) {
  const auto [from, to] = CornersOfEdge(edge);
  for (unsigned other = 0; other < kCellEdges; ++other) {
    const auto [a, b] = CornersOfEdge(other);
    if ((a ^ 1U << axis) == from && (b ^ 1U << axis) == to) return other;
  }
  return kCellEdges;
}

TEST(CellCases, AgreeWithTheirNeighboursOnEachFace) {
  for (unsigned inside = 0; inside < 256; ++inside) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      // The neighbour that goes on in the same way.
      unsigned neighbour = 0;
      for (unsigned corner = 0; corner < 8; ++corner) {
        const unsigned shared = corner | 1U << axis;
        neighbour |= (inside >> shared & 1) << corner;
      }
      auto here = OutlinesOf(inside)[{axis, 1}];
      FaceSides there;
      const FaceSides across = OutlinesOf(neighbour)[{axis, 0}];
      for (const auto& [from, to] : across) {
        there.insert({Mirrored(to, axis), Mirrored(from, axis)});
      }
      EXPECT_EQ(here, there) << "case " << inside << ", axis " << axis;
    }
  }
}

TEST(CellCases, SeparateCornersThatTouchAcrossAFace) {
  // Corners 0 and 3 of the lower face: two triangles, each around one of them.
  const CellCase& shape = CellCases()[0b1001];
  ASSERT_EQ(shape.count, 2);
  std::set<unsigned> all;
  for (const auto& triangle : shape.used()) all.insert(triangle.begin(), triangle.end());
  EXPECT_EQ(all.size(), 6U);
}

}  // namespace
}  // namespace dolium::mesh
