// Meshes and skeletons as files of other programs: one file for each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/container.h"
#include "dolium/container/progress.h"
#include "dolium/domain/mesh/files/mesh_files.h"
#include "dolium/domain/mesh/mesh_source.h"
#include "dolium/domain/skeleton/skeleton_source.h"

namespace dolium {

struct ExportObjectsOptions {
  bool force = false;  // replace files
  size_t jobs = 0;
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

struct ExportObjectsReport {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t missing = 0;        // ids that are not there
  uint64_t damaged = 0;        // objects that could not be read
  uint64_t dropped_edges = 0;  // of loops, which SWC cannot hold
};

// The bytes of one file. nullopt if there is no such object. Errors name it.
Result<std::optional<ByteVector>> ExportMesh(const mesh::MeshSource& source, uint64_t id,
                                             mesh::MeshFile kind, int level);
// As SWC, in nanometres.
Result<std::optional<ByteVector>> ExportSkeleton(const skeleton::SkeletonSource& source,
                                                 uint64_t id,
                                                 uint64_t* dropped_edges = nullptr);

// Writes `ID.ENDING` for each id into a folder, which is made; each file appears whole.
// Ids that are not there, and objects that are damaged, are findings, and the others are
// written. kExists, unless `force`, if a file is there.
Result<ExportObjectsReport> ExportMeshes(const mesh::MeshSource& source,
                                         std::span<const uint64_t> ids,
                                         const Location& folder, mesh::MeshFile kind,
                                         int level, const ExportObjectsOptions& options,
                                         const FindingVisitor& visitor);
Result<ExportObjectsReport> ExportSkeletons(const skeleton::SkeletonSource& source,
                                            std::span<const uint64_t> ids,
                                            const Location& folder,
                                            const ExportObjectsOptions& options,
                                            const FindingVisitor& visitor);

// The ids in a text: one after another, between blanks, commas or ends of lines. What
// follows `#` on a line is a comment. kInvalidArgument for what is no uint64.
Result<std::vector<uint64_t>> ParseIds(std::string_view text);

// How much larger a transform makes things, whatever it does to their shape.
double ScaleOf(const objects::Transform& transform);

}  // namespace dolium
