// Functions on arrays alone: encodings of chunks, downsampling.
#include <array>
#include <cstdint>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include "dolium/domain/volume/downsample/downsample.h"
#include "dolium/domain/volume/encodings/encoding.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/volume_requests.h"
#include "python/src/voxel_buffer.h"

namespace dolium::python {
namespace {

using volume::ArrayShape;
using volume::EncodingSpec;

using Shape = std::array<int64_t, 4>;  // x, y, z, channel

ArrayShape ShapeOf(const Shape& shape, const std::string& type) {
  const ArrayShape out{{shape[0], shape[1], shape[2]}, shape[3], DataTypeNamed(type)};
  for (const int64_t extent : shape) {
    if (extent < 1) throw nb::value_error("an array without voxels");
  }
  if (!out.bytes()) throw nb::value_error("an array that is too large");
  return out;
}

EncodingSpec SpecOf(const nb::dict& options, const ArrayShape& shape) {
  const EncodingSpec spec = StorageOf(options).encoding.value_or(EncodingSpec{});
  Must(CheckEncodable(spec, shape.type, shape.channels));
  return spec;
}

// `array` has Fortran order.
BytesView DenseBytes(const BorrowedArray& array, const ArrayShape& shape) {
  const volume::VoxelView view = array.view();
  const volume::Strides dense = volume::DenseStrides(shape);
  const Shape extents = {shape.size[0], shape.size[1], shape.size[2], shape.channels};
  for (size_t d = 0; d < extents.size(); ++d) {
    // Where there is but one, the step to the next means nothing.
    if (extents[d] > 1 && view.strides[d] != dense[d]) {
      throw nb::value_error("the array is not in Fortran order");
    }
  }
  return {view.data, static_cast<size_t>(*shape.bytes())};
}

MutableBytes DenseBytesToFill(const BorrowedArray& array, const ArrayShape& shape) {
  const BytesView bytes = DenseBytes(array, shape);
  return {array.mutable_view().data, bytes.size()};
}

nb::bytes EncodeChunk(nb::handle array, const Shape& extents, const std::string& type,
                      const nb::dict& options) {
  const ArrayShape shape = ShapeOf(extents, type);
  const EncodingSpec spec = SpecOf(options, shape);
  const BorrowedArray borrowed(array, shape, BorrowedArray::Use::kRead);
  const BytesView voxels = DenseBytes(borrowed, shape);
  Result<ByteVector> encoded = ByteVector();
  {
    const nb::gil_scoped_release release;
    encoded = volume::EncodeVoxels(spec, shape, voxels);
  }
  return CopyToPython(Must(std::move(encoded)));
}

void DecodeChunk(nb::handle data, nb::handle array, const Shape& extents,
                 const std::string& type, const nb::dict& options) {
  const ArrayShape shape = ShapeOf(extents, type);
  const EncodingSpec spec = SpecOf(options, shape);
  const BorrowedBytes stored(data);
  const BorrowedArray borrowed(array, shape, BorrowedArray::Use::kWrite);
  const MutableBytes voxels = DenseBytesToFill(borrowed, shape);
  Result<void> decoded;
  {
    const nb::gil_scoped_release release;
    decoded = volume::DecodeVoxels(spec, shape, stored.view(), voxels);
  }
  Must(decoded);
}

void DownsampleArray(nb::handle array, const Shape& extents, const std::string& type,
                     nb::handle out, const std::array<int64_t, 3>& factor,
                     const std::string& method, bool ignore_zero) {
  const ArrayShape shape = ShapeOf(extents, type);
  const auto known = volume::ParseDownsampleMethod(method);
  if (!known) throw nb::value_error("method: expected average, mode or stride");
  for (const int64_t side : factor) {
    if (side < 1 || side > volume::kMaxDownsampleFactor) {
      throw nb::value_error("factor: expected numbers from 1 to 8");
    }
  }
  const volume::DownsampleSpec spec{factor, *known, ignore_zero};
  const ArrayShape smaller = volume::Downsampled(shape, factor);
  const BorrowedArray from(array, shape, BorrowedArray::Use::kRead);
  const BorrowedArray to(out, smaller, BorrowedArray::Use::kWrite);
  const BytesView voxels = DenseBytes(from, shape);
  const MutableBytes place = DenseBytesToFill(to, smaller);
  const nb::gil_scoped_release release;
  volume::Downsample(spec, shape, voxels, place);
}

}  // namespace

void BindVoxelFunctions(nb::module_& module) {
  module.def("encode_chunk", EncodeChunk, nb::arg("array"), nb::arg("shape"),
             nb::arg("data_type"), nb::arg("options"),
             "Encodes an array of four dimensions in Fortran order.");
  module.def("decode_chunk", DecodeChunk, nb::arg("data"), nb::arg("array"),
             nb::arg("shape"), nb::arg("data_type"), nb::arg("options"),
             "Fills an array of four dimensions in Fortran order.");
  module.def("downsample_array", DownsampleArray, nb::arg("array"), nb::arg("shape"),
             nb::arg("data_type"), nb::arg("out"), nb::arg("factor"), nb::arg("method"),
             nb::arg("ignore_zero"),
             "Fills `out`, of which each voxel is a block of `array`.");
}

}  // namespace dolium::python
