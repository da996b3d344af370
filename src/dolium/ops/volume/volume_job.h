// VolumeJob: all that the tasks of a volume plan need to know, as text (JSON).
//
// It is the marker's text while the job is under way, so it is read like any other input.
// A job writes whole scales, one stage for each; stages depend on those before them,
// parts of a stage on nothing else.
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
  bool may_copy = false;  // chunks need not be encoded anew
  // How to read it, if it is an export of DVID.
  std::optional<DvidReadOptions> exported = std::nullopt;
};

using StageInput = std::variant<ArrayInput, FinerInput, VolumeInput>;

struct Stage {
  size_t scale = 0;  // that is written
  StageInput input;
  PartLayout layout = PartLayout::kShards;
};

struct VolumeJob {
  std::string request;   // what was asked for: a rerun that asks the same resumes the job
  std::string volume;    // location of the folder of the info
  VolumeInfo info;       // with the scales that the job writes
  bool adds = false;     // to a volume that is there; else the volume is new
  std::string replaces;  // name of the folder that the finished volume takes the place of
  bool gzip_files = false;
  std::vector<Stage> stages;
};

// As JSON text.
std::string ToText(const DvidReadOptions& options);
Result<std::string> ToText(const StageInput& input);

Result<std::string> ToText(const VolumeJob& job);
// kCorrupt if it is no job, kUnsupported if it is one of another version.
Result<VolumeJob> ParseVolumeJob(std::string_view text);

// Whether what both jobs read is, as far as they noted it, in the same state. For jobs of
// the same request.
bool HaveSameSource(const VolumeJob& a, const VolumeJob& b);

// A short text that tells one job from another.
Result<std::string> IdOf(const VolumeJob& job);

// The folder that carries the marker: the volume's own if that is new, else that of the
// first scale that is added.
Result<Location> HomeOf(const VolumeJob& job);

// A task: a part of the job in a folder.
struct VolumeTask {
  std::string home;
  std::string job;    // IdOf()
  uint64_t part = 0;  // its number, counted on from stage to stage
  size_t stage = 0;
  Box cells;
};
Result<std::string> ToText(const VolumeTask& task);
Result<VolumeTask> ParseVolumeTask(std::string_view text);
// Whether a task's text is that of a volume task.
bool IsVolumeTask(std::string_view text);

}  // namespace dolium::volume
