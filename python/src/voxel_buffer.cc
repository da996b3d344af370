#include "python/src/voxel_buffer.h"

#include <bit>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dolium::python {
namespace {

using volume::ArrayShape;
using volume::DataType;
using volume::Strides;

constexpr int kDimensions = 4;

// The numbers in a buffer are in the order of the machine, those of volumes
// little-endian.
static_assert(std::endian::native == std::endian::little);

// Whether a buffer's items, of the right size, are of this type.
bool IsFormatOf(std::string_view format, DataType type) {
  if (!format.empty() && std::string_view("@=^<").find(format[0]) != format.npos) {
    format.remove_prefix(1);
  }
  if (format.size() != 1) return false;
  std::string_view letters = "BHILQN";
  if (type == DataType::kFloat32) letters = "f";
  if (type == DataType::kInt8 || type == DataType::kInt16 || type == DataType::kInt32) {
    letters = "bhilqn";
  }
  return letters.find(format[0]) != letters.npos;
}

Strides StridesOf(const Py_buffer& buffer) {
  return {buffer.strides[0], buffer.strides[1], buffer.strides[2], buffer.strides[3]};
}

}  // namespace

BorrowedArray::BorrowedArray(nb::handle array, const ArrayShape& shape, Use use)
    : shape_(shape) {
  const int flags =
      PyBUF_STRIDES | PyBUF_FORMAT | (use == Use::kWrite ? PyBUF_WRITABLE : PyBUF_SIMPLE);
  if (PyObject_GetBuffer(array.ptr(), &buffer_, flags) != 0) throw nb::python_error();
  try {
    Check();
  } catch (...) {
    PyBuffer_Release(&buffer_);
    throw;
  }
}

void BorrowedArray::Check() const {
  const Py_buffer& buffer = buffer_;
  const std::string_view format = buffer.format == nullptr ? "B" : buffer.format;
  const bool fits =
      buffer.ndim == kDimensions &&
      static_cast<size_t>(buffer.itemsize) == SizeOf(shape_.type) &&
      IsFormatOf(format, shape_.type) && buffer.shape[0] == shape_.size[0] &&
      buffer.shape[1] == shape_.size[1] && buffer.shape[2] == shape_.size[2] &&
      buffer.shape[3] == shape_.channels;
  if (fits) return;
  const std::span found(buffer.shape, static_cast<size_t>(buffer.ndim));
  throw nb::value_error(
      fmt::format("found an array of shape ({}) and items of {} bytes ('{}'), expected "
                  "shape ({}, {}) of {}",
                  fmt::join(found, ", "), buffer.itemsize, format,
                  fmt::join(shape_.size, ", "), shape_.channels, ToString(shape_.type))
          .c_str());
}

volume::VoxelView BorrowedArray::view() const {
  return {static_cast<const std::byte*>(buffer_.buf), shape_, StridesOf(buffer_)};
}

volume::MutableVoxelView BorrowedArray::mutable_view() const {
  return {static_cast<std::byte*>(buffer_.buf), shape_, StridesOf(buffer_)};
}

}  // namespace dolium::python
