#include "dolium/domain/volume/arrays/axes.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dolium::volume {
namespace {

constexpr std::string_view kLetters = "xyzc";
constexpr uint64_t kLimit = INT64_MAX;

Result<void> CheckLetters(std::string_view axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (kLetters.find(axes[i]) == std::string_view::npos || axes.find(axes[i]) != i) {
      return InvalidArgument(
          fmt::format("axes \"{}\" are not distinct letters of x, y, z, c", axes));
    }
  }
  if (axes.find('x') == std::string_view::npos ||
      axes.find('y') == std::string_view::npos) {
    return InvalidArgument(fmt::format("axes \"{}\" lack x or y", axes));
  }
  return {};
}

Result<void> CheckAxes(std::string_view axes, size_t dimensions) {
  DOLIUM_TRY_VOID(CheckLetters(axes));
  if (axes.size() != dimensions) {
    return InvalidArgument(
        fmt::format("axes \"{}\" name {} dimensions, and the array has {}", axes,
                    axes.size(), dimensions));
  }
  return {};
}

}  // namespace

Result<AxisMap> MapAxes(const std::optional<std::string>& axes,
                        std::span<const uint64_t> sizes, NumberType type) {
  if (sizes.size() < 2 || sizes.size() > kLetters.size()) {
    return Unsupported(
        fmt::format("the array has {} dimensions, not 2, 3 or 4", sizes.size()));
  }
  const std::string names = axes.value_or(std::string(kLetters.substr(0, sizes.size())));
  DOLIUM_TRY_VOID(CheckAxes(names, sizes.size()));

  AxisMap map;
  map.shape.type = type;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > kLimit) {
      return Corrupt(
          fmt::format("an array of {} voxels is too big", fmt::join(sizes, ",")));
    }
    const size_t axis = kLetters.find(names[i]);
    map.dimension[axis] = i;
    const int64_t size = static_cast<int64_t>(sizes[i]);
    (axis == kChannelAxis ? map.shape.channels : map.shape.size[axis]) = size;
  }
  DOLIUM_TRY_VOID(CheckShape(map.shape));
  return map;
}

Result<FileAxes> OrderAxes(const std::optional<std::string>& axes,
                           const ArrayShape& shape, bool c_order) {
  const std::array<int64_t, 4> extents = {shape.size[0], shape.size[1], shape.size[2],
                                          shape.channels};
  const std::string names = axes.value_or(shape.channels > 1 ? "xyzc" : "xyz");
  DOLIUM_TRY_VOID(CheckLetters(names));
  FileAxes out;
  std::string order = c_order ? std::string(names.rbegin(), names.rend()) : names;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (names.find(kLetters[axis]) != std::string::npos) continue;
    if (extents[axis] != 1) {
      return InvalidArgument(fmt::format("axes \"{}\" lack {}, of which there are {}",
                                         names, kLetters[axis], extents[axis]));
    }
    order += kLetters[axis];
  }
  for (const char name : names) {
    out.sizes.push_back(static_cast<uint64_t>(extents[kLetters.find(name)]));
  }
  std::ranges::transform(order, out.by_speed.begin(),
                         [](char name) { return kLetters.find(name); });
  return out;
}

std::array<int64_t, 4> DenseStrides(const AxisMap& map, std::span<const uint64_t> sizes,
                                    bool c_order) {
  std::array<int64_t, 4> strides = {0, 0, 0, 0};
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    if (!map.dimension[axis]) continue;
    const size_t dimension = *map.dimension[axis];
    const auto faster =
        c_order ? sizes.subspan(dimension + 1) : sizes.subspan(0, dimension);
    strides[axis] = static_cast<int64_t>(SizeOf(map.shape.type));
    for (const uint64_t size : faster) strides[axis] *= static_cast<int64_t>(size);
  }
  return strides;
}

}  // namespace dolium::volume
