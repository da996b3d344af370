#include "dolium/domain/volume/encodings/compressed_segmentation_internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

#define DOLIUM_AVX2 __attribute__((target("avx2")))
#define DOLIUM_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace dolium::volume {
namespace {

DOLIUM_AVX2_INLINE __m256i Load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
DOLIUM_AVX2_INLINE void Store(void* to, __m256i value) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), value);
}
DOLIUM_AVX2_INLINE __m256i Repeat(uint32_t label) {
  return _mm256_set1_epi32(static_cast<int>(label));
}
DOLIUM_AVX2_INLINE __m256i Repeat(uint64_t label) {
  return _mm256_set1_epi64x(static_cast<long long>(label));
}
// For each of 32 voxels: 0xff if it has the label, else 0.
DOLIUM_AVX2_INLINE __m256i Match(const uint32_t* labels, __m256i label) {
  const __m256i a = _mm256_cmpeq_epi32(Load(labels), label);
  const __m256i b = _mm256_cmpeq_epi32(Load(labels + 8), label);
  const __m256i c = _mm256_cmpeq_epi32(Load(labels + 16), label);
  const __m256i d = _mm256_cmpeq_epi32(Load(labels + 24), label);
  // The packing of both lanes leaves groups of 4 voxels out of order.
  const __m256i mixed =
      _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
  return _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

// Of eight labels, as Match's comparison of uint32 ones gives it, but for their order: 0,
// 1, 4, 5, 2, 3, 6, 7.
DOLIUM_AVX2_INLINE __m256i MatchEight(const uint64_t* labels, __m256i label) {
  const __m256i a = _mm256_cmpeq_epi64(Load(labels), label);
  const __m256i b = _mm256_cmpeq_epi64(Load(labels + 4), label);
  return _mm256_castps_si256(_mm256_shuffle_ps(
      _mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
}
DOLIUM_AVX2_INLINE __m256i Match(const uint64_t* labels, __m256i label) {
  const __m256i mixed = _mm256_packs_epi16(
      _mm256_packs_epi32(MatchEight(labels, label), MatchEight(labels + 8, label)),
      _mm256_packs_epi32(MatchEight(labels + 16, label), MatchEight(labels + 24, label)));
  // Pairs of voxels, in units of 2 bytes: 0, 2, 4, 6, ... | 1, 3, 5, 7, ...
  const __m256i halves = _mm256_permute4x64_epi64(mixed, _MM_SHUFFLE(3, 1, 2, 0));
  const __m256i order =
      _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15, 0, 1, 8, 9,
                       2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
  return _mm256_shuffle_epi8(halves, order);
}

// Whether so many voxels with so many labels, the first ones found, let one expect more
// labels in the block than are found faster one by one than with a hash table.
constexpr size_t kTrialLabels = 32;
constexpr size_t kMaxExpectedLabels = 192;
bool ExpectsTooMany(size_t voxels, size_t left) {
  return left * kTrialLabels > (voxels - left) * (kMaxExpectedLabels - kTrialLabels);
}

// Adds 1 to `count` where a number of `a` is greater than one of `b`.
template <typename Label>
DOLIUM_AVX2_INLINE __m256i CountGreater(__m256i count, __m256i a, __m256i b) {
  if constexpr (sizeof(Label) == 4) {
    return _mm256_sub_epi32(count, _mm256_cmpgt_epi32(a, b));
  } else {
    return _mm256_sub_epi64(count, _mm256_cmpgt_epi64(a, b));
  }
}

// Packs 32 ranks of `bits` bits each.
DOLIUM_AVX2_INLINE void PackRanks(__m256i ranks, unsigned bits, std::byte* to) {
  if (bits == 1) {
    const int mask = _mm256_movemask_epi8(_mm256_slli_epi16(ranks, 7));
    StoreLE<uint32_t>(to, static_cast<uint32_t>(mask));
    return;
  }
  if (bits == 2) {
    const __m256i pairs = _mm256_maddubs_epi16(ranks, _mm256_set1_epi16(0x0401));
    const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00100001));
    const __m256i bytes = _mm256_shuffle_epi8(fours, _mm256_set1_epi32(0x0c080400));
    StoreLE<uint32_t>(to, static_cast<uint32_t>(_mm256_extract_epi32(bytes, 0)));
    StoreLE<uint32_t>(to + 4, static_cast<uint32_t>(_mm256_extract_epi32(bytes, 4)));
    return;
  }
  if (bits == 8) {
    Store(to, ranks);
    return;
  }
  const __m256i pairs = _mm256_maddubs_epi16(ranks, _mm256_set1_epi16(0x1001));
  const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(pairs, pairs),
                                                 _MM_SHUFFLE(3, 1, 2, 0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(bytes));
}

}  // namespace

