// The inner loops of compressed_segmentation, once in plain C++ and once for AVX2. Both
// sets have the same functions; the encoder and the decoder are templates over the set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dolium/base/bytes.h"
#include "dolium/base/checked_math.h"
#include "dolium/base/endian.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

enum class LabelKernels : uint8_t { kPortable, kAvx2 };

// The fastest that this processor can run.
LabelKernels BestLabelKernels();

// As the public functions, with the kernels named. Precondition: the processor has them.
Result<void> DecodeCompressedSegmentation(const ArrayShape& shape, const Vec3& block_size,
                                          BytesView stored, MutableBytes voxels,
                                          LabelKernels kernels);
Result<ByteVector> EncodeCompressedSegmentation(const ArrayShape& shape,
                                                const Vec3& block_size, BytesView voxels,
                                                LabelKernels kernels);

// The part of a block that lies within the chunk. Byte is std::byte or const std::byte.
template <typename Byte>
struct BlockOfVoxels {
  Byte* first;
  size_t size[3];      // voxels
  size_t row_bytes;    // from one y to the next
  size_t plane_bytes;  // from one z to the next

  Byte* row(size_t y, size_t z) const { return first + y * row_bytes + z * plane_bytes; }
  size_t voxels() const { return size[0] * size[1] * size[2]; }
};
using SourceBlock = BlockOfVoxels<const std::byte>;
using TargetBlock = BlockOfVoxels<std::byte>;

// The blocks of a chunk along each axis.
inline Vec3 BlockGrid(const Vec3& size, const Vec3& block_size) {
  return {(size[0] - 1) / block_size[0] + 1, (size[1] - 1) / block_size[1] + 1,
          (size[2] - 1) / block_size[2] + 1};
}

// The voxels of a whole block; the largest number there is if they are more.
inline uint64_t BlockVoxels(const Vec3& block_size) {
  uint64_t voxels = 1;
  for (const int64_t size : block_size) {
    voxels = CheckedMul(voxels, static_cast<uint64_t>(size)).value_or(~uint64_t{0});
  }
  return voxels;
}

// One block of the grid. `voxels` are those of the channel.
template <typename Label, typename Byte>
BlockOfVoxels<Byte> BlockAt(const Vec3& block, const Vec3& size, const Vec3& block_size,
                            Byte* voxels) {
  const size_t row_bytes = static_cast<size_t>(size[0]) * sizeof(Label);
  const size_t plane_bytes = static_cast<size_t>(size[1]) * row_bytes;
  BlockOfVoxels<Byte> out{voxels, {}, row_bytes, plane_bytes};
  const size_t strides[3] = {sizeof(Label), row_bytes, plane_bytes};
  for (size_t d = 0; d < 3; ++d) {
    const int64_t begin = block[d] * block_size[d];
    out.first += static_cast<size_t>(begin) * strides[d];
    out.size[d] = static_cast<size_t>(std::min(block_size[d], size[d] - begin));
  }
  return out;
}

// Voxels that the fast kernels do at once. Blocks whose rows are not made of such groups
// go to the slow ones.
constexpr size_t kVoxelGroup = 8;

// Where the index of each voxel of a block is: at bit `bits` * (x + width * (y + height *
// z)) of `packed`.
struct PackedBlock {
  const std::byte* packed;
  const std::byte* table;
  uint64_t width;
  uint64_t height;

  bool HasGroups(const TargetBlock& block) const {
    return block.size[0] % kVoxelGroup == 0 && width % kVoxelGroup == 0;
  }
  // The first group of a row; the next one is `bits` bytes on.
  const std::byte* groups(size_t y, size_t z, unsigned bits) const {
    return packed + width / kVoxelGroup * (y + height * z) * bits;
  }
};

// Blocks of at most as many voxels can have their labels numbered by NumberFew.
constexpr size_t kMaxFewVoxels = 4096;
constexpr size_t kMaxFewLabels = 255;
// What NumberFew works on: its arrays have room for a multiple of it.
constexpr size_t kFewStep = 32;

struct PortableLabelKernels {
  static constexpr bool kHasNumberFew = false;

  template <typename Label>
  static bool IsUniform(SourceBlock block) {
    const Label label = LoadLE<Label>(block.first);
    for (size_t z = 0; z < block.size[2]; ++z) {
      for (size_t y = 0; y < block.size[1]; ++y) {
        const std::byte* row = block.row(y, z);
        Label difference = 0;
        for (size_t x = 0; x < block.size[0]; ++x) {
          difference |= LoadLE<Label>(row + x * sizeof(Label)) ^ label;
        }
        if (difference != 0) return false;
      }
    }
    return true;
  }

