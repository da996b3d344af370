// The folder that a volume is written to: what is there, and what may be dropped.
#pragma once

#include <optional>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/ops/job/job_record.h"
#include "dolium/ops/volume/volume_job.h"

namespace dolium::volume {

// A job on a volume, and its record.
struct FoundVolumeJob {
  JobRecord record;
  VolumeJob job;
};

// The one whose marker is in `job_folder`; nullopt if there is none that we understand.
Result<std::optional<FoundVolumeJob>> JobAt(const Location& job_folder);

// Whether the key of a scale is that of a folder in the volume's own.
bool IsFolderOfVolume(std::string_view key);

// kUnsupported if the folder of a scale cannot be removed or replaced as a whole: if it
// is a link, lies outside of the volume, or has another part of the volume.
Result<void> CheckOwnFolder(const Volume& volume, size_t index);

// Whether a file of this name can be a chunk or a shard of the scale.
bool IsOfScale(const ScaleInfo& scale, std::string_view name);

// kExists if the folder holds anything that is not part of a volume and would be lost
// with it: by default, anything but its scales. An absent folder holds nothing.
Result<void> CheckVolumeReplaceable(const Location& folder, bool with_all_parts = false);

// Removes the scales that downsamplings of a volume left unfinished, but for those of a
// job with this request and this state of its source. kUnsupported unless the volume is a
// local folder.
Result<void> DropUnfinishedScales(const Location& volume, const VolumeInfo& info,
                                  std::string_view request, std::string_view source);

}  // namespace dolium::volume
