// What the options of `dolium volume` say, in the words of the library.
//
// All errors are kInvalidArgument and name the option, but for files that cannot be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium::cli {

// Three whole numbers, none less than `least`, as in 64,64,64.
Result<std::optional<volume::Vec3>> VectorOption(const Arguments& arguments,
                                                 std::string_view option, int64_t least);

// --resolution.
Result<volume::Resolution> ResolutionOption(const Arguments& arguments);

// --shape: two to four whole numbers.
Result<std::vector<int64_t>> ShapeOption(const Arguments& arguments);

// --chunk-size, --encoding with what belongs to it, --shard-size, --to-spec, --gzip.
// Leaves `sharded` as it is.
Result<volume::StorageRequest> StorageOptions(const Context& context);

// Whether there are to be shards; nullopt: not said.
Result<std::optional<bool>> ShardedOption(const Arguments& arguments);

// --scales (in all), --factor, --method, --ignore-zero.
Result<volume::PyramidRequest> PyramidOptions(const Arguments& arguments);

// Three numbers as in 16,16,40, or one; nullopt if the text is none.
std::optional<volume::Resolution> ParseResolution(std::string_view text);
std::optional<uint64_t> ParseWholeNumber(std::string_view text);

// The scales of --scale: numbers as in 0,2; none if it is not given.
Result<std::vector<size_t>> ScaleListOption(const Arguments& arguments);

// The one scale of --scale: its number, or its resolution as in 16,16,40; nullopt if it
// is not given.
Result<std::optional<size_t>> ScaleOption(const Arguments& arguments,
                                          const volume::VolumeInfo& info);

// The box of --box, which must lie in the bounds: x0:x1,y0:y1,z0:z1; where a number is
// left out, or the option, the bounds' own.
Result<volume::Box> BoxOption(const Arguments& arguments, const volume::Box& bounds);

// "8,8,32.5".
std::string ToText(const volume::Resolution& resolution);

}  // namespace dolium::cli
