// DVID label blocks: a cube of uint64 labels as a list of labels, and for each 8x8x8
// sub-block a palette of indexes into the list and a packed index into the palette for
// each voxel.
//
// A block holds supervoxels. Agglomerated labels come as a second list with the same
// positions, so that decoding either costs the same. Dense arrays have x fastest, then y,
// then z. All functions may be called from many threads, take hostile input, and use AVX2
// where the processor has it. Errors do not name the block; callers do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dolium/base/bytes.h"
#include "dolium/base/endian.h"
#include "dolium/base/result.h"

namespace dolium::dvid {

inline constexpr size_t kSubBlockSide = 8;
inline constexpr size_t kSubBlockVoxels = 512;
// Along each axis: 1024 voxels.
inline constexpr uint32_t kMaxSubBlocks = 128;
// Side of the blocks in exports.
inline constexpr int32_t kBlockSide = 64;

// Labels as they are stored: little-endian, at any address. Does not own.
class LabelList {
 public:
  LabelList() = default;
  // Precondition: a multiple of 8 bytes.
  explicit LabelList(BytesView bytes) : bytes_(bytes) {}

  size_t size() const { return bytes_.size() / sizeof(uint64_t); }
  uint64_t operator[](size_t i) const {
    return LoadLE<uint64_t>(bytes_.data() + i * sizeof(uint64_t));
  }
  BytesView bytes() const { return bytes_; }

 private:
  BytesView bytes_;
};

// The bits of one index into a palette of so many entries.
unsigned IndexBits(size_t palette);

// One sub-block as it is stored. Does not own.
struct SubBlock {
  size_t labels = 0;                   // entries of the palette; 0: all voxels are 0
  const std::byte* palette = nullptr;  // uint32 each, indexes into the list
  const std::byte* values = nullptr;   // 64 * IndexBits(labels) bytes

  uint32_t entry(size_t i) const { return LoadLE<uint32_t>(palette + 4 * i); }
};

// A block whose sections have the right sizes. Does not own its bytes.
class LabelBlock {
 public:
  // kCorrupt unless the bytes are one block and nothing else, with every palette entry in
  // the list. What remains to be checked, by whoever decodes, is packed indexes.
  static Result<LabelBlock> Parse(BytesView bytes);

  // Sub-blocks along x, y, z.
  const std::array<uint32_t, 3>& grid() const { return grid_; }
  size_t sub_block_count() const { return size_t{grid_[0]} * grid_[1] * grid_[2]; }
  // Voxels along x, y, z.
  std::array<size_t, 3> size() const {
    return {grid_[0] * kSubBlockSide, grid_[1] * kSubBlockSide, grid_[2] * kSubBlockSide};
  }
  uint64_t voxels() const { return uint64_t{sub_block_count()} * kSubBlockVoxels; }
  const LabelList& labels() const { return labels_; }
  // One label, and no sub-blocks are stored.
  bool is_solid() const { return labels_.size() == 1; }

  // Calls visit(number, SubBlock) in order: x fastest, then y, then z. Stops at the first
  // error. Precondition: !is_solid().
  template <typename Visit>
  Result<void> ForEachSubBlock(const Visit& visit) const {
    const std::byte* palette = palettes_.data();
    const std::byte* values = values_.data();
    for (size_t i = 0; i < sub_block_count(); ++i) {
      const size_t labels = LoadLE<uint16_t>(counts_.data() + 2 * i);
      DOLIUM_TRY_VOID(visit(i, SubBlock{labels, palette, values}));
      palette += 4 * labels;
      values += kSubBlockVoxels / 8 * IndexBits(labels);
    }
    return {};
  }

  // Where the values end; what is readable behind a sub-block's own.
  const std::byte* values_end() const { return values_.data() + values_.size(); }

 private:
  std::array<uint32_t, 3> grid_ = {0, 0, 0};
  LabelList labels_;
  BytesView counts_;
  BytesView palettes_;
  BytesView values_;
};

// Fills `voxels` with labels of `list`, which is the block's own or another of the same
// length. kCorrupt if a packed index is not in its palette, or the list has another
// length; `voxels` then holds anything.
// Precondition: voxels.size() == block.voxels().
Result<void> DecodeBlock(const LabelBlock& block, const LabelList& list,
                         std::span<uint64_t> voxels);

// The palette index of each voxel of a sub-block. kCorrupt if one is not in the palette.
// Precondition: more than one label; `end` is the block's values_end().
Result<void> UnpackIndexes(const SubBlock& sub_block, const std::byte* end,
                           std::span<uint16_t, kSubBlockVoxels> indexes);

// Encodes a dense array: palettes and list in order of first appearance, one label alone
// as a solid block. Equal voxels give equal bytes.
// Precondition: voxels.size() is that of the grid, whose sides are 2 ... kMaxSubBlocks.
ByteVector EncodeBlock(const std::array<uint32_t, 3>& grid,
                       std::span<const uint64_t> voxels);

}  // namespace dolium::dvid
