// Making the coarser scales of a volume again, from the one that they stand for.
//
// New data are written to folders of their own (kRebuildName), stored as those that they
// are to replace. When all are complete, each takes the place of the old folder, by an
// exchange of the two names where the file system can: a reader finds the old data or the
// new ones at every moment. The info stays as it is.
#pragma once

#include <cstddef>
#include <functional>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/volume/downsample/downsample.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/volume/volume_job.h"

namespace dolium::volume {

// The job for the scales listed after `from`, each made of the nearest one before it that
// it stands for by whole factors; without stages if there are none. The factor of `spec`
// does not count. kUnsupported if a scale follows from none of them, or if its folder
// cannot be replaced.
Result<VolumeJob> MakeRebuildJob(const Volume& volume, size_t from,
                                 const DownsampleSpec& spec);

struct ScaleSwapOptions {
  bool exchange = true;              // false: does without that ability
  std::function<void()> after_step;  // for tests: called after each change
};

// Puts what such a job has made in its place and removes the old data. May be repeated,
// also after having been killed at any point. kConflict if the volume no longer lists a
// scale as it was when the job began.
Result<void> SwapRebuiltScales(const VolumeJob& job, const Location& volume,
                               const ScaleSwapOptions& options = {});

}  // namespace dolium::volume
