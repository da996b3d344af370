// The folder that a volume is written to: what is there, and whether it may be replaced.
#pragma once

#include <optional>

#include "dolium/base/error.h"
#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/ops/volume_job.h"

namespace dolium::volume {

// The job whose marker is in `home`; nullopt if there is none that we understand.
Result<std::optional<VolumeJob>> JobAt(const Location& home);

// kExists if the folder holds anything that is not part of a volume and would be lost
// with it.
Result<void> CheckVolumeReplaceable(const Location& folder);

// The error for a folder that has another job.
Error JobUnderWay(const Location& home);

// Decides where a new volume is built: in its folder, or (`force`) beside the one that it
// replaces, which the job is then told. kExists if something is there and not `force`.
Result<Location> ChooseHome(const Location& target, bool force, VolumeJob& job);

}  // namespace dolium::volume
