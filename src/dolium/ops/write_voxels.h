// convert to what holds voxels: volumes and DVID exports.
//
// They are not made of entries but of voxels, so that the source must be a volume or an
// export. Both are jobs, as all conversions are. Parameters of the request:
//
//   of both, for a source that is an export   supervoxels ("true"), spec (its text),
//                                             resolution ("8,8,40"), coordinates, salvage
//   of volumes                                shard-size, downsample (scales to add)
//   of exports                                layout, csv, shard-side
#pragma once

#include <string_view>

#include "dolium/base/result.h"
#include "dolium/ops/convert.h"

namespace dolium {

struct VoxelTarget {
  std::string_view format;
  Result<Plan> (*plan)(const ConvertRequest& request, const RunOptions& options);
  Result<ConvertReport> (*convert)(const ConvertRequest& request,
                                   const RunOptions& options);
};

// nullptr if a format is made of entries.
const VoxelTarget* FindVoxelTarget(std::string_view format);

}  // namespace dolium
