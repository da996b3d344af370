#include "dolium/domain/volume/arrays/number_array.h"

#include <optional>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"

namespace dolium::volume {

Result<void> CheckShape(const NumberShape& shape) {
  std::optional<uint64_t> bytes = SizeOf(shape.type);
  for (const int64_t size :
       {shape.size[0], shape.size[1], shape.size[2], shape.channels}) {
    if (size < 1) return Corrupt("the array is empty");
    bytes = CheckedMul(*bytes, static_cast<uint64_t>(size));
    if (!bytes || *bytes > INT64_MAX) {
      return Corrupt(fmt::format("an array of {} voxels and {} channels of {} is too big",
                                 ToString(shape.size), shape.channels,
                                 ToString(shape.type)));
    }
  }
  return {};
}

}  // namespace dolium::volume
