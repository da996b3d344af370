// The header of a NumPy file: magic, version, and a Python dictionary as text.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/arrays/number_type.h"

namespace dolium::volume {

// Longer headers are those of records with many fields, which are no arrays of voxels.
inline constexpr size_t kNpyHeaderLimit = size_t{64} << 10;

struct NpyHeader {
  NumberType type = NumberType::kUint8;  // also for bool, whose bytes are 0 and 1
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<uint64_t> shape;
  uint64_t data_offset = 0;
};

// Understands versions 1 to 3 at the start of a file. kCorrupt if it is no such header;
// kUnsupported if it is one of something other than numbers, or one past the limit.
Result<NpyHeader> ParseNpyHeader(BytesView head);

// The header for a dense array of these sizes, of which the first is the fastest in
// Fortran order, the last else.
std::string MakeNpyHeader(NumberType type, std::span<const uint64_t> sizes,
                          bool fortran_order);

}  // namespace dolium::volume
