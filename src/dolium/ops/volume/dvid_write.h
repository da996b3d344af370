// Writing a DVID export from a segmentation: shards of blocks, scale by scale.
//
// A folder per scale, `s<n>` with the number that the scale has in the source, with a
// file for each cube of blocks that has one that is not zero; as DVID does it, or as the
// seed has it. From another export, rows are copied with both of their lists, after a
// look that they are well; from any other volume, labels and supervoxels are the same.
// `spec.json` keeps sizes and resolutions of all scales of the source. It is a job
// (job/job.h) with a part for each cube.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/domain/volume/dvid/dvid_export.h"
#include "dolium/formats/dvid/shard_writer.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/plan.h"

namespace dolium::volume {

struct DvidWriteRequest {
  std::string source;             // location of a volume
  DvidReadOptions exported = {};  // how to read it, if it is an export
  std::string target;             // location
  std::vector<size_t> scales;     // of the source; empty: all
  dvid::ShardLayout layout = dvid::ShardLayout::kStream;
  dvid::CsvForm csv = dvid::CsvForm::kDocumented;
  int64_t shard_side = 2048;  // voxels; a multiple of 64
  bool skip_damaged = false;  // leave out chunks of a volume that are damaged
  bool force = false;         // replace an export: build beside, then swap
};

// Begins the job, or finds what is left of it. kExists, unless `force`, if the target is
// there and does not carry the marker of the same request; with `force`, if it holds what
// is not part of an export. kUnsupported unless the volume has one channel of uint32 or
// uint64, at coordinates that are not negative. `visitor` gets warnings of what an export
// cannot hold of a volume (mesh, skeletons, ...), and what there is to say of a source
// that is an export itself before anything is written: warnings, and damage, which is
// kCorrupt then.
Result<OpenJob> BeginDvidWrite(const DvidWriteRequest& request,
                               const RunOptions& options = {},
                               const FindingVisitor& visitor = {});

Result<Plan> PlanDvidExport(const DvidWriteRequest& request,
                            const RunOptions& options = {},
                            const FindingVisitor& visitor = {});

// A part is a cube of `shard_side` voxels; one of zeros leaves no shard.
Result<JobReport> WriteDvidExport(const DvidWriteRequest& request,
                                  const RunOptions& options);

}  // namespace dolium::volume
