// Downsampling inside: work is done by rows.
//
// The AVX2 kernels do the frequent case, a factor of 2 along x and 1, 2 or 4 input rows,
// as far as it goes. The portable ones do what is left, which is everything on other
// machines. Both give the same bytes.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/base/endian.h"
#include "dolium/domain/volume/downsample/downsample.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

inline constexpr size_t kMaxDownsampleRows =
    static_cast<size_t>(kMaxDownsampleFactor * kMaxDownsampleFactor);

// Rows of the result with equal numbers of input rows, which are equally far apart.
struct RowsTask {
  std::array<const std::byte*, kMaxDownsampleRows>
      rows;              // of the first; y fastest, then z
  size_t row_count = 0;  // at least 1
  size_t width = 0;      // voxels of each input row
  size_t factor = 1;     // along x
  DataType type = DataType::kUint8;
  bool ignore_zero = false;
  std::byte* out = nullptr;
  size_t repeat = 1;    // rows of the result
  size_t step = 0;      // bytes from the input rows of one to those of the next
  size_t out_step = 0;  // and from the one to the next

  // Leaves out the first `columns` voxels of the input rows, a multiple of `factor`.
  void SkipColumns(size_t columns) {
    const size_t voxel = SizeOf(type);
    for (size_t i = 0; i < row_count; ++i) rows[i] += columns * voxel;
    out += columns / factor * voxel;
    width -= columns;
  }
  // Leaves out the first row of the result.
  void SkipRow() {
    for (size_t i = 0; i < row_count; ++i) rows[i] += step;
    out += out_step;
    --repeat;
  }
};

// These do the first row of the result only.
void AverageRow(const RowsTask& task);
void ModeRow(const RowsTask& task);

// These do all rows, but perhaps not all columns: they return how many, 0 if the task is
// not for them. What is left then is one block wide. Precondition: the processor has
// AVX2.
size_t AverageRowsAvx2(const RowsTask& task);
size_t ModeRowsAvx2(const RowsTask& task);

// XOR with this makes the order of T's bit patterns as unsigned numbers that of `type`.
// Not for kFloat32.
template <std::unsigned_integral T>
constexpr T SignFlip(DataType type) {
  const bool is_signed =
      type == DataType::kInt8 || type == DataType::kInt16 || type == DataType::kInt32;
  return is_signed ? static_cast<T>(T{1} << (8 * sizeof(T) - 1)) : T{0};
}

template <std::unsigned_integral T>
T LoadVoxel(const std::byte* row, size_t x) {
  return LoadLE<T>(row + x * sizeof(T));
}
template <std::unsigned_integral T>
void StoreVoxel(std::byte* row, size_t x, T value) {
  StoreLE<T>(row + x * sizeof(T), value);
}

enum class Simd : uint8_t { kNone, kAvx2 };

// The best this machine has.
Simd BestSimd();

// Downsample() with the kernels named. Precondition: also, this machine has them.
void DownsampleWith(Simd simd, const DownsampleSpec& spec, const ArrayShape& shape,
                    BytesView voxels, MutableBytes out);

}  // namespace dolium::volume
