// The state of what jobs on volumes read (job/source_state.h).
#pragma once

#include <span>
#include <string>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/writer.h"
#include "dolium/domain/volume/dvid/dvid_export.h"
#include "dolium/ops/volume/volume_job.h"

namespace dolium::volume {

// That of some scales of a volume, with its info.
Result<std::string> FindVolumeState(const Location& location,
                                    const DvidReadOptions& exported,
                                    std::span<const size_t> scales,
                                    const WriterOptions& options);

// That of one scale, whatever else the volume has: others may add scales and meshes
// meanwhile.
Result<std::string> FindScaleState(const Location& location,
                                   const DvidReadOptions& exported, size_t scale,
                                   const WriterOptions& options);

// That of an array, of scales of another volume, or of the scale that the first one is
// made from. What the job makes itself follows from it.
Result<std::string> FindSourceState(const VolumeJob& job, const WriterOptions& options);

}  // namespace dolium::volume
