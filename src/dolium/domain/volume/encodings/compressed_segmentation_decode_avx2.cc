#include "dolium/domain/volume/encodings/compressed_segmentation_internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

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
DOLIUM_AVX2_INLINE __m256i Blend(__m256i zeros, __m256i ones, __m256i mask) {
  return _mm256_castps_si256(_mm256_blendv_ps(
      _mm256_castsi256_ps(zeros), _mm256_castsi256_ps(ones), _mm256_castsi256_ps(mask)));
}

// Eight voxels of one block from the bytes of their indexes; what is the same for the
// whole block is worked out once, by the constructor.
template <typename Label, unsigned bits>
class Unpacker;

template <>
class Unpacker<uint32_t, 1> {
 public:
  DOLIUM_AVX2_INLINE explicit Unpacker(const std::byte* table)
      : labels_{Repeat(LoadLE<uint32_t>(table)), Repeat(LoadLE<uint32_t>(table + 4))},
        bit_(_mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128)) {}

  DOLIUM_AVX2_INLINE void Unpack(const std::byte* packed, std::byte* to) const {
    const __m256i byte = _mm256_set1_epi32(static_cast<int>(*packed));
    const __m256i is_set = _mm256_cmpeq_epi32(_mm256_and_si256(byte, bit_), bit_);
    Store(to, Blend(labels_[0], labels_[1], is_set));
  }

 private:
  __m256i labels_[2];
  __m256i bit_;
};

template <>
class Unpacker<uint64_t, 1> {
 public:
  DOLIUM_AVX2_INLINE explicit Unpacker(const std::byte* table)
      : labels_{Repeat(LoadLE<uint64_t>(table)), Repeat(LoadLE<uint64_t>(table + 8))},
        bit_{_mm256_setr_epi64x(1, 2, 4, 8), _mm256_setr_epi64x(16, 32, 64, 128)} {}

  DOLIUM_AVX2_INLINE void Unpack(const std::byte* packed, std::byte* to) const {
    const __m256i byte = _mm256_set1_epi32(static_cast<int>(*packed));
    for (size_t half = 0; half < 2; ++half) {
      const __m256i is_set =
          _mm256_cmpeq_epi64(_mm256_and_si256(byte, bit_[half]), bit_[half]);
      Store(to + half * 32, Blend(labels_[0], labels_[1], is_set));
    }
  }

 private:
  __m256i labels_[2];
  __m256i bit_[2];
};

// VPERMD looks up eight numbers in a table of eight, by the low 3 bits of each index: the
// table of 4 is there twice, so that the third bit, of the next voxel, does not matter.
template <>
class Unpacker<uint32_t, 2> {
 public:
  DOLIUM_AVX2_INLINE explicit Unpacker(const std::byte* table)
      : labels_(_mm256_broadcastsi128_si256(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(table)))),
        shift_(_mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14)) {}

  DOLIUM_AVX2_INLINE void Unpack(const std::byte* packed, std::byte* to) const {
    const __m256i all = _mm256_set1_epi32(LoadLE<uint16_t>(packed));
    Store(to, _mm256_permutevar8x32_epi32(labels_, _mm256_srlv_epi32(all, shift_)));
  }

 private:
  __m256i labels_;
  __m256i shift_;
};

// The low and high halves of eight labels of 64 bits, apart.
struct Halves {
  __m256i low;
  __m256i high;

  DOLIUM_AVX2_INLINE static Halves Of(const std::byte* labels) {
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    const __m256i a = _mm256_permutevar8x32_epi32(Load(labels), order);
    const __m256i b = _mm256_permutevar8x32_epi32(Load(labels + 32), order);
    return {_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31)};
  }

  // Precondition: in the order of voxels 0, 1, 4, 5, 2, 3, 6, 7, which is what the
  // unpacking of both lanes puts right.
  DOLIUM_AVX2_INLINE void StoreJoined(std::byte* to) const {
    Store(to, _mm256_unpacklo_epi32(low, high));
    Store(to + 32, _mm256_unpackhi_epi32(low, high));
  }
};

