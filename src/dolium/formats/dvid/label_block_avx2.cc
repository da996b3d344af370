#include "dolium/formats/dvid/label_block_internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cstddef>

#define DOLIUM_AVX2 __attribute__((target("avx2")))
#define DOLIUM_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace dolium::dvid {
namespace {

constexpr unsigned kRows = 64;

// The order in which the eight indexes of a row come out.
struct InOrder {
  static constexpr unsigned kVoxel[8] = {0, 1, 2, 3, 4, 5, 6, 7};
};
// So that unpacklo and unpackhi put pairs of halves in order.
struct ForPairs {
  static constexpr unsigned kVoxel[8] = {0, 1, 4, 5, 2, 3, 6, 7};
};

// Eight indexes of `bits` bits, most significant first, as eight uint32: the two bytes
// that hold each are brought into its lane, swapped, shifted and masked.
template <unsigned bits, typename Order>
class Indexes {
 public:
  DOLIUM_AVX2_INLINE Indexes() {
    alignas(32) char control[32];
    alignas(32) int32_t shifts[8];
    for (size_t lane = 0; lane < 8; ++lane) {
      const unsigned bit = Order::kVoxel[lane] * bits;
      control[4 * lane] = static_cast<char>(bit / 8 + 1);
      control[4 * lane + 1] = static_cast<char>(bit / 8);
      control[4 * lane + 2] = -1;
      control[4 * lane + 3] = -1;
      shifts[lane] = static_cast<int32_t>(16 - bits - bit % 8);
    }
    control_ = _mm256_load_si256(reinterpret_cast<const __m256i*>(control));
    shifts_ = _mm256_load_si256(reinterpret_cast<const __m256i*>(shifts));
    mask_ = _mm256_set1_epi32((1 << bits) - 1);
  }

  DOLIUM_AVX2_INLINE __m256i Row(const std::byte* values) const {
    const __m256i bytes = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(values)));
    return _mm256_and_si256(
        _mm256_srlv_epi32(_mm256_shuffle_epi8(bytes, control_), shifts_), mask_);
  }

 private:
  __m256i control_;
  __m256i shifts_;
  __m256i mask_;
};

DOLIUM_AVX2_INLINE uint32_t Greatest(__m256i values) {
  alignas(32) uint32_t lanes[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), values);
  return *std::max_element(lanes, lanes + 8);
}

DOLIUM_AVX2_INLINE __m256i Load(const uint32_t* from) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
}

DOLIUM_AVX2_INLINE void Store(uint64_t* to, __m256i value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}

// Up to 16 labels, low and high halves in registers.
template <unsigned bits>
DOLIUM_AVX2 uint32_t UnpackFew(const std::byte* values, const uint64_t* table,
                               const SubBlockTarget& to) {
  constexpr unsigned kEntries = 1U << bits;
  alignas(32) uint32_t low[16] = {};
  alignas(32) uint32_t high[16] = {};
  for (unsigned i = 0; i < kEntries; ++i) {
    low[i] = static_cast<uint32_t>(table[i]);
    high[i] = static_cast<uint32_t>(table[i] >> 32);
  }
  const __m256i low0 = Load(low);
  const __m256i low1 = Load(low + 8);
  const __m256i high0 = Load(high);
  const __m256i high1 = Load(high + 8);
  const Indexes<bits, ForPairs> indexes;
  __m256i greatest = _mm256_setzero_si256();
  for (unsigned row = 0; row < kRows; ++row, values += bits) {
    const __m256i index = indexes.Row(values);
    greatest = _mm256_max_epu32(greatest, index);
    __m256i lows = _mm256_permutevar8x32_epi32(low0, index);
    __m256i highs = _mm256_permutevar8x32_epi32(high0, index);
    if constexpr (bits == 4) {
      // Bit 3 of the index, as a sign.
      const __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(index, 28));
      lows = _mm256_castps_si256(_mm256_blendv_ps(
          _mm256_castsi256_ps(lows),
          _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low1, index)), upper));
      highs = _mm256_castps_si256(_mm256_blendv_ps(
          _mm256_castsi256_ps(highs),
          _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high1, index)), upper));
    }
    uint64_t* out = to.first + row % 8 * to.row + row / 8 * to.plane;
    Store(out, _mm256_unpacklo_epi32(lows, highs));
    Store(out + 4, _mm256_unpackhi_epi32(lows, highs));
  }
  return Greatest(greatest);
}

