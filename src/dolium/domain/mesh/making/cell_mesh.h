// The surface that a list of cells makes: marching cubes.
#pragma once

#include "dolium/base/result.h"
#include "dolium/domain/mesh/making/label_cells.h"
#include "dolium/domain/mesh/mesh.h"

namespace dolium::mesh {

// Positions on the lattice that has two steps for each voxel: whole numbers from
// 2 * origin on, where the voxel v goes from 2 * v to 2 * v + 2. Below 2^24, so that a
// float has them exactly.
//
// Triangles are made of those cells that lie in `part`; the others before it say where
// the vertices between them are. Each vertex is there once, in the order of the cells.
// Triangles are counterclockwise as seen from outside. kCorrupt if a cell is missing.
Result<Mesh> MakeSurface(const CellList& cells, const volume::Box& part);

}  // namespace dolium::mesh
