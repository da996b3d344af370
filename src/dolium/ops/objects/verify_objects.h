// verify, for folders of meshes and of skeletons: down to triangles and edges.
#pragma once

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/ops/verify.h"

namespace dolium {

// As Verify() of the entries of a folder, and: manifests (sizes, order, octree),
// fragments that are decoded, with vertices and triangles in range, legacy manifests
// whose fragments are missing, files of manifests without those of fragments and the
// other way. With kDeep, triangles of coarser levels that lie in several of the cells
// below theirs. An info that cannot be read is a finding, too.
Result<VerifyReport> VerifyMeshes(const Container& entries, const VerifyOptions& options,
                                  const FindingVisitor& visitor);

// The same for skeletons: lengths, edges, positions, and attributes that clients cannot
// show, which are a warning.
Result<VerifyReport> VerifySkeletons(const Container& entries,
                                     const VerifyOptions& options,
                                     const FindingVisitor& visitor);

}  // namespace dolium