template <typename Label>
DOLIUM_AVX2 bool Avx2LabelKernels::IsUniform(SourceBlock block) {
  if (block.size[0] % kVoxelGroup != 0)
    return PortableLabelKernels::IsUniform<Label>(block);
  const size_t row_bytes = block.size[0] * sizeof(Label);
  const __m256i label = Repeat(LoadLE<Label>(block.first));
  for (size_t z = 0; z < block.size[2]; ++z) {
    __m256i difference = _mm256_setzero_si256();
    for (size_t y = 0; y < block.size[1]; ++y) {
      const std::byte* row = block.row(y, z);
      for (size_t i = 0; i < row_bytes; i += 32) {
        difference = _mm256_or_si256(difference, _mm256_xor_si256(Load(row + i), label));
      }
    }
    if (_mm256_testz_si256(difference, difference) == 0) return false;
  }
  return true;
}

template <typename Label>
DOLIUM_AVX2 void Avx2LabelKernels::Copy(SourceBlock block, Label* to) {
  if (block.size[0] % kVoxelGroup != 0)
    return PortableLabelKernels::Copy<Label>(block, to);
  const size_t row_bytes = block.size[0] * sizeof(Label);
  for (size_t z = 0; z < block.size[2]; ++z) {
    for (size_t y = 0; y < block.size[1]; ++y) {
      const std::byte* row = block.row(y, z);
      for (size_t i = 0; i < row_bytes; i += 32, to += 32 / sizeof(Label)) {
        Store(to, Load(row + i));
      }
    }
  }
}

DOLIUM_AVX2 bool Avx2LabelKernels::CopyLow(SourceBlock block, uint32_t high,
                                           uint32_t* to) {
  if (block.size[0] % kVoxelGroup != 0) {
    return PortableLabelKernels::CopyLow(block, high, to);
  }
  const __m256i high_mask = Repeat(uint64_t{0xffffffff00000000});
  const __m256i wanted = Repeat(uint64_t{high} << 32);
  const __m256i zero = _mm256_setzero_si256();
  __m256i wrong = zero;
  // Where a label is not 0: bits of its high half that are not as wanted; where its low
  // half is 0, all of that.
  const auto check = [&](__m256i labels) DOLIUM_AVX2 {
    const __m256i high_bits =
        _mm256_and_si256(_mm256_xor_si256(labels, wanted), high_mask);
    const __m256i low_zero =
        _mm256_andnot_si256(high_mask, _mm256_cmpeq_epi32(labels, zero));
    const __m256i all_zero = _mm256_cmpeq_epi64(labels, zero);
    wrong = _mm256_or_si256(
        wrong, _mm256_andnot_si256(all_zero, _mm256_or_si256(high_bits, low_zero)));
  };
  for (size_t z = 0; z < block.size[2]; ++z) {
    for (size_t y = 0; y < block.size[1]; ++y) {
      const std::byte* row = block.row(y, z);
      for (size_t x = 0; x < block.size[0]; x += kVoxelGroup) {
        const __m256i a = Load(row);
        const __m256i b = Load(row + 32);
        check(a);
        check(b);
        // Low halves of voxels 0, 1, 4, 5 | 2, 3, 6, 7, then in order.
        const __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(
            _mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
        Store(to, _mm256_permute4x64_epi64(low, _MM_SHUFFLE(3, 1, 2, 0)));
        row += kVoxelGroup * sizeof(uint64_t);
        to += kVoxelGroup;
      }
    }
  }
  return _mm256_testz_si256(wrong, wrong) != 0;
}

// Takes one label after another off the block, which costs the same however its voxels
// are spread, and has no branches that depend on them.
template <typename Label>
DOLIUM_AVX2 size_t Avx2LabelKernels::NumberFew(const Label* labels, size_t voxels,
                                               uint8_t* ids, Label* distinct) {
  const size_t steps = (voxels + kFewStep - 1) / kFewStep;
  uint32_t left[kMaxFewVoxels / kFewStep];  // a bit for each voxel without a number
  std::memset(left, 0xff, steps * sizeof(uint32_t));
  if (voxels % kFewStep != 0) left[steps - 1] = (1U << voxels % kFewStep) - 1;
  std::memset(ids, 0, steps * kFewStep);
  size_t count = 0;
  for (size_t first = 0;; ++count) {
    while (first < steps && left[first] == 0) ++first;
    if (first == steps) return count;
    if (count == kMaxFewLabels) return 0;
    if (count == kTrialLabels) {
      size_t voxels_left = 0;
      for (size_t i = first; i < steps; ++i) {
        voxels_left += static_cast<size_t>(std::popcount(left[i]));
      }
      if (ExpectsTooMany(voxels, voxels_left)) return 0;
    }
    const Label label =
        labels[first * kFewStep + static_cast<size_t>(std::countr_zero(left[first]))];
    distinct[count] = label;
    const __m256i wanted = Repeat(label);
    const __m256i id = _mm256_set1_epi8(static_cast<char>(count));
    for (size_t i = first; i < steps; ++i) {
      const __m256i matches = Match(labels + i * kFewStep, wanted);
      uint8_t* to = ids + i * kFewStep;
      Store(to, _mm256_or_si256(Load(to), _mm256_and_si256(matches, id)));
      left[i] &= ~static_cast<uint32_t>(_mm256_movemask_epi8(matches));
    }
  }
}

DOLIUM_AVX2 void Avx2LabelKernels::PackFew(const uint8_t* ids, size_t voxels,
                                           const uint8_t* ranks, size_t labels,
                                           unsigned bits, std::byte* to) {
  const size_t steps = (voxels + kFewStep - 1) / kFewStep;
  // VPSHUFB looks up bytes in a table of 16; it gives 0 for indexes of 128 and more.
  const size_t tables = (labels + 15) / 16;
  for (size_t i = 0; i < steps; ++i) {
    const __m256i all_ids = Load(ids + i * kFewStep);
    __m256i found = _mm256_setzero_si256();
    for (size_t table = 0; table < tables; ++table) {
      const __m256i in_table = _mm256_adds_epu8(
          _mm256_xor_si256(all_ids, _mm256_set1_epi8(static_cast<char>(table * 16))),
          _mm256_set1_epi8(0x70));
      const __m256i values = _mm256_broadcastsi128_si256(
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(ranks + table * 16)));
      found = _mm256_or_si256(found, _mm256_shuffle_epi8(values, in_table));
    }
    PackRanks(found, bits, to + i * kFewStep / 8 * bits);
  }
  // What the arrays hold behind the last voxel is not for the chunk.
  const size_t end = voxels * bits;
  if (end % 32 != 0) {
    std::byte* word = to + end / 32 * 4;
    StoreLE<uint32_t>(word, LoadLE<uint32_t>(word) & ((1U << end % 32) - 1));
  }
}

