// Components whose holes are filled, as cell bodies have them: a nucleus with a label of
// its own makes the middle of a cell body its boundary.
#pragma once

#include <span>
#include <vector>

#include "dolium/domain/skeleton/making/label_components.h"

namespace dolium::skeleton {

struct FilledComponent {
  std::vector<Run> runs;         // in the order of z, y, x
  std::vector<float> distances;  // to the boundary, of each voxel
};

// Fills what cannot be reached from outside of the box around the runs, which lie in a
// block of this size. Takes memory for that box.
FilledComponent FillHoles(std::span<const Run> runs, const Vec3& block_size,
                          const Resolution& resolution);

}  // namespace dolium::skeleton
