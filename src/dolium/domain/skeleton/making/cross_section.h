// The area of an object across its centre line.
#pragma once

#include <vector>

#include "dolium/domain/skeleton/making/center_line.h"

namespace dolium::skeleton {

// For each vertex, in square nanometres: how much of the plane through it, perpendicular
// to the line, lies in voxels of its label that are connected within the plane. What is
// outside of the block does not count.
std::vector<float> MeasureCrossSections(const LabelBlock& block, const CenterLine& line,
                                        const Resolution& resolution);

}  // namespace dolium::skeleton