template <typename Label>
DOLIUM_AVX2 void Avx2LabelKernels::RankFew(const Label* labels, size_t count,
                                           uint8_t* ranks) {
  constexpr size_t kLanes = 32 / sizeof(Label);
  // AVX2 compares signed numbers only.
  constexpr Label kSign = Label{1} << (8 * sizeof(Label) - 1);
  // Two vectors at once: a sum waits for the one before.
  for (size_t i = 0; i < count; i += 2 * kLanes) {
    Label some[2 * kLanes] = {};
    std::memcpy(some, labels + i, std::min(2 * kLanes, count - i) * sizeof(Label));
    const __m256i a = _mm256_xor_si256(Load(some), Repeat(kSign));
    const __m256i b = _mm256_xor_si256(Load(some + kLanes), Repeat(kSign));
    __m256i less_a = _mm256_setzero_si256();
    __m256i less_b = _mm256_setzero_si256();
    for (size_t j = 0; j < count; ++j) {
      const __m256i other = Repeat(static_cast<Label>(labels[j] ^ kSign));
      less_a = CountGreater<Label>(less_a, a, other);
      less_b = CountGreater<Label>(less_b, b, other);
    }
    Store(some, less_a);
    Store(some + kLanes, less_b);
    for (size_t lane = 0; lane < 2 * kLanes; ++lane) {
      ranks[i + lane] = static_cast<uint8_t>(some[lane]);
    }
  }
}

template bool Avx2LabelKernels::IsUniform<uint32_t>(SourceBlock);
template void Avx2LabelKernels::Copy<uint32_t>(SourceBlock, uint32_t*);
template size_t Avx2LabelKernels::NumberFew<uint32_t>(const uint32_t*, size_t, uint8_t*,
                                                      uint32_t*);
template void Avx2LabelKernels::RankFew<uint32_t>(const uint32_t*, size_t, uint8_t*);
template bool Avx2LabelKernels::IsUniform<uint64_t>(SourceBlock);
template void Avx2LabelKernels::Copy<uint64_t>(SourceBlock, uint64_t*);
template size_t Avx2LabelKernels::NumberFew<uint64_t>(const uint64_t*, size_t, uint8_t*,
                                                      uint64_t*);
template void Avx2LabelKernels::RankFew<uint64_t>(const uint64_t*, size_t, uint8_t*);

}  // namespace dolium::volume

#endif

namespace dolium::volume {

LabelKernels BestLabelKernels() {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return LabelKernels::kAvx2;
#endif
  return LabelKernels::kPortable;
}

}  // namespace dolium::volume