template <>
class Unpacker<uint64_t, 2> {
 public:
  DOLIUM_AVX2_INLINE explicit Unpacker(const std::byte* table)
      : shift_(_mm256_setr_epi32(0, 2, 8, 10, 4, 6, 12, 14)) {
    alignas(32) std::byte twice[64];
    Store(twice, Load(table));
    Store(twice + 32, Load(table));
    labels_ = Halves::Of(twice);
  }

  DOLIUM_AVX2_INLINE void Unpack(const std::byte* packed, std::byte* to) const {
    const __m256i all = _mm256_set1_epi32(LoadLE<uint16_t>(packed));
    const __m256i index = _mm256_srlv_epi32(all, shift_);
    Halves{_mm256_permutevar8x32_epi32(labels_.low, index),
           _mm256_permutevar8x32_epi32(labels_.high, index)}
        .StoreJoined(to);
  }

 private:
  Halves labels_;
  __m256i shift_;
};

// Of sixteen numbers in two tables, by the low 4 bits of each index.
DOLIUM_AVX2_INLINE __m256i LookUp16(__m256i first, __m256i second, __m256i index) {
  return Blend(_mm256_permutevar8x32_epi32(first, index),
               _mm256_permutevar8x32_epi32(second, index), _mm256_slli_epi32(index, 28));
}

template <>
class Unpacker<uint32_t, 4> {
 public:
  DOLIUM_AVX2_INLINE explicit Unpacker(const std::byte* table)
      : labels_{Load(table), Load(table + 32)},
        shift_(_mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28)) {}

  DOLIUM_AVX2_INLINE void Unpack(const std::byte* packed, std::byte* to) const {
    const __m256i all = Repeat(LoadLE<uint32_t>(packed));
    Store(to, LookUp16(labels_[0], labels_[1], _mm256_srlv_epi32(all, shift_)));
  }

 private:
  __m256i labels_[2];
  __m256i shift_;
};

template <>
class Unpacker<uint64_t, 4> {
 public:
  DOLIUM_AVX2_INLINE explicit Unpacker(const std::byte* table)
      : labels_{Halves::Of(table), Halves::Of(table + 64)},
        shift_(_mm256_setr_epi32(0, 4, 16, 20, 8, 12, 24, 28)) {}

  DOLIUM_AVX2_INLINE void Unpack(const std::byte* packed, std::byte* to) const {
    const __m256i all = Repeat(LoadLE<uint32_t>(packed));
    const __m256i index = _mm256_srlv_epi32(all, shift_);
    Halves{LookUp16(labels_[0].low, labels_[1].low, index),
           LookUp16(labels_[0].high, labels_[1].high, index)}
        .StoreJoined(to);
  }

 private:
  Halves labels_[2];
  __m256i shift_;
};

// Labels as four tables of bytes, 16 to a register: VPSHUFB looks up 32 at once.
class ByteTables {
 public:
  static constexpr size_t kMaxLabels = 64;
  static constexpr size_t kVoxels = 32;

