// The inner loops of label blocks, once in plain C++ and once for AVX2.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dolium::dvid {

enum class BlockKernels : uint8_t { kPortable, kAvx2 };

// The fastest that this processor can run.
BlockKernels BestBlockKernels();

// How far behind the last packed byte of a sub-block kernels may read.
inline constexpr size_t kReadSlack = 16;

// Where the voxels of one sub-block go.
struct SubBlockTarget {
  uint64_t* first;
  size_t row;    // labels from one y to the next
  size_t plane;  // labels from one z to the next
};

// Writes table[index] for all voxels of a sub-block; returns the greatest index. The
// table has 2^bits entries. Precondition: 1 <= bits <= 9.
uint32_t UnpackLabelsPortable(const std::byte* values, unsigned bits,
                              const uint64_t* table, const SubBlockTarget& to);
void FillPortable(uint64_t label, const SubBlockTarget& to);
// Writes the indexes themselves, 512 of them, and returns the greatest.
uint32_t UnpackIndexesPortable(const std::byte* values, unsigned bits, uint16_t* to);

#if defined(__x86_64__)
// The same. Precondition: kReadSlack bytes behind the values are readable.
uint32_t UnpackLabelsAvx2(const std::byte* values, unsigned bits, const uint64_t* table,
                          const SubBlockTarget& to);
void FillAvx2(uint64_t label, const SubBlockTarget& to);
uint32_t UnpackIndexesAvx2(const std::byte* values, unsigned bits, uint16_t* to);
#endif

}  // namespace dolium::dvid
