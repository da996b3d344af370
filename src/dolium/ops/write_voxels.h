// convert to what holds voxels: volumes and DVID exports.
//
// They are not made of entries but of voxels, so that the source must be a volume or an
// export; `source_spec` of a request is then the export's, and with `skip_damaged` what
// is whole is taken out of damaged shards. Both are jobs, as all conversions are. They
// are rows as formats are, with what can be chosen of them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/ops/convert.h"

namespace dolium {

// A parameter that means nothing beside another one, or beside one value of that.
struct VoxelExclusion {
  std::string_view name;
  std::string_view other;
  std::string_view value = {};  // empty: any
};

struct VoxelTarget {
  std::string_view format;
  std::string_view made;                  // "a volume"
  std::string_view about;                 // what a source becomes, in sentences
  std::span<const Parameter> parameters;  // of its format, if that is a row
  std::span<const VoxelExclusion> exclusions;
  std::string_view entry;  // what its entries are called
  Result<OpenJob> (*begin)(const ConvertRequest& request, const RunOptions& options,
                           const FindingVisitor& visitor);
  // How many scales the job writes; nullptr: it is not counted in scales.
  Result<size_t> (*count_scales)(const OpenJob& job) = nullptr;
};

std::span<const VoxelTarget> VoxelTargets();

// nullptr if a format is made of entries.
const VoxelTarget* FindVoxelTarget(std::string_view format);

// What can be chosen besides, and of which targets: their names, separated by spaces. A
// choice without choices is any text, and one that shows no value is a flag.
struct VoxelParameter {
  Parameter parameter;
  std::string_view targets;
};
std::span<const VoxelParameter> VoxelParameters();

// The first exclusion of a target that the parameters of a request contradict; nullptr if
// there is none.
const VoxelExclusion* FindExclusion(const VoxelTarget& target,
                                    const std::map<std::string, std::string>& parameters);
// What the voxels of a conversion are: "labels" or "supervoxels".
std::string_view LabelsOf(const std::map<std::string, std::string>& parameters);

}  // namespace dolium
