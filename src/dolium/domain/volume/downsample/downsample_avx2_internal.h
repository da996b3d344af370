// What the AVX2 kernels share. For their .cc files only, on x86-64 only.
//
// A Kernel does one vector: static constexpr kRows, kVoxel (bytes) and kColumns (voxels
// of 64 bytes), Flip(type), a vector that it wants back, and Step(rows, out, flip), which
// makes kColumns / 2 voxels at `out` of kColumns at each of `rows`.
#pragma once

#include <immintrin.h>

#include <cstddef>

#include "dolium/domain/volume/downsample/downsample_internal.h"

#define DOLIUM_AVX2 __attribute__((target("avx2")))
#define DOLIUM_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace dolium::volume {

// For permute4x64: exchanges the middle quarters, which instructions that pack or unpack
// within halves of vectors leave in the wrong order.
inline constexpr int kSwapMiddle = 0xD8;
// For shuffle_ps.
inline constexpr int kEvens = 0x88;
inline constexpr int kOdds = 0xDD;

DOLIUM_AVX2_INLINE __m256i LoadVector(const std::byte* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
DOLIUM_AVX2_INLINE void StoreVector(std::byte* to, __m256i vector) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), vector);
}

template <typename Kernel>
DOLIUM_AVX2_INLINE void StepAt(const std::byte* const (&rows)[Kernel::kRows],
                               std::byte* out, size_t x, __m256i flip) {
  // Rows are read in turns, which the processor does not foresee by itself: asking for
  // what comes a few rows later doubles the speed on arrays larger than the caches. The
  // address may be past the array.
  constexpr size_t kAhead = 8192;
  const std::byte* at[Kernel::kRows];
  for (size_t i = 0; i < Kernel::kRows; ++i) {
    at[i] = rows[i] + x * Kernel::kVoxel;
    _mm_prefetch(at[i] + kAhead, _MM_HINT_T1);
  }
  Kernel::Step(at, out + x / 2 * Kernel::kVoxel, flip);
}

// Returns the columns done, as the functions of downsample_internal.h do.
// Precondition: task.factor == 2, task.row_count == Kernel::kRows.
template <typename Kernel>
DOLIUM_AVX2 size_t RunKernel(const RowsTask& task) {
  constexpr size_t kColumns = Kernel::kColumns;
  const size_t whole = task.width & ~size_t{1};
  if (whole < kColumns) return 0;
  const __m256i flip = Kernel::Flip(task.type);
  const std::byte* rows[Kernel::kRows];
  for (size_t i = 0; i < Kernel::kRows; ++i) rows[i] = task.rows[i];
  std::byte* out = task.out;
  for (size_t done = 0; done < task.repeat; ++done) {
    size_t x = 0;
    for (; x + kColumns <= whole; x += kColumns) StepAt<Kernel>(rows, out, x, flip);
    // The last step overlaps the one before.
    if (x < whole) StepAt<Kernel>(rows, out, whole - kColumns, flip);
    for (auto& row : rows) row += task.step;
    out += task.out_step;
  }
  return whole;
}

}  // namespace dolium::volume
