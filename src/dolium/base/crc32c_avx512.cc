// CopyWithCrc32c for processors that multiply four pairs of polynomials at once.
#include "dolium/base/crc32c_kernels_internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <array>
#include <cstring>

namespace dolium::internal {

namespace {

#define DOLIUM_AVX512 __attribute__((target("avx512f,avx512vl,vpclmulqdq,pclmul,sse4.2")))

// x^power mod the polynomial of CRC-32C, in the order of bits that CRCs are kept in: the
// coefficient of x^31 is the lowest bit.
constexpr uint32_t PowerOfX(unsigned power) {
  constexpr uint32_t kPolynomial = 0x82F63B78;
  uint32_t value = uint32_t{1} << 31;  // x^0
  for (unsigned i = 0; i < power; ++i) {
    value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
  }
  return value;
}

// What the two halves of 16 bytes are multiplied with to move them `bytes` on. A product
// of reversed polynomials comes out one bit too low, which the shift makes good.
struct Fold {
  uint64_t low;
  uint64_t high;
};
constexpr Fold FoldBy(unsigned bytes) {
  return {uint64_t{PowerOfX(8 * bytes + 32)} << 1,
          uint64_t{PowerOfX(8 * bytes - 32)} << 1};
}

constexpr Fold kBy256 = FoldBy(256);
constexpr Fold kBy64 = FoldBy(64);

DOLIUM_AVX512 inline __m512i Wide(Fold fold) {
  return _mm512_set_epi64(static_cast<int64_t>(fold.high), static_cast<int64_t>(fold.low),
                          static_cast<int64_t>(fold.high), static_cast<int64_t>(fold.low),
                          static_cast<int64_t>(fold.high), static_cast<int64_t>(fold.low),
                          static_cast<int64_t>(fold.high),
                          static_cast<int64_t>(fold.low));
}

// `state` moved on, and what is there added.
DOLIUM_AVX512 inline __m512i Folded(__m512i state, __m512i by, __m512i there) {
  constexpr int kXorOfThree = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(state, by, 0x00),
                                   _mm512_clmulepi64_epi128(state, by, 0x11), there,
                                   kXorOfThree);
}

DOLIUM_AVX512 inline __m512i CopyWord(const std::byte* from, std::byte* into) {
  const __m512i word = _mm512_loadu_si512(from);
  _mm512_storeu_si512(into, word);
  return word;
}

// The state after the 64 bytes, beginning with 0.
DOLIUM_AVX512 inline uint64_t CrcOf(__m512i bytes) {
  std::array<uint64_t, 8> words;
  _mm512_storeu_si512(words.data(), bytes);
  uint64_t state = 0;
  for (const uint64_t word : words) state = _mm_crc32_u64(state, word);
  return state;
}

}  // namespace

bool HasAvx512Crc() {
  return __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0 &&
         __builtin_cpu_supports("vpclmulqdq") != 0 &&
         __builtin_cpu_supports("sse4.2") != 0;
}

DOLIUM_AVX512 uint32_t CopyWithCrcAvx512(const std::byte* from, std::byte* into,
                                         size_t size, uint32_t state) {
  const std::byte* const end = from + size;
  const auto step = [&]() DOLIUM_AVX512 {
    const __m512i word = CopyWord(from, into);
    from += 64;
    into += 64;
    return word;
  };
  // The state so far is added to the first bytes.
  const __m512i before =
      _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(state)));
  const __m512i by256 = Wide(kBy256);
  const __m512i by64 = Wide(kBy64);
  __m512i a = _mm512_xor_si512(step(), before);
  __m512i b = step();
  __m512i c = step();
  __m512i d = step();
  while (end - from >= 256) {
    a = Folded(a, by256, step());
    b = Folded(b, by256, step());
    c = Folded(c, by256, step());
    d = Folded(d, by256, step());
  }
  a = Folded(a, by64, b);
  a = Folded(a, by64, c);
  a = Folded(a, by64, d);
  while (end - from >= 64) a = Folded(a, by64, step());
  uint64_t wide = CrcOf(a);
  for (; end - from >= 8; from += 8, into += 8) {
    uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    std::memcpy(into, &word, sizeof word);
    wide = _mm_crc32_u64(wide, word);
  }
  auto narrow = static_cast<uint32_t>(wide);
  for (; from < end; ++from, ++into) {
    *into = *from;
    narrow = _mm_crc32_u8(narrow, static_cast<uint8_t>(*from));
  }
  return narrow;
}

}  // namespace dolium::internal

#endif
