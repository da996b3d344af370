// The header of a NumPy file of arbitrary bytes, and the axes of the array that it gives
// of.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

#include "dolium/domain/volume/arrays/axes.h"
#include "dolium/domain/volume/arrays/npy_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto header =
      dolium::volume::ParseNpyHeader(std::as_bytes(std::span(data, size)));
  if (!header) return 0;
  if (header->data_offset > size) std::abort();
  const auto map = dolium::volume::MapAxes(std::nullopt, header->shape, header->type);
  if (!map) return 0;
  // Strides of an array that passed the checks do not overflow, and the first of a
  // Fortran array is that of a number.
  const auto strides = dolium::volume::DenseStrides(*map, header->shape, false);
  if (strides[0] != static_cast<int64_t>(SizeOf(header->type))) std::abort();
  return 0;
}
