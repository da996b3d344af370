// Folders of meshes and skeletons from files of other programs, or from memory.
//
// A folder is made beside its place and swapped in when it is complete, so that nothing
// half made has its name.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/progress.h"
#include "dolium/container/writer.h"
#include "dolium/domain/mesh/files/mesh_files.h"
#include "dolium/domain/mesh/mesh_writer.h"
#include "dolium/domain/skeleton/skeleton_source.h"

namespace dolium {

enum class ObjectStorageKind : uint8_t { kFiles, kSharded, kLegacy };

struct NewObjectsOptions {
  ObjectStorageKind storage = ObjectStorageKind::kFiles;
  bool force = false;       // replace a folder of the same kind
  unsigned bits = 16;       // of positions of multi-resolution meshes: 10 or 16
  bool keep_types = false;  // of skeleton attributes; else all become float32
  // Names them in the info of the volume that the folder lies in, right or further up.
  bool register_in_volume = false;
  WriterOptions writer = {};
  ProgressFunction progress = {};
};

// Objects one after another, from one thread: nullopt after the last.
template <typename T>
using ObjectSupply = std::function<Result<std::optional<std::pair<uint64_t, T>>>()>;

// How many there are to come and about how large, as far as known: shards are chosen by
// it.
struct ExpectedObjects {
  uint64_t count = 0;
  uint64_t bytes = 0;
};

// Encodes in parallel, a few at a time. `info` says what the new one has besides what the
// options say: its positions are in units of the stored model. kExists, unless `force`,
// if the target is there; kInvalidArgument for an id that is 0 or there twice.
Result<WriteSummary> WriteMeshes(const Location& target, mesh::MultiresInfo info,
                                 const ExpectedObjects& expected,
                                 const ObjectSupply<mesh::Mesh>& supply,
                                 const NewObjectsOptions& options);
Result<WriteSummary> WriteSkeletons(const Location& target, skeleton::SkeletonInfo info,
                                    const ExpectedObjects& expected,
                                    const ObjectSupply<skeleton::Skeleton>& supply,
                                    const NewObjectsOptions& options);

// A file, whose base name without its ending is the id.
struct ObjectFile {
  std::string path;
  uint64_t id = 0;
};
// Those of a list of files, or of folders with such files, in order of id.
// kInvalidArgument for a name that is no id, and for an id that is there twice.
Result<std::vector<ObjectFile>> FindObjectFiles(const std::vector<std::string>& paths,
                                                std::string_view ending);

Result<WriteSummary> ImportMeshes(const std::vector<ObjectFile>& files,
                                  mesh::MeshFile kind, const Location& target,
                                  const NewObjectsOptions& options);
// From SWC.
Result<WriteSummary> ImportSkeletons(const std::vector<ObjectFile>& files,
                                     const Location& target,
                                     const NewObjectsOptions& options);

}  // namespace dolium
