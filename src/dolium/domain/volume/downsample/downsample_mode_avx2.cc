// Modes with AVX2: a factor of 2 along x and 1, 2 or 4 rows. Each lane has one block. Its
// 2, 4 or 8 values are sorted by a network, and the longest run is chosen by blending:
// nothing depends on the values but the way past a vector of uniform blocks of eight.
//
// Values are sorted as keys. Where zeros do not count, their key is the largest there is,
// which no other value has, and runs of it are no runs.

#include "dolium/domain/volume/downsample/downsample_internal.h"

#if defined(__x86_64__)

#include "dolium/domain/volume/downsample/downsample_avx2_internal.h"

namespace dolium::volume {
namespace {

DOLIUM_AVX2_INLINE __m256i Ones() { return _mm256_set1_epi8(-1); }
DOLIUM_AVX2_INLINE __m256i Choose(__m256i mask, __m256i yes, __m256i no) {
  return _mm256_blendv_epi8(no, yes, mask);
}

// Keys of 8, 16 and 32 bits: unsigned numbers in the order of the type, which XOR with
// `flip` gives. Without zero, those above it move down by one.
template <typename Lanes>
struct FlippedKeys {
  DOLIUM_AVX2_INLINE static __m256i Largest() { return Ones(); }
  DOLIUM_AVX2_INLINE static __m256i AtLeast(__m256i a, __m256i b) {
    return Lanes::Equal(Lanes::Max(a, b), a);
  }
  template <bool kIgnoreZero>
  DOLIUM_AVX2_INLINE static __m256i Key(__m256i value, __m256i flip) {
    const __m256i key = _mm256_xor_si256(value, flip);
    if (!kIgnoreZero) return key;
    const __m256i is_zero = Lanes::Equal(value, _mm256_setzero_si256());
    return _mm256_or_si256(Lanes::Add(key, AtLeast(key, flip)), is_zero);
  }
  template <bool kIgnoreZero>
  DOLIUM_AVX2_INLINE static __m256i Value(__m256i key, __m256i flip) {
    if (!kIgnoreZero) return _mm256_xor_si256(key, flip);
    const __m256i value = Lanes::Subtract(key, AtLeast(key, flip));
    return _mm256_andnot_si256(Lanes::Equal(key, Largest()),
                               _mm256_xor_si256(value, flip));
  }

