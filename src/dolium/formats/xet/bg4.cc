#include "dolium/formats/xet/bg4.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <array>

namespace dolium::xet {

namespace {

constexpr size_t kGroups = 4;

// Where each group begins.
std::array<size_t, kGroups> GroupStarts(size_t size) {
  std::array<size_t, kGroups> starts{};
  for (size_t g = 1; g < kGroups; ++g) {
    starts[g] = starts[g - 1] + size / kGroups + (g - 1 < size % kGroups ? 1 : 0);
  }
  return starts;
}

#if defined(__x86_64__)
constexpr size_t kAtOnce = 64;

__m128i Load(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
void StoreVector(std::byte* to, __m128i value) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value);
}
// The bytes at even, and at odd positions of two registers.
__m128i Even(__m128i a, __m128i b) {
  const __m128i low = _mm_set1_epi16(0xFF);
  return _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low));
}
__m128i Odd(__m128i a, __m128i b) {
  return _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8));
}
#endif

}  // namespace

void Bg4Split(BytesView from, MutableBytes to) {
  const auto starts = GroupStarts(from.size());
  const std::byte* in = from.data();
  std::byte* const out = to.data();
  size_t i = 0;
#if defined(__x86_64__)
  for (; i + kAtOnce <= from.size(); i += kAtOnce) {
    const __m128i a = Load(in + i);
    const __m128i b = Load(in + i + 16);
    const __m128i c = Load(in + i + 32);
    const __m128i d = Load(in + i + 48);
    const __m128i even_ab = Even(a, b);
    const __m128i even_cd = Even(c, d);
    const __m128i odd_ab = Odd(a, b);
    const __m128i odd_cd = Odd(c, d);
    const size_t at = i / kGroups;
    StoreVector(out + starts[0] + at, Even(even_ab, even_cd));
    StoreVector(out + starts[1] + at, Even(odd_ab, odd_cd));
    StoreVector(out + starts[2] + at, Odd(even_ab, even_cd));
    StoreVector(out + starts[3] + at, Odd(odd_ab, odd_cd));
  }
#endif
  for (; i < from.size(); ++i) out[starts[i % kGroups] + i / kGroups] = in[i];
}

void Bg4Join(BytesView from, MutableBytes to) {
  const auto starts = GroupStarts(from.size());
  const std::byte* in = from.data();
  std::byte* const out = to.data();
  size_t i = 0;
#if defined(__x86_64__)
  for (; i + kAtOnce <= from.size(); i += kAtOnce) {
    const size_t at = i / kGroups;
    const __m128i a = Load(in + starts[0] + at);
    const __m128i b = Load(in + starts[1] + at);
    const __m128i c = Load(in + starts[2] + at);
    const __m128i d = Load(in + starts[3] + at);
    const __m128i low_ab = _mm_unpacklo_epi8(a, b);
    const __m128i high_ab = _mm_unpackhi_epi8(a, b);
    const __m128i low_cd = _mm_unpacklo_epi8(c, d);
    const __m128i high_cd = _mm_unpackhi_epi8(c, d);
    StoreVector(out + i, _mm_unpacklo_epi16(low_ab, low_cd));
    StoreVector(out + i + 16, _mm_unpackhi_epi16(low_ab, low_cd));
    StoreVector(out + i + 32, _mm_unpacklo_epi16(high_ab, high_cd));
    StoreVector(out + i + 48, _mm_unpackhi_epi16(high_ab, high_cd));
  }
#endif
  for (; i < from.size(); ++i) out[i] = in[starts[i % kGroups] + i / kGroups];
}

}  // namespace dolium::xet
