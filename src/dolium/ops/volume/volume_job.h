// VolumeJob: all that the parts of a job on a volume need to know, as text (JSON).
//
// It is part of the job's record (job_record.h), so it is read like any other input. A
// job writes whole scales, one stage for each; stages depend on those before them, parts
// of a stage on nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/volume/arrays/array_source.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/domain/volume/downsample/downsample.h"
#include "dolium/domain/volume/dvid/dvid_export.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/ops/volume/volume_parts.h"

namespace dolium::volume {

// A file that people have, and what it was like when the job was planned.
struct ArrayInput {
  ArraySourceRequest request;
  std::string fingerprint;
};

// A finer scale of the same volume.
struct FinerInput {
  size_t scale = 0;
  DownsampleSpec spec;
};

// The same voxels in another volume.
struct VolumeInput {
  std::string location;
  std::string info;  // its text when the job was planned
  size_t scale = 0;
  bool may_copy = false;  // chunks need not be encoded again
  // How to read it, if it is a DVID export.
  std::optional<DvidReadOptions> exported = std::nullopt;
};

using StageInput = std::variant<ArrayInput, FinerInput, VolumeInput>;

struct Stage {
  size_t scale = 0;  // that is written
  StageInput input;
  PartLayout layout = PartLayout::kShards;
  Wrapper wrapper = Wrapper::kNone;  // without shards: what is around a chunk
  std::string replaces = {};  // the key of the scale whose data it is to be; empty: none
};

// A folder of another volume that becomes one of the new volume, file by file.
struct FolderCopy {
  std::string from;  // location
  std::string key;   // its path in the new volume
};

struct VolumeJob {
  std::string volume;         // location of the folder of the info
  VolumeInfo info;            // with the scales that the job writes
  bool adds = false;          // to a volume that is there; else the volume is new
  bool skip_damaged = false;  // leave out chunks of the source that are damaged
  std::vector<Stage> stages;  // none: a new volume without voxels
  std::vector<FolderCopy> copies = {};  // of a new volume

  // Whether it makes scales that are there again.
  bool rebuilds() const { return !stages.empty() && !stages.front().replaces.empty(); }
};

// As JSON text.
std::string ToText(const DvidReadOptions& options);
Result<DvidReadOptions> ParseDvidReadOptions(std::string_view text);
Result<std::string> ToText(const StageInput& input);

Result<std::string> ToText(const VolumeJob& job);
// kCorrupt if it is no job.
Result<VolumeJob> ParseVolumeJob(std::string_view text);

// The folder, in that of a volume, in which scales are made again, one after the other:
// none of their names is that of a scale, so that they are in nobody's way.
inline constexpr std::string_view kRebuildName = ".dolium-rebuild";

// The folder that carries the marker: the volume's own if that is new, that in which
// scales are made again, or that of the first scale that is added.
Result<Location> JobFolderOf(const VolumeJob& job);

// The cells of a part, as its task names them.
std::string CellsText(const Box& cells);
Result<Box> ParseCells(std::string_view text);

}  // namespace dolium::volume