 private:
  FlippedKeys() = default;
  friend Lanes;
};

struct Lanes8 : FlippedKeys<Lanes8> {
  static constexpr size_t kVoxel = 1;
  DOLIUM_AVX2_INLINE static __m256i Flip(DataType type) {
    return _mm256_set1_epi8(static_cast<char>(SignFlip<uint8_t>(type)));
  }
  DOLIUM_AVX2_INLINE static __m256i Even(__m256i a, __m256i b) {
    const __m256i mask = _mm256_set1_epi16(0xFF);
    return _mm256_packus_epi16(_mm256_and_si256(a, mask), _mm256_and_si256(b, mask));
  }
  DOLIUM_AVX2_INLINE static __m256i Odd(__m256i a, __m256i b) {
    return _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
  }
  DOLIUM_AVX2_INLINE static __m256i Equal(__m256i a, __m256i b) {
    return _mm256_cmpeq_epi8(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Min(__m256i a, __m256i b) {
    return _mm256_min_epu8(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Max(__m256i a, __m256i b) {
    return _mm256_max_epu8(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Add(__m256i a, __m256i b) {
    return _mm256_add_epi8(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Subtract(__m256i a, __m256i b) {
    return _mm256_sub_epi8(a, b);
  }
};

struct Lanes16 : FlippedKeys<Lanes16> {
  static constexpr size_t kVoxel = 2;
  DOLIUM_AVX2_INLINE static __m256i Flip(DataType type) {
    return _mm256_set1_epi16(static_cast<int16_t>(SignFlip<uint16_t>(type)));
  }
  DOLIUM_AVX2_INLINE static __m256i Even(__m256i a, __m256i b) {
    const __m256i mask = _mm256_set1_epi32(0xFFFF);
    return _mm256_packus_epi32(_mm256_and_si256(a, mask), _mm256_and_si256(b, mask));
  }
  DOLIUM_AVX2_INLINE static __m256i Odd(__m256i a, __m256i b) {
    return _mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16));
  }
  DOLIUM_AVX2_INLINE static __m256i Equal(__m256i a, __m256i b) {
    return _mm256_cmpeq_epi16(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Min(__m256i a, __m256i b) {
    return _mm256_min_epu16(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Max(__m256i a, __m256i b) {
    return _mm256_max_epu16(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Add(__m256i a, __m256i b) {
    return _mm256_add_epi16(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Subtract(__m256i a, __m256i b) {
    return _mm256_sub_epi16(a, b);
  }
};

struct Lanes32 : FlippedKeys<Lanes32> {
  static constexpr size_t kVoxel = 4;
  DOLIUM_AVX2_INLINE static __m256i Flip(DataType type) {
    return _mm256_set1_epi32(static_cast<int32_t>(SignFlip<uint32_t>(type)));
  }
  DOLIUM_AVX2_INLINE static __m256i Even(__m256i a, __m256i b) {
    return _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), kEvens));
  }
  DOLIUM_AVX2_INLINE static __m256i Odd(__m256i a, __m256i b) {
    return _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), kOdds));
  }
  DOLIUM_AVX2_INLINE static __m256i Equal(__m256i a, __m256i b) {
    return _mm256_cmpeq_epi32(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Min(__m256i a, __m256i b) {
    return _mm256_min_epu32(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Max(__m256i a, __m256i b) {
    return _mm256_max_epu32(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Add(__m256i a, __m256i b) {
    return _mm256_add_epi32(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Subtract(__m256i a, __m256i b) {
    return _mm256_sub_epi32(a, b);
  }
};

// uint64 only. AVX2 compares 64 bits as signed numbers, so keys are that.
struct Lanes64 {
  static constexpr size_t kVoxel = 8;
  DOLIUM_AVX2_INLINE static __m256i Flip(DataType) {
    return _mm256_set1_epi64x(INT64_MIN);
  }
  DOLIUM_AVX2_INLINE static __m256i Largest() { return _mm256_set1_epi64x(INT64_MAX); }
  template <bool kIgnoreZero>
  DOLIUM_AVX2_INLINE static __m256i Key(__m256i value, __m256i flip) {
    return _mm256_xor_si256(kIgnoreZero ? _mm256_add_epi64(value, Ones()) : value, flip);
  }
  template <bool kIgnoreZero>
  DOLIUM_AVX2_INLINE static __m256i Value(__m256i key, __m256i flip) {
    const __m256i value = _mm256_xor_si256(key, flip);
    return kIgnoreZero ? _mm256_sub_epi64(value, Ones()) : value;
  }
  DOLIUM_AVX2_INLINE static __m256i Even(__m256i a, __m256i b) {
    return _mm256_unpacklo_epi64(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Odd(__m256i a, __m256i b) {
    return _mm256_unpackhi_epi64(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Equal(__m256i a, __m256i b) {
    return _mm256_cmpeq_epi64(a, b);
  }
  DOLIUM_AVX2_INLINE static __m256i Min(__m256i a, __m256i b) {
    return Choose(_mm256_cmpgt_epi64(a, b), b, a);
  }
  DOLIUM_AVX2_INLINE static __m256i Max(__m256i a, __m256i b) {
    return Choose(_mm256_cmpgt_epi64(a, b), a, b);
  }
};

template <typename Lanes>
DOLIUM_AVX2_INLINE void Sort(__m256i& a, __m256i& b) {
  const __m256i smaller = Lanes::Min(a, b);
  b = Lanes::Max(a, b);
  a = smaller;
}

// Whether a key and the next one are a run.
template <typename Lanes, bool kIgnoreZero>
DOLIUM_AVX2_INLINE __m256i Pair(__m256i a, __m256i b) {
  const __m256i equal = Lanes::Equal(a, b);
  if (!kIgnoreZero) return equal;
  return _mm256_andnot_si256(Lanes::Equal(a, Lanes::Largest()), equal);
}

template <typename Lanes, bool kIgnoreZero>
DOLIUM_AVX2_INLINE __m256i ModeOf2(__m256i (&k)[2]) {
  return Lanes::Min(k[0], k[1]);
}

template <typename Lanes, bool kIgnoreZero>
DOLIUM_AVX2_INLINE __m256i ModeOf4(__m256i (&k)[4]) {
  Sort<Lanes>(k[0], k[1]);
  Sort<Lanes>(k[2], k[3]);
  Sort<Lanes>(k[0], k[2]);
  Sort<Lanes>(k[1], k[3]);
  Sort<Lanes>(k[1], k[2]);
  // Any run of three or four has the middle two in it.
  const __m256i low = Pair<Lanes, kIgnoreZero>(k[0], k[1]);
  const __m256i middle = Pair<Lanes, kIgnoreZero>(k[1], k[2]);
  const __m256i high = Pair<Lanes, kIgnoreZero>(k[2], k[3]);
  return Choose(middle, k[1], Choose(_mm256_andnot_si256(low, high), k[2], k[0]));
}

template <typename Lanes, bool kIgnoreZero>
DOLIUM_AVX2_INLINE __m256i ModeOf8(__m256i (&k)[8]) {
  constexpr int kNetwork[19][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6},
                                   {5, 7}, {1, 2}, {5, 6}, {0, 4}, {3, 7}, {1, 5}, {2, 6},
                                   {1, 4}, {3, 6}, {2, 4}, {3, 5}, {3, 4}};
#pragma GCC unroll 19
  for (const auto& step : kNetwork) Sort<Lanes>(k[step[0]], k[step[1]]);

  // The first of the pairs, unless there are runs of three: the first of these, unless
  // there are runs of four. One longer than four leaves no room for another of four.
  __m256i pair[7];
  __m256i three[6];
  __m256i mode = k[0];
#pragma GCC unroll 7
  for (int i = 6; i >= 0; --i) {
    pair[i] = Pair<Lanes, kIgnoreZero>(k[i], k[i + 1]);
    mode = Choose(pair[i], k[i], mode);
  }
#pragma GCC unroll 6
  for (int i = 5; i >= 0; --i) {
    three[i] = _mm256_and_si256(pair[i], pair[i + 1]);
    mode = Choose(three[i], k[i], mode);
  }
#pragma GCC unroll 5
  for (int i = 4; i >= 0; --i) {
    mode = Choose(_mm256_and_si256(three[i], pair[i + 2]), k[i], mode);
  }
  return mode;
}

template <typename Lanes, size_t kRows, bool kIgnoreZero>
DOLIUM_AVX2_INLINE __m256i ModeOf(__m256i (&keys)[2 * kRows]) {
  if constexpr (kRows == 1) return ModeOf2<Lanes, kIgnoreZero>(keys);
  if constexpr (kRows == 2) return ModeOf4<Lanes, kIgnoreZero>(keys);
  if constexpr (kRows == 4) return ModeOf8<Lanes, kIgnoreZero>(keys);
}

template <typename Lanes, size_t kInputRows, bool kIgnoreZero>
struct Modes {
  static constexpr size_t kRows = kInputRows;
  static constexpr size_t kVoxel = Lanes::kVoxel;
  static constexpr size_t kColumns = 64 / kVoxel;
  // To sort four values takes less than to foresee wrongly whether they are equal.
  static constexpr bool kSkipsUniform = kRows > 2;

  DOLIUM_AVX2_INLINE static __m256i Flip(DataType type) { return Lanes::Flip(type); }
  DOLIUM_AVX2_INLINE static void Step(const std::byte* const (&rows)[kRows],
                                      std::byte* out, __m256i flip) {
    __m256i values[2 * kRows];
    __m256i difference = _mm256_setzero_si256();
    for (size_t i = 0; i < kRows; ++i) {
      const __m256i a = LoadVector(rows[i]);
      const __m256i b = LoadVector(rows[i] + sizeof(__m256i));
      values[2 * i] = Lanes::Even(a, b);
      values[2 * i + 1] = Lanes::Odd(a, b);
    }
    for (size_t i = 1; i < 2 * kRows; ++i) {
      difference = _mm256_or_si256(difference, _mm256_xor_si256(values[i], values[0]));
    }
    __m256i mode = values[0];
    if (!kSkipsUniform || _mm256_testz_si256(difference, difference) == 0) {
      for (auto& value : values) value = Lanes::template Key<kIgnoreZero>(value, flip);
      const __m256i key = ModeOf<Lanes, kRows, kIgnoreZero>(values);
      mode = Lanes::template Value<kIgnoreZero>(key, flip);
    }
    StoreVector(out, _mm256_permute4x64_epi64(mode, kSwapMiddle));
  }
};

template <size_t kRows, bool kIgnoreZero>
size_t RunRows(const RowsTask& task) {
  switch (SizeOf(task.type)) {
    case 1:
      return RunKernel<Modes<Lanes8, kRows, kIgnoreZero>>(task);
    case 2:
      return RunKernel<Modes<Lanes16, kRows, kIgnoreZero>>(task);
    case 4:
      return RunKernel<Modes<Lanes32, kRows, kIgnoreZero>>(task);
    default:
      return RunKernel<Modes<Lanes64, kRows, kIgnoreZero>>(task);
  }
}

template <bool kIgnoreZero>
size_t RunTask(const RowsTask& task) {
  switch (task.row_count) {
    case 1:
      return RunRows<1, kIgnoreZero>(task);
    case 2:
      return RunRows<2, kIgnoreZero>(task);
    case 4:
      return RunRows<4, kIgnoreZero>(task);
    default:
      return 0;
  }
}

}  // namespace

size_t ModeRowsAvx2(const RowsTask& task) {
  if (task.factor != 2 || task.type == DataType::kFloat32) return 0;
  return task.ignore_zero ? RunTask<true>(task) : RunTask<false>(task);
}

}  // namespace dolium::volume

#else

namespace dolium::volume {
size_t ModeRowsAvx2(const RowsTask&) { return 0; }
}  // namespace dolium::volume

#endif
