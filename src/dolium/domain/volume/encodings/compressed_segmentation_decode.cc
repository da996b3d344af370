#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "dolium/domain/volume/encodings/compressed_segmentation.h"
#include "dolium/domain/volume/encodings/compressed_segmentation_internal.h"
#include "dolium/domain/volume/encodings/compressed_segmentation_tables_internal.h"

namespace dolium::volume {
namespace {

constexpr uint32_t kTableOffsetMask = 0xffffff;

// The part of a block header that says where things are, in words of the stream.
struct BlockHeader {
  uint64_t table;
  uint64_t packed;
  unsigned bits;
};

// Decodes the stream of one channel.
template <typename Label, typename Kernels>
class ChannelDecoder {
 public:
  ChannelDecoder(const Vec3& size, const Vec3& block_size, BytesView stream,
                 std::byte* voxels)
      : size_(size),
        block_size_(block_size),
        block_voxels_(BlockVoxels(block_size)),
        stream_(stream),
        stream_words_(stream.size() / kWordBytes),
        voxels_(voxels) {}

  Result<void> Decode() {
    const Vec3 grid = BlockGrid(size_, block_size_);
    // No more blocks than voxels, which are in memory: the product fits.
    const auto blocks = static_cast<uint64_t>(grid[0] * grid[1] * grid[2]);
    if (stream_words_ / kHeaderWords < blocks) {
      return Corrupt(fmt::format("{} blocks have headers of {} words, the stream has {}",
                                 blocks, blocks * kHeaderWords, stream_words_));
    }
    const std::byte* header = stream_.data();
    Vec3 block;
    for (block[2] = 0; block[2] < grid[2]; ++block[2]) {
      for (block[1] = 0; block[1] < grid[1]; ++block[1]) {
        for (block[0] = 0; block[0] < grid[0];) {
          TargetBlock target = BlockAt<Label>(block, size_, block_size_, voxels_);
          const int64_t like = CountLike(header, grid[0] - block[0]);
          if (like > 1) {
            const int64_t x = block[0] * block_size_[0];
            target.size[0] =
                static_cast<size_t>(std::min(like * block_size_[0], size_[0] - x));
          }
          if (auto error = DecodeBlock(ParseHeader(header), target)) {
            return std::move(*error).Within("block " + ToString(block));
          }
          block[0] += like;
          header += static_cast<size_t>(like) * kHeaderWords * kWordBytes;
        }
      }
    }
    return {};
  }

 private:
  static BlockHeader ParseHeader(const std::byte* header) {
    const auto first = LoadLE<uint32_t>(header);
    return {first & kTableOffsetMask, LoadLE<uint32_t>(header + kWordBytes),
            first >> kTableOffsetBits};
  }

  // How many of at most `count` blocks in a row, from this one on, are filled with the
  // same label of the same table; 1 if this one is not filled with one label.
  static int64_t CountLike(const std::byte* header, int64_t count) {
    const auto first = LoadLE<uint32_t>(header);
    if (first >> kTableOffsetBits != 0) return 1;
    int64_t like = 1;
    while (like < count &&
           LoadLE<uint32_t>(header + static_cast<size_t>(like) * kHeaderWords *
                                         kWordBytes) == first) {
      ++like;
    }
    return like;
  }

  // Not a Result<void>, which would make and destroy an empty message for each block.
  std::optional<Error> DecodeBlock(const BlockHeader& header, const TargetBlock& target) {
    const uint64_t labels =
        header.table > stream_words_
            ? 0
            : (stream_words_ - header.table) * kWordBytes / sizeof(Label);
    if (labels == 0) {
      return Corrupt(fmt::format("no label table at word {}, the stream has {} words",
                                 header.table, stream_words_));
    }
    const std::byte* table = stream_.data() + header.table * kWordBytes;
    if (header.bits == 0) {
      Kernels::template Fill<Label>(target, LoadLE<Label>(table));
      return std::nullopt;
    }
    if (!HoldsPacked(header)) {
      return Corrupt(
          fmt::format("{} bits for each voxel at word {} end past the stream of {} words",
                      header.bits, header.packed, stream_words_));
    }
    const PackedBlock from{stream_.data() + header.packed * kWordBytes, table,
                           static_cast<uint64_t>(block_size_[0]),
                           static_cast<uint64_t>(block_size_[1])};
    switch (header.bits) {
      case 1:
        return Unpack<1>(from, labels, target);
      case 2:
        return Unpack<2>(from, labels, target);
      case 4:
        return Unpack<4>(from, labels, target);
      case 8:
        return Unpack<8>(from, labels, target);
      case 16:
        return Unpack<16>(from, labels, target);
      case 32:
        return Unpack<32>(from, labels, target);
      default:
        return Corrupt(fmt::format(
            "{} bits for each voxel, expected 0, 1, 2, 4, 8, 16 or 32", header.bits));
    }
  }

