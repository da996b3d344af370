#if defined(__x86_64__)

#include <immintrin.h>

#include <array>

#include "dolium/formats/xet/gear_kernels_internal.h"

#define DOLIUM_AVX2 __attribute__((target("avx2")))
#define DOLIUM_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace dolium::xet {

namespace {

constexpr size_t kLanes = 4;
constexpr size_t kStep = 8;

// Plain loads: on the processors we know, gathers are slower than that.
DOLIUM_AVX2_INLINE __m256i LookUp(std::byte a, std::byte b, std::byte c, std::byte d) {
  const auto entry = [](std::byte byte) {
    return &kGearTable[std::to_integer<size_t>(byte)];
  };
  const auto pair = [&](std::byte low, std::byte high) DOLIUM_AVX2 {
    const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(entry(low)));
    return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(first),
                                         reinterpret_cast<const double*>(entry(high))));
  };
  return _mm256_inserti128_si256(_mm256_castsi128_si256(pair(a, b)), pair(c, d), 1);
}

DOLIUM_AVX2 void ScanFour(const std::byte* data, size_t length, uint64_t* states,
                          std::vector<uint32_t>* marks) {
  const std::byte* const p0 = data;
  const std::byte* const p1 = p0 + length;
  const std::byte* const p2 = p1 + length;
  const std::byte* const p3 = p2 + length;
  // Of each lane, the top bits of the least word seen show whether one was zero.
  constexpr uint32_t kTopBytes = 0x80808080;
  __m256i state = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(states));
  for (size_t i = 0; i < length; i += kStep) {
    const __m256i before = state;
    __m256i least = _mm256_set1_epi8(-1);
#pragma GCC unroll 8
    for (size_t j = i; j < i + kStep; ++j) {
      state = _mm256_add_epi64(_mm256_add_epi64(state, state),
                               LookUp(p0[j], p1[j], p2[j], p3[j]));
      least = _mm256_min_epu16(least, state);
    }
    const __m256i is_zero = _mm256_cmpeq_epi16(least, _mm256_setzero_si256());
    if ((static_cast<uint32_t>(_mm256_movemask_epi8(is_zero)) & kTopBytes) != 0)
        [[unlikely]] {
      std::array<uint64_t, kLanes> again;
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(again.data()), before);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        ScanChain(again[lane], data + lane * length + i, kStep, i, marks[lane]);
      }
    }
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(states), state);
}

}  // namespace

const GearKernel kGearAvx2 = {.lanes = kLanes, .step = kStep, .scan = ScanFour};

}  // namespace dolium::xet

#endif  // defined(__x86_64__)
