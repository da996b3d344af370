// What is done to lines that are joined: TEASAR on lines instead of voxels, and the
// removal of what is short.
#pragma once

#include "dolium/domain/skeleton/making/join_strands.h"
#include "dolium/domain/skeleton/making/line_graph.h"

namespace dolium::skeleton {

// Chooses paths so that each part is a tree, and has one line where an object has one.
LineGraph ChoosePaths(const LineGraph& lines, const JoinOptions& options);

// Precondition: each part is a tree.
LineGraph WithoutTicks(const LineGraph& lines, double shortest);
LineGraph WithoutDust(const LineGraph& lines, double shortest);

}  // namespace dolium::skeleton