template <unsigned bits>
DOLIUM_AVX2 uint32_t UnpackMany(const std::byte* values, const uint64_t* table,
                                const SubBlockTarget& to) {
  const Indexes<bits, InOrder> indexes;
  const auto* const base = reinterpret_cast<const long long*>(table);
  __m256i greatest = _mm256_setzero_si256();
  for (unsigned row = 0; row < kRows; ++row, values += bits) {
    const __m256i index = indexes.Row(values);
    greatest = _mm256_max_epu32(greatest, index);
    uint64_t* out = to.first + row % 8 * to.row + row / 8 * to.plane;
    Store(out, _mm256_i32gather_epi64(base, _mm256_castsi256_si128(index), 8));
    Store(out + 4, _mm256_i32gather_epi64(base, _mm256_extracti128_si256(index, 1), 8));
  }
  return Greatest(greatest);
}

template <unsigned bits>
DOLIUM_AVX2 uint32_t UnpackOnly(const std::byte* values, uint16_t* to) {
  const Indexes<bits, InOrder> indexes;
  __m256i greatest = _mm256_setzero_si256();
  for (unsigned row = 0; row < kRows; ++row, values += bits, to += 8) {
    const __m256i index = indexes.Row(values);
    greatest = _mm256_max_epu32(greatest, index);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm_packus_epi32(_mm256_castsi256_si128(index),
                                      _mm256_extracti128_si256(index, 1)));
  }
  return Greatest(greatest);
}

}  // namespace

uint32_t UnpackLabelsAvx2(const std::byte* values, unsigned bits, const uint64_t* table,
                          const SubBlockTarget& to) {
  switch (bits) {
    case 1:
      return UnpackFew<1>(values, table, to);
    case 2:
      return UnpackFew<2>(values, table, to);
    case 3:
      return UnpackFew<3>(values, table, to);
    case 4:
      return UnpackFew<4>(values, table, to);
    case 5:
      return UnpackMany<5>(values, table, to);
    case 6:
      return UnpackMany<6>(values, table, to);
    case 7:
      return UnpackMany<7>(values, table, to);
    case 8:
      return UnpackMany<8>(values, table, to);
    default:
      return UnpackMany<9>(values, table, to);
  }
}

DOLIUM_AVX2 void FillAvx2(uint64_t label, const SubBlockTarget& to) {
  const __m256i labels = _mm256_set1_epi64x(static_cast<long long>(label));
  for (unsigned row = 0; row < kRows; ++row) {
    uint64_t* out = to.first + row % 8 * to.row + row / 8 * to.plane;
    Store(out, labels);
    Store(out + 4, labels);
  }
}

uint32_t UnpackIndexesAvx2(const std::byte* values, unsigned bits, uint16_t* to) {
  switch (bits) {
    case 1:
      return UnpackOnly<1>(values, to);
    case 2:
      return UnpackOnly<2>(values, to);
    case 3:
      return UnpackOnly<3>(values, to);
    case 4:
      return UnpackOnly<4>(values, to);
    case 5:
      return UnpackOnly<5>(values, to);
    case 6:
      return UnpackOnly<6>(values, to);
    case 7:
      return UnpackOnly<7>(values, to);
    case 8:
      return UnpackOnly<8>(values, to);
    default:
      return UnpackOnly<9>(values, to);
  }
}

}  // namespace dolium::dvid

#endif
