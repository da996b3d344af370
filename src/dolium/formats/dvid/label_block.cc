#include "dolium/formats/dvid/label_block.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/formats/dvid/label_block_internal.h"

namespace dolium::dvid {
namespace {

constexpr uint32_t kMinSubBlocks = 2;
constexpr size_t kMaxPalette = kSubBlockVoxels;
constexpr unsigned kMaxIndexBits = 9;
constexpr size_t kRows = kSubBlockVoxels / kSubBlockSide;

// Values of a sub-block with room behind them: as they are, or a copy.
class PaddedValues {
 public:
  PaddedValues(const std::byte* values, unsigned bits, const std::byte* end) {
    const size_t size = kRows * bits;
    if (static_cast<size_t>(end - values) >= size + kReadSlack) {
      data_ = values;
      return;
    }
    std::memcpy(copy_, values, size);
    std::memset(copy_ + size, 0, kReadSlack);
    data_ = copy_;
  }
  const std::byte* data() const { return data_; }

 private:
  const std::byte* data_;
  std::byte copy_[kRows * kMaxIndexBits + kReadSlack];
};

Error IndexPastPalette(uint32_t index, size_t labels) {
  return Corrupt(
      fmt::format("a voxel has index {} into a palette of {} entries", index, labels));
}

uint64_t ReadBigEndian(const std::byte* from, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    value = value << 8 | std::to_integer<uint64_t>(from[i]);
  }
  return value;
}

// Calls visit(voxel, index) for the eight voxels of a row.
template <typename Visit>
void ForEachIndex(const std::byte* row, unsigned bits, const Visit& visit) {
  const uint32_t mask = (1U << bits) - 1;
  if (bits <= 8) {
    const uint64_t packed = ReadBigEndian(row, bits);
    for (unsigned x = 0; x < kSubBlockSide; ++x) {
      visit(x, static_cast<uint32_t>(packed >> (bits * (7 - x))) & mask);
    }
    return;
  }
  for (unsigned x = 0; x < kSubBlockSide; ++x) {
    const unsigned bit = x * bits;
    const uint64_t two = ReadBigEndian(row + bit / 8, 2);
    visit(x, static_cast<uint32_t>(two >> (16 - bits - bit % 8)) & mask);
  }
}

}  // namespace

unsigned IndexBits(size_t palette) {
  return palette < 2 ? 0 : static_cast<unsigned>(std::bit_width(palette - 1));
}

uint32_t UnpackLabelsPortable(const std::byte* values, unsigned bits,
                              const uint64_t* table, const SubBlockTarget& to) {
  uint32_t greatest = 0;
  for (size_t row = 0; row < kRows; ++row, values += bits) {
    uint64_t* out = to.first + row % 8 * to.row + row / 8 * to.plane;
    ForEachIndex(values, bits, [&](unsigned x, uint32_t index) {
      greatest = std::max(greatest, index);
      out[x] = table[index];
    });
  }
  return greatest;
}

void FillPortable(uint64_t label, const SubBlockTarget& to) {
  for (size_t row = 0; row < kRows; ++row) {
    std::fill_n(to.first + row % 8 * to.row + row / 8 * to.plane, kSubBlockSide, label);
  }
}

uint32_t UnpackIndexesPortable(const std::byte* values, unsigned bits, uint16_t* to) {
  uint32_t greatest = 0;
  for (size_t row = 0; row < kRows; ++row, values += bits, to += kSubBlockSide) {
    ForEachIndex(values, bits, [&](unsigned x, uint32_t index) {
      greatest = std::max(greatest, index);
      to[x] = static_cast<uint16_t>(index);
    });
  }
  return greatest;
}

BlockKernels BestBlockKernels() {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return BlockKernels::kAvx2;
#endif
  return BlockKernels::kPortable;
}

