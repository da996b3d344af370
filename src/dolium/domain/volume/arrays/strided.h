// Strided copies: numbers from where they lie in memory or in a file, at any distances,
// to where they are wanted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/arrays/input_file.h"

namespace dolium::volume {

// One dimension of a copy: how many, and how far apart in bytes on either side.
struct StridedDimension {
  int64_t count = 1;
  int64_t from = 0;
  int64_t to = 0;
};
using StridedBox = std::array<StridedDimension, 4>;

// How the numbers are stored.
struct StridedNumbers {
  size_t size = 1;    // 1, 2, 4 or 8 bytes
  bool swap = false;  // their bytes are in the other order
};

// Strides of a dense array with x fastest, then y, z, channel.
std::array<int64_t, 4> DenseBoxStrides(size_t number_size,
                                       const std::array<int64_t, 3>& size);

// Precondition: all that the box reaches is there on both sides; sides do not overlap;
// counts are at least 1, distances not negative.
void CopyStrided(StridedNumbers numbers, const std::byte* from, std::byte* to,
                 const StridedBox& box);

// The same, from the bytes of `file` at `offset`: reads little more than the box, with a
// few MiB of memory.
Result<void> ReadStrided(const InputFile& file, uint64_t offset, StridedNumbers numbers,
                         std::byte* to, const StridedBox& box);

}  // namespace dolium::volume