  template <typename Label>
  static void Copy(SourceBlock block, Label* to) {
    for (size_t z = 0; z < block.size[2]; ++z) {
      for (size_t y = 0; y < block.size[1]; ++y) {
        const std::byte* row = block.row(y, z);
        for (size_t x = 0; x < block.size[0]; ++x) {
          *to++ = LoadLE<Label>(row + x * sizeof(Label));
        }
      }
    }
  }

  // Copies the low halves of uint64 labels. False if these do not distinguish the labels
  // in the simplest of ways, `to` is then useless: each label but 0 has this high half,
  // and a low half that is not 0.
  static bool CopyLow(SourceBlock block, uint32_t high, uint32_t* to) {
    for (size_t z = 0; z < block.size[2]; ++z) {
      for (size_t y = 0; y < block.size[1]; ++y) {
        const std::byte* row = block.row(y, z);
        bool wrong = false;
        for (size_t x = 0; x < block.size[0]; ++x, row += sizeof(uint64_t)) {
          const auto label = LoadLE<uint64_t>(row);
          const auto low = static_cast<uint32_t>(label);
          wrong |= label != 0 && (label >> 32 != high || low == 0);
          *to++ = low;
        }
        if (wrong) return false;
      }
    }
    return true;
  }

  template <typename Label>
  static void Fill(TargetBlock block, Label label) {
    for (size_t z = 0; z < block.size[2]; ++z) {
      for (size_t y = 0; y < block.size[1]; ++y) {
        std::byte* row = block.row(y, z);
        for (size_t x = 0; x < block.size[0]; ++x) {
          StoreLE<Label>(row + x * sizeof(Label), label);
        }
      }
    }
  }

  // Precondition: the table holds every index that a voxel of the block has; if `bits` is
  // 8 or less, every index of that many bits.
  template <typename Label, unsigned bits>
  static void Unpack(PackedBlock from, TargetBlock block) {
    if constexpr (bits <= 16) {
      if (from.HasGroups(block)) return UnpackGroups<Label, bits>(from, block);
    }
    ForEachIndex<bits>(
        from, block,
        [&](uint32_t index, std::byte* to) {
          StoreLE<Label>(to, LoadLE<Label>(from.table + size_t{index} * sizeof(Label)));
        },
        sizeof(Label));
  }

  // The greatest index that a voxel of the block has.
  template <unsigned bits>
  static uint32_t GreatestIndex(PackedBlock from, TargetBlock block) {
    uint32_t greatest = 0;
    if constexpr (bits == 8 || bits == 16) {
      if (from.HasGroups(block)) return GreatestOfGroups<IndexOf<bits>>(from, block);
    }
    ForEachIndex<bits>(
        from, block,
        [&](uint32_t index, std::byte*) {
          greatest = index > greatest ? index : greatest;
        },
        0);
    return greatest;
  }

 private:
  template <unsigned bits>
  using IndexOf = std::conditional_t<bits == 8, uint8_t, uint16_t>;

  template <typename Index>
  static uint32_t GreatestOfGroups(PackedBlock from, TargetBlock block) {
    if (block.size[0] == from.width && block.size[1] == from.height) {
      block.size[0] = block.voxels();
      block.size[1] = block.size[2] = 1;
    }
    Index greatest = 0;
    for (size_t z = 0; z < block.size[2]; ++z) {
      for (size_t y = 0; y < block.size[1]; ++y) {
        const std::byte* packed = from.groups(y, z, 8 * sizeof(Index));
        for (size_t x = 0; x < block.size[0]; ++x) {
          greatest = std::max(greatest, LoadLE<Index>(packed + x * sizeof(Index)));
        }
      }
    }
    return greatest;
  }

  // Index `i` of the group at `packed`.
  template <unsigned bits>
  static size_t IndexInGroup(const std::byte* packed, size_t i) {
    if constexpr (bits >= 8) return LoadLE<IndexOf<bits>>(packed + i * (bits / 8));
    using Group = std::conditional_t<bits == 1, uint8_t,
                                     std::conditional_t<bits == 2, uint16_t, uint32_t>>;
    return (LoadLE<Group>(packed) >> (i * bits)) & ((1U << bits) - 1);
  }

