// Averages, portable. Signed integers are averaged as unsigned ones with the sign bit
// flipped: that adds 2^(bits - 1), which is even, so halves still go to the even number.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "dolium/domain/volume/downsample/downsample_internal.h"

namespace dolium::volume {
namespace {

// Columns summed before blocks are made of them; the sums stay in the nearest cache.
constexpr size_t kAverageStrip = 1024;

// The mean of `count` numbers, halves to even.
template <typename Sum>
struct Mean {
  explicit Mean(size_t count)
      : count(static_cast<uint32_t>(count)),
        shift(std::has_single_bit(count) ? std::countr_zero(count) : -1) {}

  Sum operator()(Sum sum) const {
    if (shift == 0) return sum;
    if (shift > 0) {
      const Sum below_half = (Sum{1} << (shift - 1)) - 1;
      return (sum + below_half + ((sum >> shift) & 1)) >> shift;
    }
    const Sum quotient = sum / count;
    const Sum twice_rest = (sum - quotient * count) * 2;
    const bool up = twice_rest > count || (twice_rest == count && (quotient & 1) != 0);
    return quotient + (up ? 1 : 0);
  }

  uint32_t count;
  int shift;  // log2 of count; -1 if that is no integer
};

template <>
struct Mean<double> {
  explicit Mean(size_t count) : count(static_cast<double>(count)) {}
  double operator()(double sum) const { return sum / count; }
  double count;
};

// How a voxel becomes a term of the sum, and a mean a voxel.
template <std::unsigned_integral T, typename Sum>
struct Integers {
  T flip;
  Sum Term(T voxel) const { return static_cast<T>(voxel ^ flip); }
  T Voxel(Sum mean) const { return static_cast<T>(static_cast<T>(mean) ^ flip); }
};
struct Floats {
  static double Term(uint32_t voxel) {
    return static_cast<double>(std::bit_cast<float>(voxel));
  }
  static uint32_t Voxel(double mean) {
    return std::bit_cast<uint32_t>(static_cast<float>(mean));
  }
};

// Blocks of `width` columns, of which the last may have fewer.
template <typename T, typename Sum, typename Values>
void AverageBlocks(const Values& values, const Sum* sums, size_t columns, size_t width,
                   size_t rows, std::byte* out) {
  const Mean<Sum> mean(width * rows);
  const size_t whole = columns / width;
  for (size_t block = 0; block < whole; ++block) {
    const Sum* const begin = sums + block * width;
    Sum sum = begin[0];
    for (size_t x = 1; x < width; ++x) sum += begin[x];
    StoreVoxel<T>(out, block, values.Voxel(mean(sum)));
  }
  if (const size_t rest = columns - whole * width; rest != 0) {
    AverageBlocks<T, Sum>(values, sums + whole * width, rest, rest, rows,
                          out + whole * sizeof(T));
  }
}

template <typename T, typename Sum, typename Values>
void AverageColumns(const RowsTask& task, const Values& values) {
  const size_t strip = kAverageStrip / task.factor * task.factor;
  Sum sums[kAverageStrip];
  for (size_t begin = 0; begin < task.width; begin += strip) {
    const size_t columns = std::min(strip, task.width - begin);
    const std::byte* row = task.rows[0] + begin * sizeof(T);
    for (size_t x = 0; x < columns; ++x) sums[x] = values.Term(LoadVoxel<T>(row, x));
    for (size_t i = 1; i < task.row_count; ++i) {
      row = task.rows[i] + begin * sizeof(T);
      for (size_t x = 0; x < columns; ++x) sums[x] += values.Term(LoadVoxel<T>(row, x));
    }
    AverageBlocks<T, Sum>(values, sums, columns, task.factor, task.row_count,
                          task.out + begin / task.factor * sizeof(T));
  }
}

template <std::unsigned_integral T, typename Sum>
void AverageIntegers(const RowsTask& task) {
  AverageColumns<T, Sum>(task, Integers<T, Sum>{SignFlip<T>(task.type)});
}

}  // namespace

void AverageRow(const RowsTask& task) {
  // Sums have room for the 512 voxels of the largest block.
  switch (task.type) {
    case DataType::kUint8:
    case DataType::kInt8:
      return AverageIntegers<uint8_t, uint32_t>(task);
    case DataType::kUint16:
    case DataType::kInt16:
      return AverageIntegers<uint16_t, uint32_t>(task);
    case DataType::kUint32:
    case DataType::kInt32:
      return AverageIntegers<uint32_t, uint64_t>(task);
    case DataType::kUint64:
      return AverageIntegers<uint64_t, unsigned __int128>(task);
    case DataType::kFloat32:
      return AverageColumns<uint32_t, double>(task, Floats{});
  }
}

}  // namespace dolium::volume