  bool HoldsPacked(const BlockHeader& header) const {
    const uint64_t room =
        header.packed > stream_words_ ? 0 : stream_words_ - header.packed;
    return block_voxels_ <= room * kWordBytes * 8 / header.bits;
  }

  template <unsigned bits>
  std::optional<Error> Unpack(PackedBlock from, uint64_t labels,
                              const TargetBlock& target) {
    constexpr uint64_t kIndexes = uint64_t{1} << bits;
    [[maybe_unused]] std::array<std::byte, bits <= 8 ? kIndexes * sizeof(Label) : 0>
        whole;
    if (labels < kIndexes) {
      // The table's length is not stored; this one ends with the stream.
      const uint32_t index = PortableLabelKernels::GreatestIndex<bits>(from, target);
      if (index >= labels) {
        return Corrupt(fmt::format("index {} in a label table that ends after {} labels",
                                   index, labels));
      }
      if constexpr (bits <= 8) {
        const size_t stored = labels * sizeof(Label);
        std::memcpy(whole.data(), from.table, stored);
        std::memset(whole.data() + stored, 0, whole.size() - stored);
        from.table = whole.data();
      }
    }
    Kernels::template Unpack<Label, bits>(from, target);
    return std::nullopt;
  }

  const Vec3& size_;
  const Vec3& block_size_;
  uint64_t block_voxels_;
  BytesView stream_;
  uint64_t stream_words_;
  std::byte* voxels_;
};

template <typename Label, typename Kernels>
Result<void> DecodeChannels(const ArrayShape& shape, const Vec3& block_size,
                            BytesView stored, MutableBytes voxels) {
  if (stored.size() % kWordBytes != 0) {
    return Corrupt(fmt::format("{} bytes, not a multiple of 4", stored.size()));
  }
  const uint64_t words = stored.size() / kWordBytes;
  const auto channels = static_cast<uint64_t>(shape.channels);
  if (words < channels) {
    return Corrupt(
        fmt::format("{} words, too few for the offsets of {} channels", words, channels));
  }
  const size_t channel_bytes = voxels.size() / static_cast<size_t>(channels);
  for (uint64_t channel = 0; channel < channels; ++channel) {
    const uint64_t offset = LoadLE<uint32_t>(stored.data() + channel * kWordBytes);
    if (offset > words) {
      return Corrupt(fmt::format("channel {} at word {}, the chunk has {} words", channel,
                                 offset, words));
    }
    ChannelDecoder<Label, Kernels> decoder(
        shape.size, block_size, stored.subspan(static_cast<size_t>(offset * kWordBytes)),
        voxels.data() + channel * channel_bytes);
    auto decoded = decoder.Decode();
    if (!decoded) return std::move(decoded).Within(fmt::format("channel {}", channel));
  }
  return {};
}

template <typename Kernels>
Result<void> DecodeLabels(const ArrayShape& shape, const Vec3& block_size,
                          BytesView stored, MutableBytes voxels) {
  return SizeOf(shape.type) == 8
             ? DecodeChannels<uint64_t, Kernels>(shape, block_size, stored, voxels)
             : DecodeChannels<uint32_t, Kernels>(shape, block_size, stored, voxels);
}

}  // namespace

Result<void> DecodeCompressedSegmentation(const ArrayShape& shape, const Vec3& block_size,
                                          BytesView stored, MutableBytes voxels) {
  return DecodeCompressedSegmentation(shape, block_size, stored, voxels,
                                      BestLabelKernels());
}

Result<void> DecodeCompressedSegmentation(const ArrayShape& shape, const Vec3& block_size,
                                          BytesView stored, MutableBytes voxels,
                                          [[maybe_unused]] LabelKernels kernels) {
#if defined(__x86_64__)
  if (kernels == LabelKernels::kAvx2) {
    return DecodeLabels<Avx2LabelKernels>(shape, block_size, stored, voxels);
  }
#endif
  return DecodeLabels<PortableLabelKernels>(shape, block_size, stored, voxels);
}

}  // namespace dolium::volume
