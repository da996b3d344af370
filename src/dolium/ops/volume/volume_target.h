// The folder that a volume is written to: what is there, and whether it may be replaced.
#pragma once

#include <optional>
#include <string_view>

#include "dolium/base/error.h"
#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/volume/volume_job.h"

namespace dolium::volume {

// The job whose marker is in `home`; nullopt if there is none that we understand.
Result<std::optional<VolumeJob>> JobAt(const Location& home);

// kExists if the folder holds anything that is not part of a volume and would be lost
// with it.
Result<void> CheckVolumeReplaceable(const Location& folder);

// The error for a folder that has another job.
Error JobUnderWay(const Location& home);

// Decides where a new volume is built: in its folder, or (`force`) beside the one that it
// replaces, which the job is then told. Nullopt if an equal job was killed when it had
// put the volume in its place, and nothing is left to do. kExists if something is there
// and not `force`.
Result<std::optional<Location>> ChooseHome(const Location& target, bool force,
                                           VolumeJob& job);

// Notes in a volume that is complete, and waits to take the place of another, which job
// made it: in the bookkeeping, which readers pass over. So a rerun of a job that is
// killed between the removal of the marker and the end of the swap does not begin anew.
Result<void> RecordComplete(const Location& home, const VolumeJob& job);

// After a swap: removes what was replaced, then that record.
Result<void> TidyUpSwap(const SwapFolders& folders);

// Removes the scales that downsamplings of a volume left unfinished, but for those of a
// job with this request. kUnsupported unless the volume is a local folder.
Result<void> DropUnfinishedScales(const Location& volume, const VolumeInfo& info,
                                  std::string_view except);

}  // namespace dolium::volume
