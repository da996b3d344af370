// verify, for volumes: every scale's index, and every chunk down to its voxels.
#pragma once

#include "dolium/base/result.h"
#include "dolium/container/format.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/verify.h"

namespace dolium {

// Checks the info, then each scale as Verify() does, and that each chunk belongs to a
// cell of the grid and, if it is read, decodes to its shape. With `report_missing`, cells
// without a chunk are warnings: the first thousand of a scale one by one. What cannot be
// listed (chunks in files behind a server) is asked for cell by cell. The reports of all
// scales are added up.
Result<VerifyReport> VerifyVolume(Formats formats, const volume::Volume& volume,
                                  const VerifyOptions& options,
                                  const FindingVisitor& visitor);

// The same for a DVID export, which is a container: Verify(), and where it has a
// spec.json, what does not go together with that. `exported` is how it is read.
Result<VerifyReport> VerifyExport(const Container& container,
                                  const volume::DvidReadOptions& exported,
                                  const VerifyOptions& options,
                                  const FindingVisitor& visitor);

}  // namespace dolium