  // Stores 8 bytes at a time: stores are what this waits for.
  template <typename Label, unsigned bits>
  static void UnpackGroups(PackedBlock from, TargetBlock block) {
    const auto label = [&](const std::byte* packed, size_t i) -> uint64_t {
      return LoadLE<Label>(from.table + IndexInGroup<bits>(packed, i) * sizeof(Label));
    };
    for (size_t z = 0; z < block.size[2]; ++z) {
      for (size_t y = 0; y < block.size[1]; ++y) {
        std::byte* to = block.row(y, z);
        const std::byte* packed = from.groups(y, z, bits);
        for (size_t x = 0; x < block.size[0]; x += kVoxelGroup, packed += bits) {
          for (size_t i = 0; i < kVoxelGroup; i += 8 / sizeof(Label), to += 8) {
            uint64_t labels = label(packed, i);
            if constexpr (sizeof(Label) == 4) labels |= label(packed, i + 1) << 32;
            StoreLE<uint64_t>(to, labels);
          }
        }
      }
    }
  }

  // Calls visit(index, place) for all voxels of the block; places in a row are
  // `voxel_bytes` apart.
  template <unsigned bits, typename Visit>
  static void ForEachIndex(PackedBlock from, TargetBlock block, const Visit& visit,
                           size_t voxel_bytes) {
    constexpr unsigned kPerWord = 32 / bits;
    constexpr uint32_t kMask = static_cast<uint32_t>((uint64_t{1} << bits) - 1);
    for (size_t z = 0; z < block.size[2]; ++z) {
      for (size_t y = 0; y < block.size[1]; ++y) {
        std::byte* to = block.row(y, z);
        const uint64_t position = from.width * (y + from.height * z);
        const std::byte* words = from.packed + position / kPerWord * 4;
        auto skip = static_cast<unsigned>(position % kPerWord);
        for (size_t left = block.size[0]; left > 0; words += 4) {
          uint32_t word = LoadLE<uint32_t>(words);
          if (skip == 0 && left >= kPerWord) {
            for (unsigned i = 0; i < kPerWord; ++i, to += voxel_bytes) {
              visit((word >> (i * bits)) & kMask, to);
            }
            left -= kPerWord;
            continue;
          }
          for (; skip < kPerWord && left > 0; ++skip, --left, to += voxel_bytes) {
            visit((word >> (skip * bits)) & kMask, to);
          }
          skip = 0;
        }
      }
    }
  }
};

#if defined(__x86_64__)

struct Avx2LabelKernels {
  static constexpr bool kHasNumberFew = true;

  template <typename Label>
  static bool IsUniform(SourceBlock block);
  template <typename Label>
  static void Copy(SourceBlock block, Label* to);
  static bool CopyLow(SourceBlock block, uint32_t high, uint32_t* to);
  // Numbers distinct labels as they appear, and sets ids[i] to the number of labels[i].
  // Returns how many there are; 0 if there are too many for this to be fast.
  template <typename Label>
  static size_t NumberFew(const Label* labels, size_t voxels, uint8_t* ids,
                          Label* distinct);
  // Sets ranks[i] to how many of `count` distinct labels are less than labels[i], in time
  // that is quadratic but short. Writes up to 16 bytes of garbage behind.
  template <typename Label>
  static void RankFew(const Label* labels, size_t count, uint8_t* ranks);
  // Writes ranks[ids[i]] for all voxels, `bits` each, 8 at most, in whole words, and up
  // to 32 bytes of garbage behind. `ranks` has room for a multiple of 16.
  static void PackFew(const uint8_t* ids, size_t voxels, const uint8_t* ranks,
                      size_t labels, unsigned bits, std::byte* to);

  template <typename Label>
  static void Fill(TargetBlock block, Label label);
  template <typename Label, unsigned bits>
  static void Unpack(PackedBlock from, TargetBlock block) {
    if constexpr (bits <= 4) {
      if (from.HasGroups(block)) return UnpackGroups<Label, bits>(from, block);
    } else if constexpr (bits <= 16 && sizeof(Label) == 4) {
      using Index = std::conditional_t<bits == 8, uint8_t, uint16_t>;
      if (bits == 8 && UnpackBytes(from, block)) return;
      if (from.HasGroups(block)) return LookUpGroups<Index>(from, block);
    }
    PortableLabelKernels::Unpack<Label, bits>(from, block);
  }

 private:
  template <typename Label, unsigned bits>
  static void UnpackGroups(PackedBlock from, TargetBlock block);
  // False, and nothing is done, if the block is not 8 voxels wide or has too many labels.
  static bool UnpackBytes(PackedBlock from, TargetBlock block);
  template <typename Index>
  static void LookUpGroups(PackedBlock from, TargetBlock block);
};

#endif

}  // namespace dolium::volume
