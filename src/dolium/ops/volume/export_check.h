// A look through a DVID export before anything is made of it.
#pragma once

#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/job/job.h"

namespace dolium::volume {

// Opens every shard of a volume that is an export; with salvage, also reads every block.
// `visitor`, which may be empty, gets what there is to warn of and what is damaged.
// kCorrupt if shards are: then nothing is to be made of them. Returns the blocks that
// salvage leaves out, as warnings.
Result<std::vector<Finding>> CheckExportToRead(const Volume& volume,
                                               const WriterOptions& options,
                                               const FindingVisitor& visitor);

}  // namespace dolium::volume
