#include "dolium/domain/volume/arrays/strided_array.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dolium/base/checked_math.h"
#include "dolium/domain/volume/arrays/axes.h"
#include "dolium/domain/volume/arrays/npy_header.h"
#include "dolium/domain/volume/arrays/strided.h"

namespace dolium::volume {
namespace {

// Where the array ends in the file. Precondition: CheckShape() holds.
uint64_t EndOf(const NumberShape& shape, uint64_t offset) {
  uint64_t bytes = SizeOf(shape.type) * static_cast<uint64_t>(shape.channels);
  for (const int64_t size : shape.size) bytes *= static_cast<uint64_t>(size);
  return CheckedAdd(offset, bytes).value_or(UINT64_MAX);
}

}  // namespace

Result<void> StridedArray::ReadNumbers(const Box& box, MutableBytes into) const {
  const Vec3 size = box.size();
  const size_t number_size = SizeOf(shape_.type);
  const auto to = DenseBoxStrides(number_size, size);
  StridedBox copy;
  uint64_t offset = layout_.offset;
  for (size_t i = 0; i < 3; ++i) {
    copy[i] = {size[i], layout_.strides[i], to[i]};
    offset += static_cast<uint64_t>(box.begin[i] * layout_.strides[i]);
  }
  copy[kChannelAxis] = {shape_.channels, layout_.strides[kChannelAxis], to[kChannelAxis]};
  return ReadStrided(file_, offset, {number_size, layout_.big_endian}, into.data(), copy);
}

std::string StridedArray::Fingerprint() const {
  return fmt::format("{} at {}, strides {}, {}-endian", file_.Mark(), layout_.offset,
                     fmt::join(layout_.strides, ","),
                     layout_.big_endian ? "big" : "little");
}

Result<std::unique_ptr<NumberArray>> OpenNpy(const std::string& path,
                                             const std::optional<std::string>& axes) {
  DOLIUM_TRY(InputFile file, InputFile::Open(path));
  ByteVector head(static_cast<size_t>(std::min<uint64_t>(file.size(), kNpyHeaderLimit)));
  DOLIUM_TRY_VOID(file.ReadAt(0, head));
  DOLIUM_TRY(const NpyHeader header, ParseNpyHeader(head));
  DOLIUM_TRY(const AxisMap map, MapAxes(axes, header.shape, header.type));
  const uint64_t end = EndOf(map.shape, header.data_offset);
  if (end > file.size()) {
    return Corrupt(fmt::format(
        "the file is {} bytes, and an array of shape ({}) and type {} ends at {}",
        file.size(), fmt::join(header.shape, ", "), ToString(header.type), end));
  }
  return std::make_unique<StridedArray>(
      std::move(file), map.shape,
      StridedLayout{header.data_offset,
                    DenseStrides(map, header.shape, !header.fortran_order),
                    header.big_endian});
}

Result<std::unique_ptr<NumberArray>> OpenRaw(const std::string& path,
                                             const RawLayout& layout,
                                             const std::optional<std::string>& axes) {
  std::vector<uint64_t> sizes;
  for (const int64_t size : layout.shape) {
    if (size < 1) {
      return InvalidArgument(
          fmt::format("the shape {} has a size below 1", fmt::join(layout.shape, ",")));
    }
    sizes.push_back(static_cast<uint64_t>(size));
  }
  DOLIUM_TRY(const AxisMap map, MapAxes(axes, sizes, layout.type));
  DOLIUM_TRY(InputFile file, InputFile::Open(path));
  const uint64_t offset = layout.offset.value_or(0);
  const uint64_t end = EndOf(map.shape, offset);
  if (end > file.size() || (!layout.offset && end != file.size())) {
    return InvalidArgument(fmt::format(
        "the file is {} bytes, and {} numbers of {} from byte {} on end at "
        "{}{}",
        file.size(), fmt::join(layout.shape, "x"), ToString(layout.type), offset, end,
        end < file.size() ? "; give an offset if the rest is not of the array" : ""));
  }
  return std::make_unique<StridedArray>(
      std::move(file), map.shape,
      StridedLayout{offset, DenseStrides(map, sizes, layout.c_order), layout.big_endian});
}

}  // namespace dolium::volume
