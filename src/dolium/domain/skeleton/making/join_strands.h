// Skeletons of whole labels, from the strands of blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dolium/domain/skeleton/making/block_skeletons.h"
#include "dolium/domain/skeleton/skeleton.h"

namespace dolium::skeleton {

struct JoinOptions {
  Resolution resolution = {1, 1, 1};
  TeasarOptions teasar = {};
  // Trees that are shorter are left out; nanometres.
  double dust = 0;
  // Branches that end nowhere and are shorter are removed, unless they are a whole tree.
  double tick = 0;
};

// A skeleton with a tree for each part that is connected: positions in nanometres, those
// of the middles of voxels; the radius of each vertex, and the area across the line if
// the strands have it. Strands of one label, in any order: they are joined where they
// share a vertex. Where that makes loops, and two lines for one object along the face
// between two blocks, paths are chosen from the lines in the way of TEASAR.
Skeleton JoinStrands(std::span<const SkeletonStrand> strands, const JoinOptions& options);

// The attributes of what JoinStrands() makes.
SkeletonInfo InfoOfMade(bool cross_sections);

// The skeletons of a block that is all there is, by id.
struct NamedSkeleton {
  uint64_t id = 0;
  Skeleton skeleton;
};
Result<std::vector<NamedSkeleton>> MakeSkeletons(const LabelBlock& block,
                                                 const StrandOptions& options,
                                                 const JoinOptions& join);

}  // namespace dolium::skeleton
