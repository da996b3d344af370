// convert to what holds voxels: volumes and DVID exports.
//
// They are not made of entries but of voxels, so that the source must be a volume or an
// export; `source_spec` of a request is then the export's, and with `skip_damaged` what
// is whole is taken out of damaged shards. Both are jobs, as all conversions are. They
// are rows as formats are, with what can be chosen of them.
#pragma once

#include <span>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/ops/convert.h"

namespace dolium {

struct VoxelTarget {
  std::string_view format;
  std::span<const Parameter> parameters;  // of its format, if that is a row
  std::string_view entry;                 // what its entries are called
  Result<OpenJob> (*begin)(const ConvertRequest& request, const RunOptions& options,
                           const FindingVisitor& visitor);
  // How many scales the job writes; nullptr: it is not counted in scales.
  Result<size_t> (*count_scales)(const OpenJob& job) = nullptr;
};

// nullptr if a format is made of entries.
const VoxelTarget* FindVoxelTarget(std::string_view format);

// What can be chosen besides, and of which targets: their names, separated by spaces. A
// choice without choices is any text, and one that shows no value is a flag.
struct VoxelParameter {
  Parameter parameter;
  std::string_view targets;
};
std::span<const VoxelParameter> VoxelParameters();

}  // namespace dolium
