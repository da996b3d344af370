// SWC: one skeleton as text, a line for each vertex with its parent.
//
// Reading takes hostile input. All functions may be called from many threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/domain/skeleton/skeleton.h"

namespace dolium::skeleton {

// What a skeleton of SWC has: `radius` (float32) and `vertex_types` (uint8).
SkeletonInfo SwcInfo();

// A skeleton with the attributes of SwcInfo(). Parents may come after their children.
// kCorrupt, naming the line, if a number is none or not finite, a sample is there twice,
// or its parent is not there.
Result<Skeleton> ParseSwc(std::string_view text);

struct SwcText {
  std::string text;
  uint64_t trees = 0;
  // Edges that close a loop, which SWC cannot hold.
  uint64_t dropped_edges = 0;
};

// One root for each tree, which is an end of it, and parents before their children. The
// attribute `radius` times `radius_scale` is the radius, else 0; `vertex_types` the type.
// `comment`: lines of the header, without `#`. Precondition: the skeleton has the
// attributes of `info`, and its edges have vertices.
SwcText WriteSwc(const Skeleton& skeleton, const SkeletonInfo& info,
                 std::string_view comment, double radius_scale = 1);

}  // namespace dolium::skeleton
