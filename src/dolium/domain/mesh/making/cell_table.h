// The triangles of marching cubes, for each of the 256 ways in which the corners of a
// cell can be inside.
//
// A cell lies between the centres of 2 x 2 x 2 voxels. Corner i is at (i & 1, i >> 1 & 1,
// i >> 2 & 1). An edge of a cell is one of four that go in x, then y, then z; its vertex
// is its middle. Edge 4 * axis + k has, of the two other axes, the lower one at k & 1 and
// the higher one at k >> 1.
//
// On a face, corners that are inside are joined along its edges alone, never across: what
// a face looks like depends on its four corners, so that both of its cells agree. No
// triangle has a side across a face where the neighbour could have the same one. So each
// surface is closed, and each of its edges has two triangles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dolium::mesh {

inline constexpr size_t kCellEdges = 12;

struct CellCase {
  static constexpr size_t kMostTriangles = 5;

  uint8_t count = 0;  // of triangles
  // Edges, counterclockwise as seen from outside.
  std::array<std::array<uint8_t, 3>, kMostTriangles> triangles = {};

  std::span<const std::array<uint8_t, 3>> used() const {
    return std::span(triangles).first(count);
  }
};

// Of a set of corners, bit by bit.
const std::array<CellCase, 256>& CellCases();

}  // namespace dolium::mesh