  // Precondition: `labels` is kMaxLabels or less; that many, rounded up to a multiple of
  // 16, can be read.
  DOLIUM_AVX2_INLINE ByteTables(const std::byte* table, size_t labels)
      : sets_((labels + 15) / 16) {
    const __m128i by_byte =
        _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    for (size_t set = 0; set < sets_; ++set, table += 64) {
      __m128i four[4];
      for (size_t i = 0; i < 4; ++i) {
        four[i] = _mm_shuffle_epi8(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * i)), by_byte);
      }
      const __m128i low_a = _mm_unpacklo_epi32(four[0], four[1]);
      const __m128i low_b = _mm_unpacklo_epi32(four[2], four[3]);
      const __m128i high_a = _mm_unpackhi_epi32(four[0], four[1]);
      const __m128i high_b = _mm_unpackhi_epi32(four[2], four[3]);
      bytes_[set][0] = _mm256_broadcastsi128_si256(_mm_unpacklo_epi64(low_a, low_b));
      bytes_[set][1] = _mm256_broadcastsi128_si256(_mm_unpackhi_epi64(low_a, low_b));
      bytes_[set][2] = _mm256_broadcastsi128_si256(_mm_unpacklo_epi64(high_a, high_b));
      bytes_[set][3] = _mm256_broadcastsi128_si256(_mm_unpackhi_epi64(high_a, high_b));
    }
  }

  // Looks up 32 indexes; groups[i] is where group i of their labels goes.
  DOLIUM_AVX2_INLINE void LookUp(const std::byte* packed,
                                 std::byte* const* groups) const {
    const __m256i indexes = Load(packed);
    __m256i found[4] = {};
    for (size_t set = 0; set < sets_; ++set) {
      // Less than 128 if in this set, else more, for which VPSHUFB gives 0.
      const __m256i in_set = _mm256_adds_epu8(
          _mm256_xor_si256(indexes, _mm256_set1_epi8(static_cast<char>(set * 16))),
          _mm256_set1_epi8(0x70));
      for (size_t i = 0; i < 4; ++i) {
        found[i] = _mm256_or_si256(found[i], _mm256_shuffle_epi8(bytes_[set][i], in_set));
      }
    }
    const __m256i low_a = _mm256_unpacklo_epi8(found[0], found[1]);
    const __m256i low_b = _mm256_unpackhi_epi8(found[0], found[1]);
    const __m256i high_a = _mm256_unpacklo_epi8(found[2], found[3]);
    const __m256i high_b = _mm256_unpackhi_epi8(found[2], found[3]);
    // Each of both lanes has four voxels of one group.
    StoreLanes(_mm256_unpacklo_epi16(low_a, high_a), groups[0], groups[2]);
    StoreLanes(_mm256_unpackhi_epi16(low_a, high_a), groups[0] + 16, groups[2] + 16);
    StoreLanes(_mm256_unpacklo_epi16(low_b, high_b), groups[1], groups[3]);
    StoreLanes(_mm256_unpackhi_epi16(low_b, high_b), groups[1] + 16, groups[3] + 16);
  }

 private:
  DOLIUM_AVX2_INLINE static void StoreLanes(__m256i labels, std::byte* first,
                                            std::byte* second) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(first), _mm256_castsi256_si128(labels));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(second),
                     _mm256_extracti128_si256(labels, 1));
  }

  size_t sets_;
  __m256i bytes_[kMaxLabels / 16][4];
};

// The greatest of bytes, a multiple of 32.
DOLIUM_AVX2_INLINE size_t GreatestByte(const std::byte* bytes, size_t count) {
  __m256i greatest = _mm256_setzero_si256();
  for (size_t i = 0; i < count; i += 32) {
    greatest = _mm256_max_epu8(greatest, Load(bytes + i));
  }
  // There is an instruction for the least of 16-bit numbers only.
  const __m128i flipped =
      _mm_xor_si128(_mm_max_epu8(_mm256_castsi256_si128(greatest),
                                 _mm256_extracti128_si256(greatest, 1)),
                    _mm_set1_epi8(-1));
  const __m128i least =
      _mm_minpos_epu16(_mm_min_epu8(flipped, _mm_srli_epi16(flipped, 8)));
  return static_cast<size_t>(0xff - _mm_extract_epi16(least, 0));
}

// A row of labels, four at a time: stores are what this waits for. Not compiled for AVX2,
// with which compilers make slower instructions of the same.
template <typename Index>
void LookUpRow(const std::byte* packed, const std::byte* table, size_t voxels,
               std::byte* to) {
  const auto label = [&](size_t i) {
    const size_t index = LoadLE<Index>(packed + i * sizeof(Index));
    return _mm_cvtsi32_si128(static_cast<int>(LoadLE<uint32_t>(table + index * 4)));
  };
  for (size_t i = 0; i < voxels; i += 4) {
    const __m128i a = _mm_unpacklo_epi32(label(i), label(i + 1));
    const __m128i b = _mm_unpacklo_epi32(label(i + 2), label(i + 3));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * 4), _mm_unpacklo_epi64(a, b));
  }
}

}  // namespace

