// The fragments of one level of detail: a mesh cut at the borders of cells, quantized and
// encoded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/mesh/mesh.h"
#include "dolium/domain/mesh/multires_manifest.h"

namespace dolium::mesh {

struct LevelGrid {
  // The side of a cell of this level, in units of positions: whole numbers, even from the
  // second level on. The grid begins at 0, and no position is before it.
  std::array<float, 3> cell = {1, 1, 1};
  // Clients show the eighths of a cell one by one, so that it is cut in the middle, too:
  // not for the finest level.
  bool halves = false;
  unsigned bits = 16;
};

struct LevelFragments {
  struct Fragment {
    Cell cell = {0, 0, 0};
    ByteVector bytes;
  };
  std::vector<Fragment> fragments;  // in Z order, none of them empty
  // With halves: the cells of the finer level that have triangles of this one, in Z
  // order.
  std::vector<Cell> finer_cells;
};

// Cuts and encodes a mesh. Where two triangles had a side in common, their parts have, on
// both sides of a border too: within the level nothing comes apart.
Result<LevelFragments> MakeFragments(Mesh mesh, const LevelGrid& grid, size_t jobs);

// Cuts all triangles where an axis is a multiple of `step`. Positions are not negative.
void CutAtPlanes(Mesh& mesh, size_t axis, float step);

}  // namespace dolium::mesh
