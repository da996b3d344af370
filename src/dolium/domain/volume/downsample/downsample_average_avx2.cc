// Averages with AVX2: a factor of 2 along x and 1, 2 or 4 rows, so that a division is a
// shift. Signed integers are averaged as in the portable kernel. Results come out of the
// packing instructions with their middle quarters exchanged; a permutation puts them
// right.

#include "dolium/domain/volume/downsample/downsample_internal.h"

#if defined(__x86_64__)

#include "dolium/domain/volume/downsample/downsample_avx2_internal.h"

namespace dolium::volume {
namespace {

// Each has sums of pairs of columns, in lanes twice as wide; their means, halves to even;
// and the narrowing of two vectors of means to one of voxels. `flip` and the shifts are
// the same for a whole row.
struct Lanes8 {
  static constexpr size_t kVoxel = 1;
  DOLIUM_AVX2_INLINE static __m256i Flip(DataType type) {
    return _mm256_set1_epi8(static_cast<char>(SignFlip<uint8_t>(type)));
  }
  DOLIUM_AVX2_INLINE static __m256i Pairs(__m256i voxels) {
    return _mm256_maddubs_epi16(voxels, _mm256_set1_epi8(1));
  }
  DOLIUM_AVX2_INLINE static __m256i Add(__m256i a, __m256i b) {
    return _mm256_add_epi16(a, b);
  }
  template <int kShift>
  DOLIUM_AVX2_INLINE static __m256i Mean(__m256i sum) {
    const __m256i odd =
        _mm256_and_si256(_mm256_srli_epi16(sum, kShift), _mm256_set1_epi16(1));
    const __m256i below_half = _mm256_set1_epi16((1 << (kShift - 1)) - 1);
    return _mm256_srli_epi16(Add(Add(sum, below_half), odd), kShift);
  }
  DOLIUM_AVX2_INLINE static __m256i Narrow(__m256i a, __m256i b) {
    return _mm256_packus_epi16(a, b);
  }
};

struct Lanes16 {
  static constexpr size_t kVoxel = 2;
  DOLIUM_AVX2_INLINE static __m256i Flip(DataType type) {
    return _mm256_set1_epi16(static_cast<int16_t>(SignFlip<uint16_t>(type)));
  }
  DOLIUM_AVX2_INLINE static __m256i Pairs(__m256i voxels) {
    return Add(_mm256_and_si256(voxels, _mm256_set1_epi32(0xFFFF)),
               _mm256_srli_epi32(voxels, 16));
  }
  DOLIUM_AVX2_INLINE static __m256i Add(__m256i a, __m256i b) {
    return _mm256_add_epi32(a, b);
  }
  template <int kShift>
  DOLIUM_AVX2_INLINE static __m256i Mean(__m256i sum) {
    const __m256i odd =
        _mm256_and_si256(_mm256_srli_epi32(sum, kShift), _mm256_set1_epi32(1));
    const __m256i below_half = _mm256_set1_epi32((1 << (kShift - 1)) - 1);
    return _mm256_srli_epi32(Add(Add(sum, below_half), odd), kShift);
  }
  DOLIUM_AVX2_INLINE static __m256i Narrow(__m256i a, __m256i b) {
    return _mm256_packus_epi32(a, b);
  }
};

struct Lanes32 {
  static constexpr size_t kVoxel = 4;
  DOLIUM_AVX2_INLINE static __m256i Flip(DataType type) {
    return _mm256_set1_epi32(static_cast<int32_t>(SignFlip<uint32_t>(type)));
  }
  DOLIUM_AVX2_INLINE static __m256i Pairs(__m256i voxels) {
    return Add(_mm256_and_si256(voxels, _mm256_set1_epi64x(0xFFFFFFFF)),
               _mm256_srli_epi64(voxels, 32));
  }
  DOLIUM_AVX2_INLINE static __m256i Add(__m256i a, __m256i b) {
    return _mm256_add_epi64(a, b);
  }
  template <int kShift>
  DOLIUM_AVX2_INLINE static __m256i Mean(__m256i sum) {
    const __m256i odd =
        _mm256_and_si256(_mm256_srli_epi64(sum, kShift), _mm256_set1_epi64x(1));
    const __m256i below_half = _mm256_set1_epi64x((1 << (kShift - 1)) - 1);
    return _mm256_srli_epi64(Add(Add(sum, below_half), odd), kShift);
  }
  DOLIUM_AVX2_INLINE static __m256i Narrow(__m256i a, __m256i b) {
    return _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), kEvens));
  }
};