Result<LabelBlock> LabelBlock::Parse(BytesView bytes) {
  LabelBlock block;
  ByteReader reader(bytes);
  for (uint32_t& side : block.grid_) {
    DOLIUM_TRY(side, reader.Read<uint32_t>("number of sub-blocks"));
    if (side < kMinSubBlocks || side > kMaxSubBlocks) {
      return Corrupt(fmt::format("{} sub-blocks along an axis, expected {} to {}", side,
                                 kMinSubBlocks, kMaxSubBlocks));
    }
  }
  DOLIUM_TRY(const uint32_t count, reader.Read<uint32_t>("number of labels"));
  if (count == 0) return Corrupt("a list of no labels, expected 1 or more");
  DOLIUM_TRY(const BytesView list,
             reader.ReadBytes(uint64_t{count} * sizeof(uint64_t), "label list"));
  block.labels_ = LabelList(list);
  if (count > 1) {
    DOLIUM_TRY(block.counts_, reader.ReadBytes(2 * uint64_t{block.sub_block_count()},
                                               "sizes of palettes"));
    uint64_t entries = 0;
    uint64_t packed = 0;
    for (size_t i = 0; i < block.sub_block_count(); ++i) {
      const size_t labels = LoadLE<uint16_t>(block.counts_.data() + 2 * i);
      if (labels > kMaxPalette) {
        return Corrupt(
            fmt::format("sub-block {} has a palette of {} entries, at most {} "
                        "are possible",
                        i, labels, kMaxPalette));
      }
      entries += labels;
      packed += kRows * IndexBits(labels);
    }
    DOLIUM_TRY(block.palettes_, reader.ReadBytes(4 * entries, "palettes"));
    DOLIUM_TRY(block.values_, reader.ReadBytes(packed, "packed voxels"));
    uint32_t greatest = 0;
    for (size_t i = 0; i < entries; ++i) {
      greatest = std::max(greatest, LoadLE<uint32_t>(block.palettes_.data() + 4 * i));
    }
    if (entries > 0 && greatest >= count) {
      return Corrupt(fmt::format("a palette has index {} into a list of {} labels",
                                 greatest, count));
    }
  }
  if (reader.remaining() != 0) {
    return Corrupt(fmt::format("{} bytes behind a block of {}", reader.remaining(),
                               reader.position()));
  }
  return block;
}

Result<void> DecodeBlock(const LabelBlock& block, const LabelList& list,
                         std::span<uint64_t> voxels) {
  if (list.size() != block.labels().size()) {
    return Corrupt(fmt::format("{} labels for a block with a list of {}", list.size(),
                               block.labels().size()));
  }
  if (block.is_solid()) {
    std::ranges::fill(voxels, list[0]);
    return {};
  }
  const auto& grid = block.grid();
  const std::array<size_t, 3> size = block.size();
  const bool use_avx2 = BestBlockKernels() == BlockKernels::kAvx2;
  std::array<uint64_t, kMaxPalette> table = {};
  return block.ForEachSubBlock([&](size_t i, const SubBlock& sub) -> Result<void> {
    const size_t x = i % grid[0];
    const size_t y = i / grid[0] % grid[1];
    const size_t z = i / grid[0] / grid[1];
    const SubBlockTarget to{
        voxels.data() + kSubBlockSide * (x + size[0] * (y + size[1] * z)), size[0],
        size[0] * size[1]};
    if (sub.labels < 2) {
      const uint64_t label = sub.labels == 0 ? 0 : list[sub.entry(0)];
#if defined(__x86_64__)
      if (use_avx2) return FillAvx2(label, to), Result<void>();
#endif
      FillPortable(label, to);
      return {};
    }
    for (size_t k = 0; k < sub.labels; ++k) table[k] = list[sub.entry(k)];
    const unsigned bits = IndexBits(sub.labels);
    uint32_t greatest = 0;
#if defined(__x86_64__)
    if (use_avx2) {
      const PaddedValues values(sub.values, bits, block.values_end());
      greatest = UnpackLabelsAvx2(values.data(), bits, table.data(), to);
    } else
#endif
    {
      greatest = UnpackLabelsPortable(sub.values, bits, table.data(), to);
    }
    if (greatest < sub.labels) return {};
    return IndexPastPalette(greatest, sub.labels).Within(fmt::format("sub-block {}", i));
  });
}

Result<void> UnpackIndexes(const SubBlock& sub_block, const std::byte* end,
                           std::span<uint16_t, kSubBlockVoxels> indexes) {
  const unsigned bits = IndexBits(sub_block.labels);
  uint32_t greatest = 0;
#if defined(__x86_64__)
  if (BestBlockKernels() == BlockKernels::kAvx2) {
    const PaddedValues values(sub_block.values, bits, end);
    greatest = UnpackIndexesAvx2(values.data(), bits, indexes.data());
  } else
#endif
  {
    greatest = UnpackIndexesPortable(sub_block.values, bits, indexes.data());
  }
  if (greatest < sub_block.labels) return {};
  return IndexPastPalette(greatest, sub_block.labels);
}

}  // namespace dolium::dvid
