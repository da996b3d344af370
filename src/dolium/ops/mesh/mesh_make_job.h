// The kind of job that makes meshes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/volume/dvid/dvid_export.h"
#include "dolium/domain/volume/voxels.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/job_record.h"
#include "dolium/ops/job/plan_folder.h"

namespace dolium::mesh {

inline constexpr std::string_view kMeshMakeKind = "mesh-make";

// All that a part needs to know: the parameters of the record.
struct MeshMakeJob {
  std::string source;  // location
  volume::DvidReadOptions exported = {};
  size_t scale = 0;
  double error = 0;
  unsigned levels = 1;
  unsigned bits = 16;
  bool open = false;
  uint64_t min_voxels = 0;
  uint64_t segments = 0;  // a hash of those wanted, which are in the job's folder; 0: all
  volume::Vec3 block = {256, 256, 256};  // cells of a block
  volume::Vec3 cell = {128, 128, 128};   // voxels of a cell of the finest level
  unsigned group_bits = 0;               // 2^that groups of labels; of shards if sharded
  std::optional<neuroglancer::ShardingSpec> sharding = std::nullopt;
  std::string volume = {};  // location of that whose info is to name the folder; or none
  std::string key = {};     // by which it names it
};

Result<std::string> ToText(const MeshMakeJob& job);
// kCorrupt if it is none.
Result<MeshMakeJob> ParseMeshMakeJob(std::string_view text);

// The labels that are wanted, in the folder of a job: ascending.
Result<void> WriteSegments(const PlanFolder& folder,
                           const std::vector<uint64_t>& segments);

// kUnsupported if the volume has no labels; kInvalidArgument if it has no such scale, or
// more blocks than there are numbers.
Result<void> CheckMeshSource(const MeshMakeJob& job);
Result<std::string> FindMeshSourceState(const MeshMakeJob& job,
                                        const WriterOptions& options);
// kExists if a folder has something else than meshes in it.
Result<void> CheckMeshReplaceable(const Location& folder);

// Of the row in the table of kinds.
Result<std::unique_ptr<Job>> OpenMeshMakeJob(Formats formats, const Location& folder,
                                             const JobRecord& record);
Result<void> CheckMeshMakeReplaceable(Formats formats, const JobRecord& record,
                                      const Location& folder);

}  // namespace dolium::mesh
