#include "dolium/domain/volume/dvid/dvid_transcode.h"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "dolium/domain/volume/encodings/compressed_segmentation_tables_internal.h"

namespace dolium::volume {
namespace {

using dvid::kSubBlockVoxels;
using Indexes = std::array<uint16_t, kSubBlockVoxels>;

constexpr size_t kLabelWords = sizeof(uint64_t) / kWordBytes;

template <unsigned bits>
void Pack(const Indexes& indexes, const uint16_t* ranks, std::byte* to) {
  constexpr size_t kPerWord = 32 / bits;
  for (size_t i = 0; i < kSubBlockVoxels; i += kPerWord, to += kWordBytes) {
    uint32_t word = 0;
    for (size_t k = 0; k < kPerWord; ++k) {
      word |= uint32_t{ranks[indexes[i + k]]} << (k * bits);
    }
    StoreLE<uint32_t>(to, word);
  }
}

void PackBits(unsigned bits, const Indexes& indexes, const uint16_t* ranks,
              std::byte* to) {
  switch (bits) {
    case 1:
      return Pack<1>(indexes, ranks, to);
    case 2:
      return Pack<2>(indexes, ranks, to);
    case 4:
      return Pack<4>(indexes, ranks, to);
    case 8:
      return Pack<8>(indexes, ranks, to);
    default:
      return Pack<16>(indexes, ranks, to);
  }
}

class Transcoder {
 public:
  Transcoder(const dvid::LabelBlock& block, const dvid::LabelList& list)
      : block_(block), list_(list), tables_(chunk_, kBase) {}

  Result<ByteVector> Run() && {
    const size_t head = kBase + kHeaderWords * block_.sub_block_count();
    std::fill_n(chunk_.Room(head), head * kWordBytes, std::byte{0});
    chunk_.Keep(head);
    StoreLE<uint32_t>(chunk_.at(0), uint32_t{kBase});
    if (block_.is_solid()) {
      for (size_t i = 0; i < block_.sub_block_count(); ++i) PutUniform(i, list_[0]);
    } else {
      DOLIUM_TRY_VOID(block_.ForEachSubBlock(
          [&](size_t i, const dvid::SubBlock& sub) { return Put(i, sub); }));
    }
    return std::move(chunk_).Take();
  }

 private:
  static constexpr size_t kBase = 1;  // of the only channel, in words

  void WriteHeader(size_t number, unsigned bits, uint32_t table, size_t packed) {
    std::byte* at = chunk_.at(kBase + kHeaderWords * number);
    StoreLE<uint32_t>(at, table | bits << kTableOffsetBits);
    StoreLE<uint32_t>(at + kWordBytes, static_cast<uint32_t>(packed));
  }

  void PutUniform(size_t number, uint64_t label) {
    const size_t packed = chunk_.words() - kBase;
    if (label != last_uniform_) {
      StoreLE<uint64_t>(chunk_.Room(kLabelWords), label);
      last_uniform_table_ = tables_.Place<uint64_t>(1);
      last_uniform_ = label;
    }
    WriteHeader(number, 0, last_uniform_table_, packed);
  }

  Result<void> Put(size_t number, const dvid::SubBlock& sub) {
    if (sub.labels < 2) {
      PutUniform(number, sub.labels == 0 ? 0 : list_[sub.entry(0)]);
      return {};
    }
    auto unpacked = dvid::UnpackIndexes(sub, block_.values_end(), indexes_);
    if (!unpacked) {
      return std::move(unpacked).error().Within(fmt::format("sub-block {}", number));
    }
    // Palettes may have entries that no voxel uses, and several with one label.
    used_.fill(0);
    for (const uint16_t index : indexes_) used_[index] = 1;
    size_t count = 0;
    for (size_t k = 0; k < sub.labels; ++k) {
      mapped_[k] = list_[sub.entry(k)];
      if (used_[k] != 0) sorted_[count++] = mapped_[k];
    }
    const auto begin = sorted_.begin();
    std::sort(begin, begin + static_cast<ptrdiff_t>(count));
    const auto end = std::unique(begin, begin + static_cast<ptrdiff_t>(count));
    const auto labels = static_cast<size_t>(end - begin);
    if (labels == 1) {
      PutUniform(number, sorted_[0]);
      return {};
    }
    for (size_t k = 0; k < sub.labels; ++k) {
      ranks_[k] = static_cast<uint16_t>(std::lower_bound(begin, end, mapped_[k]) - begin);
    }
    const unsigned bits = BitsFor(labels);
    const size_t words = kSubBlockVoxels * bits / 32;
    if (chunk_.words() + words + labels * kLabelWords >= kMaxWords) {
      return Unsupported("too large for compressed_segmentation");
    }
    const size_t packed = chunk_.words() - kBase;
    PackBits(bits, indexes_, ranks_.data(), chunk_.Room(words));
    chunk_.Keep(words);
    std::byte* table = chunk_.Room(labels * kLabelWords);
    for (size_t k = 0; k < labels; ++k) {
      StoreLE<uint64_t>(table + k * sizeof(uint64_t), sorted_[k]);
    }
    WriteHeader(number, bits, tables_.Place<uint64_t>(labels), packed);
    return {};
  }

  const dvid::LabelBlock& block_;
  const dvid::LabelList& list_;
  ChunkBytes chunk_;
  TableCache tables_;
  std::optional<uint64_t> last_uniform_;
  uint32_t last_uniform_table_ = 0;
  Indexes indexes_;
  std::array<uint8_t, kSubBlockVoxels> used_;
  std::array<uint64_t, kSubBlockVoxels> mapped_;
  std::array<uint64_t, kSubBlockVoxels> sorted_;
  std::array<uint16_t, kSubBlockVoxels> ranks_;
};

}  // namespace

Result<ByteVector> TranscodeDvidBlock(const dvid::LabelBlock& block,
                                      const dvid::LabelList& list) {
  if (list.size() != block.labels().size()) {
    return Corrupt(fmt::format("{} labels for a block with a list of {}", list.size(),
                               block.labels().size()));
  }
  return Transcoder(block, list).Run();
}

}  // namespace dolium::volume