constexpr int ShiftOf(size_t rows) { return rows == 1 ? 1 : rows == 2 ? 2 : 3; }

template <typename Lanes, size_t kInputRows>
struct Integers {
  static constexpr size_t kRows = kInputRows;
  static constexpr size_t kVoxel = Lanes::kVoxel;
  static constexpr size_t kColumns = 64 / kVoxel;

  DOLIUM_AVX2_INLINE static __m256i Flip(DataType type) { return Lanes::Flip(type); }
  DOLIUM_AVX2_INLINE static void Step(const std::byte* const (&rows)[kRows],
                                      std::byte* out, __m256i flip) {
    __m256i low = _mm256_setzero_si256();
    __m256i high = _mm256_setzero_si256();
    for (const std::byte* row : rows) {
      const __m256i a = _mm256_xor_si256(LoadVector(row), flip);
      const __m256i b = _mm256_xor_si256(LoadVector(row + sizeof(__m256i)), flip);
      low = Lanes::Add(low, Lanes::Pairs(a));
      high = Lanes::Add(high, Lanes::Pairs(b));
    }
    low = Lanes::template Mean<ShiftOf(kRows)>(low);
    high = Lanes::template Mean<ShiftOf(kRows)>(high);
    const __m256i means = _mm256_permute4x64_epi64(Lanes::Narrow(low, high), kSwapMiddle);
    StoreVector(out, _mm256_xor_si256(means, flip));
  }
};

template <size_t kInputRows>
struct Floats {
  static constexpr size_t kRows = kInputRows;
  static constexpr size_t kVoxel = 4;
  static constexpr size_t kColumns = 16;

  DOLIUM_AVX2_INLINE static __m256i Flip(DataType) { return _mm256_setzero_si256(); }
  DOLIUM_AVX2_INLINE static __m256d Term(const std::byte* from) {
    return _mm256_cvtps_pd(_mm_loadu_ps(reinterpret_cast<const float*>(from)));
  }
  // The means of the eight columns at `offset` bytes.
  DOLIUM_AVX2_INLINE static __m128 Half(const std::byte* const (&rows)[kRows],
                                        size_t offset) {
    __m256d low = Term(rows[0] + offset);
    __m256d high = Term(rows[0] + offset + sizeof(__m128));
    for (size_t i = 1; i < kRows; ++i) {
      low = _mm256_add_pd(low, Term(rows[i] + offset));
      high = _mm256_add_pd(high, Term(rows[i] + offset + sizeof(__m128)));
    }
    const __m256d sums = _mm256_permute4x64_pd(_mm256_hadd_pd(low, high), kSwapMiddle);
    return _mm256_cvtpd_ps(_mm256_mul_pd(sums, _mm256_set1_pd(1.0 / (2 * kRows))));
  }
  DOLIUM_AVX2_INLINE static void Step(const std::byte* const (&rows)[kRows],
                                      std::byte* out, __m256i) {
    const __m256 means = _mm256_set_m128(Half(rows, sizeof(__m256)), Half(rows, 0));
    StoreVector(out, _mm256_castps_si256(means));
  }
};

template <size_t kRows>
size_t RunRows(const RowsTask& task) {
  switch (task.type) {
    case DataType::kUint8:
    case DataType::kInt8:
      return RunKernel<Integers<Lanes8, kRows>>(task);
    case DataType::kUint16:
    case DataType::kInt16:
      return RunKernel<Integers<Lanes16, kRows>>(task);
    case DataType::kUint32:
    case DataType::kInt32:
      return RunKernel<Integers<Lanes32, kRows>>(task);
    case DataType::kFloat32:
      return RunKernel<Floats<kRows>>(task);
    case DataType::kUint64:
      return 0;
  }
  return 0;
}

}  // namespace

size_t AverageRowsAvx2(const RowsTask& task) {
  if (task.factor != 2) return 0;
  switch (task.row_count) {
    case 1:
      return RunRows<1>(task);
    case 2:
      return RunRows<2>(task);
    case 4:
      return RunRows<4>(task);
    default:
      return 0;
  }
}

}  // namespace dolium::volume

#else

namespace dolium::volume {
size_t AverageRowsAvx2(const RowsTask&) { return 0; }
}  // namespace dolium::volume

#endif
