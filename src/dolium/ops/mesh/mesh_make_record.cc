// The record of a job that makes meshes, and what it may replace.
#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/domain/mesh/making/cell_file.h"
#include "dolium/domain/mesh/making/label_cells.h"
#include "dolium/domain/mesh/multires_manifest.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/mesh/mesh_make_job.h"
#include "dolium/ops/volume/volume_job.h"
#include "dolium/ops/volume/volume_source.h"

namespace dolium::mesh {
namespace {

using nlohmann::json;

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Of what dolium and others write into a folder of meshes.
bool IsMeshFile(std::string_view name) {
  if (name == "info") return true;
  name.remove_suffix(volume::FormOf(name).suffix.size());
  if (name.ends_with(".shard")) {
    return name.find_first_not_of("0123456789abcdef") == name.size() - 6;
  }
  if (name.ends_with(".index")) name.remove_suffix(6);
  // Legacy: `ID:0` and fragments of it.
  return IsNumber(name.substr(0, name.find(':')));
}

Result<void> CheckMeshJob(const MeshMakeJob& job) {
  uint64_t cells = 1;
  for (size_t d = 0; d < 3; ++d) {
    const bool is_good = job.block[d] > 0 && job.cell[d] > 0 &&
                         job.block[d] < static_cast<int64_t>(kMaxBlockCells) &&
                         job.cell[d] < static_cast<int64_t>(kMaxBlockCells);
    if (!is_good) return Corrupt("not a job of meshes: its blocks are none");
    // The first block has one cell more.
    cells *= static_cast<uint64_t>(job.block[d] + 1);
    if (cells >= kMaxBlockCells) {
      return Corrupt("not a job of meshes: its blocks are too large");
    }
  }
  const bool is_good = (job.bits == 10 || job.bits == 16) && std::isfinite(job.error) &&
                       job.error >= 0 && job.levels >= 1 && job.levels <= kMaxLevels &&
                       uint64_t{1} << std::min(job.group_bits, 63U) <= kMaxCellGroups;
  if (!is_good) return Corrupt("not a job of meshes: a number is out of its range");
  if (!job.sharding) return {};
  DOLIUM_TRY_VOID(job.sharding->Validate());
  if (job.sharding->shard_bits != job.group_bits) {
    return Corrupt("not a job of meshes: its shards are no groups");
  }
  return {};
}

}  // namespace

Result<std::string> ToText(const MeshMakeJob& job) {
  return DumpJob({{"source", job.source},
                  {"export", volume::ToText(job.exported)},
                  {"scale", job.scale},
                  {"error", job.error},
                  {"levels", job.levels},
                  {"bits", job.bits},
                  {"open", job.open},
                  {"min_voxels", job.min_voxels},
                  {"segments", job.segments},
                  {"block", job.block},
                  {"cell", job.cell},
                  {"group_bits", job.group_bits},
                  {"sharding", job.sharding ? ToJson(*job.sharding) : json(nullptr)},
                  {"volume", job.volume},
                  {"key", job.key}});
}

Result<MeshMakeJob> ParseMeshMakeJob(std::string_view text) {
  return ParseJob(text, "a job of meshes", [](const json& value) -> Result<MeshMakeJob> {
    MeshMakeJob job;
    value.at("source").get_to(job.source);
    DOLIUM_TRY(job.exported,
               volume::ParseDvidReadOptions(value.at("export").get<std::string>()));
    value.at("scale").get_to(job.scale);
    value.at("error").get_to(job.error);
    value.at("levels").get_to(job.levels);
    value.at("bits").get_to(job.bits);
    value.at("open").get_to(job.open);
    value.at("min_voxels").get_to(job.min_voxels);
    value.at("segments").get_to(job.segments);
    value.at("block").get_to(job.block);
    value.at("cell").get_to(job.cell);
    value.at("group_bits").get_to(job.group_bits);
    if (!value.at("sharding").is_null()) {
      DOLIUM_TRY(job.sharding, neuroglancer::ParseSharding(value.at("sharding")));
    }
    value.at("volume").get_to(job.volume);
    value.at("key").get_to(job.key);
    DOLIUM_TRY_VOID(CheckMeshJob(job));
    return job;
  });
}

Result<std::string> FindMeshSourceState(const MeshMakeJob& job,
                                        const WriterOptions& options) {
  DOLIUM_TRY(const Location source, ParseLocation(job.source));
  return volume::FindScaleState(source, job.exported, job.scale, options);
}

Result<void> CheckMeshReplaceable(const Location& folder) {
  DOLIUM_TRY(const auto foreign, FindForeign(folder, IsMeshFile));
  if (!foreign) return {};
  return Exists(
      fmt::format("{}: holds \"{}\", which is not part of a folder of meshes; "
                  "move it away",
                  folder.Describe(), *foreign));
}

Result<void> CheckMeshMakeReplaceable(Formats /*formats*/, const JobRecord& /*record*/,
                                      const Location& folder) {
  return CheckMeshReplaceable(folder);
}

}  // namespace dolium::mesh
