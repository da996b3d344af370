// Making meshes simpler, to an error bound.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dolium/base/result.h"
#include "dolium/domain/mesh/mesh.h"

namespace dolium::mesh {

struct SimplifyOptions {
  // Of positions, in nanometres.
  std::array<double, 3> unit = {1, 1, 1};
  // How far the surface may be from what it was, in nanometres, as quadrics measure it:
  // the mean distance, weighted by area, from the planes that a vertex stands for.
  double error = 0;
  // Stops at this share of the triangles.
  double share = 0;
  // A mesh that is larger than this in any direction is simplified in cubes of this side,
  // in units of positions, and keeps what lies on their faces: numbers of 32 bits are not
  // exact enough for more, and memory is bounded. `shift` is where one of these faces
  // lies.
  float side = 1024;
  float shift = 0;
  size_t jobs = 1;  // threads, where it is done in cubes
  // Keeps what other meshes will be joined to: all at once, whatever the side.
  bool keep_borders = false;
};

// Vertices stay where they are, those that are not used any more go. A closed mesh stays
// closed, and a side that two triangles have stays one of two: where a collapse has
// closed a gap, a few vertices are added. What would vanish stays as it is.
Result<void> Simplify(Mesh& mesh, const SimplifyOptions& options);

// Removes vertices that no triangle uses.
void RemoveUnused(Mesh& mesh);

}  // namespace dolium::mesh
