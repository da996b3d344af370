// What the rows of meshes, skeletons and of the sets that they are stored in are made of:
// see kinds.h.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/ops/source/source.h"

namespace dolium {

bool IsMeshFolder(const Location& location);
bool IsSkeletonFolder(const Location& location);

Result<std::shared_ptr<const mesh::MeshSource>> OpenMeshesOf(const Source& source);
Result<std::shared_ptr<const skeleton::SkeletonSource>> OpenSkeletonsOf(
    const Source& source);
// Null if the info of the volume names none.
Result<std::shared_ptr<const mesh::MeshSource>> OpenMeshesOfVolume(const Source& source);
Result<std::shared_ptr<const skeleton::SkeletonSource>> OpenSkeletonsOfVolume(
    const Source& source);

Result<VerifyReport> CheckMeshSource(const Source& source, const VerifyOptions& options,
                                     const FindingVisitor& visitor);
Result<VerifyReport> CheckSkeletonSource(const Source& source,
                                         const VerifyOptions& options,
                                         const FindingVisitor& visitor);
// A part of a volume that is no scale.
Result<VerifyReport> CheckPart(const SourcePart& part, const Container& entries,
                               const VerifyOptions& options,
                               const FindingVisitor& visitor);

// Files become shards and shards files where such a target is named, and each object
// stays whole. Else entries are copied as their format has them.
Result<CopySource> OpenObjectsForCopy(const Source& source,
                                      std::shared_ptr<const Container> entries,
                                      std::string_view format);
Result<CopySource> OpenFilesForCopy(const Source& source,
                                    std::shared_ptr<const Container> entries,
                                    std::string_view format);
// An info says more of a mesh than where its chunks are, and only sets of the same format
// have one.
Result<std::vector<Finding>> FindLeftOutOfSharded(const Source& source,
                                                  const Format& format);

}  // namespace dolium