template <typename Label>
DOLIUM_AVX2 void Avx2LabelKernels::Fill(TargetBlock block, Label label) {
  if (block.size[0] % kVoxelGroup != 0) {
    return PortableLabelKernels::Fill<Label>(block, label);
  }
  const size_t row_bytes = block.size[0] * sizeof(Label);
  const __m256i value = Repeat(label);
  for (size_t z = 0; z < block.size[2]; ++z) {
    for (size_t y = 0; y < block.size[1]; ++y) {
      std::byte* row = block.row(y, z);
      for (size_t i = 0; i < row_bytes; i += 32) Store(row + i, value);
    }
  }
}

template <typename Label, unsigned bits>
DOLIUM_AVX2 void Avx2LabelKernels::UnpackGroups(PackedBlock from, TargetBlock block) {
  const Unpacker<Label, bits> unpacker(from.table);
  for (size_t z = 0; z < block.size[2]; ++z) {
    for (size_t y = 0; y < block.size[1]; ++y) {
      std::byte* row = block.row(y, z);
      const std::byte* packed = from.groups(y, z, bits);
      for (size_t x = 0; x < block.size[0]; x += kVoxelGroup) {
        unpacker.Unpack(packed, row);
        packed += bits;
        row += kVoxelGroup * sizeof(Label);
      }
    }
  }
}

DOLIUM_AVX2 bool Avx2LabelKernels::UnpackBytes(PackedBlock from, TargetBlock block) {
  constexpr size_t kGroups = ByteTables::kVoxels / kVoxelGroup;
  const size_t voxels = block.voxels();
  if (block.size[0] != kVoxelGroup || from.width != kVoxelGroup ||
      block.size[1] != from.height || block.size[1] % kGroups != 0) {
    return false;
  }
  const size_t greatest = GreatestByte(from.packed, voxels);
  if (greatest >= ByteTables::kMaxLabels) return false;
  const ByteTables tables(from.table, greatest + 1);
  const std::byte* packed = from.packed;
  for (size_t z = 0; z < block.size[2]; ++z) {
    for (size_t y = 0; y < block.size[1]; y += kGroups) {
      std::byte* const rows[kGroups] = {block.row(y, z), block.row(y + 1, z),
                                        block.row(y + 2, z), block.row(y + 3, z)};
      tables.LookUp(packed, rows);
      packed += ByteTables::kVoxels;
    }
  }
  return true;
}

template <typename Index>
void Avx2LabelKernels::LookUpGroups(PackedBlock from, TargetBlock block) {
  for (size_t z = 0; z < block.size[2]; ++z) {
    for (size_t y = 0; y < block.size[1]; ++y) {
      LookUpRow<Index>(from.groups(y, z, 8 * sizeof(Index)), from.table, block.size[0],
                       block.row(y, z));
    }
  }
}
template void Avx2LabelKernels::LookUpGroups<uint8_t>(PackedBlock, TargetBlock);
template void Avx2LabelKernels::LookUpGroups<uint16_t>(PackedBlock, TargetBlock);

#define DOLIUM_INSTANTIATE(Label, bits) \
  template void Avx2LabelKernels::UnpackGroups<Label, bits>(PackedBlock, TargetBlock);
DOLIUM_INSTANTIATE(uint32_t, 1)
DOLIUM_INSTANTIATE(uint32_t, 2)
DOLIUM_INSTANTIATE(uint32_t, 4)
DOLIUM_INSTANTIATE(uint64_t, 1)
DOLIUM_INSTANTIATE(uint64_t, 2)
DOLIUM_INSTANTIATE(uint64_t, 4)
#undef DOLIUM_INSTANTIATE
template void Avx2LabelKernels::Fill<uint32_t>(TargetBlock, uint32_t);
template void Avx2LabelKernels::Fill<uint64_t>(TargetBlock, uint64_t);

}  // namespace dolium::volume

#endif
