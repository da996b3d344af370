#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/domain/volume/encodings/compressed_segmentation.h"
#include "dolium/domain/volume/encodings/compressed_segmentation_internal.h"
#include "dolium/domain/volume/encodings/compressed_segmentation_tables_internal.h"
#include "dolium/domain/volume/encodings/label_index_internal.h"

namespace dolium::volume {
namespace {

// Distinct labels and packed indexes of one block after another, of labels or of the low
// halves of labels.
template <typename Label, typename Kernels>
class BlockPacker {
 public:
  void Reserve(size_t voxels) {
    const size_t room = (voxels + kFewStep - 1) / kFewStep * kFewStep;
    labels_.resize(room);
    ids_.resize(room);
  }
  // The block's labels go here, x fastest.
  Label* labels() { return labels_.data(); }

  // Finds the distinct labels. `whole` says that the block is not cut off.
  void Sort(size_t voxels, bool whole) {
    voxels_ = voxels;
    if (Kernels::kHasNumberFew && whole && voxels <= kMaxFewVoxels && SortFew()) return;
    few_ = false;
    index_.Number(labels_.data(), voxels, ids_.data());
    sorter_.Sort(index_.distinct(), sorted_, ranks_);
  }
  const std::vector<Label>& sorted() const { return sorted_; }

  // Writes `words` words, the indexes of all voxels, `bits` each. `size` is what the
  // chunk has of the block.
  void Pack(unsigned bits, const size_t size[3], const Vec3& block_size, uint64_t words,
            std::byte* to) const {
    if constexpr (Kernels::kHasNumberFew) {
      if (few_) {
        Kernels::PackFew(few_ids_.data(), voxels_, few_ranks_.data(), sorted_.size(),
                         bits, to);
        return;
      }
    }
    std::memset(to, 0, static_cast<size_t>(words) * kWordBytes);
    switch (bits) {
      case 1:
        return PackRows<1>(size, block_size, to);
      case 2:
        return PackRows<2>(size, block_size, to);
      case 4:
        return PackRows<4>(size, block_size, to);
      case 8:
        return PackRows<8>(size, block_size, to);
      case 16:
        return PackRows<16>(size, block_size, to);
      default:
        return PackRows<32>(size, block_size, to);
    }
  }

 private:
  // False if there are too many labels.
  bool SortFew() {
    if constexpr (Kernels::kHasNumberFew) {
      std::array<Label, kMaxFewLabels> distinct;
      const size_t count = Kernels::template NumberFew<Label>(
          labels_.data(), voxels_, few_ids_.data(), distinct.data());
      few_ = count > 0;
      if (!few_) return false;
      Kernels::template RankFew<Label>(distinct.data(), count, few_ranks_.data());
      sorted_.resize(count);
      for (size_t i = 0; i < count; ++i) sorted_[few_ranks_[i]] = distinct[i];
    }
    return few_;
  }

  template <unsigned bits>
  void PackRows(const size_t size[3], const Vec3& block_size, std::byte* to) const {
    const auto width = static_cast<uint64_t>(block_size[0]);
    const auto height = static_cast<uint64_t>(block_size[1]);
    if (size[0] == width && size[1] == height) {
      PackRun<bits>(ids_.data(), voxels_, 0, to);
      return;
    }
    const uint32_t* ids = ids_.data();
    for (size_t z = 0; z < size[2]; ++z) {
      for (size_t y = 0; y < size[1]; ++y, ids += size[0]) {
        PackRun<bits>(ids, size[0], width * (y + height * z), to);
      }
    }
  }

  // Writes `count` indexes from index `position` on, into words that are 0.
  template <unsigned bits>
  void PackRun(const uint32_t* ids, size_t count, uint64_t position,
               std::byte* to) const {
    constexpr unsigned kPerWord = 32 / bits;
    const uint32_t* ranks = ranks_.data();
    to += position / kPerWord * kWordBytes;
    auto skip = static_cast<unsigned>(position % kPerWord);
    while (count > 0) {
      uint32_t word = 0;
      if (skip == 0 && count >= kPerWord) {
        for (unsigned i = 0; i < kPerWord; ++i) word |= ranks[ids[i]] << (i * bits);
        ids += kPerWord;
        count -= kPerWord;
      } else {
        word = LoadLE<uint32_t>(to);
        for (; skip < kPerWord && count > 0; ++skip, --count) {
          word |= ranks[*ids++] << (skip * bits);
        }
        skip = 0;
      }
      StoreLE<uint32_t>(to, word);
      to += kWordBytes;
    }
  }

  std::vector<Label> labels_;
  size_t voxels_ = 0;
  std::vector<Label> sorted_;
  // For each voxel the number of its label, and for each number the place of that label
  // in `sorted_`: in the first two if `few_`, else in the others.
  bool few_ = false;
  std::array<uint8_t, kMaxFewVoxels> few_ids_;
  std::array<uint8_t, kMaxFewLabels + 1 + 16> few_ranks_;
  std::vector<uint32_t> ids_;
  std::vector<uint32_t> ranks_;
  LabelIndex<Label> index_;
  LabelSorter<Label> sorter_;
};

template <typename Label, typename Kernels>
class ChunkEncoder {
 public:
  ChunkEncoder(const ArrayShape& shape, const Vec3& block_size, BytesView voxels)
      : size_(shape.size),
        block_size_(block_size),
        block_voxels_(BlockVoxels(block_size)) {
    channels_ = static_cast<size_t>(shape.channels);
    channel_bytes_ = voxels.size() / channels_;
    voxels_ = voxels.data();
    size_t most = 1;
    for (size_t d = 0; d < 3; ++d) {
      most *= static_cast<size_t>(std::min(size_[d], block_size_[d]));
    }
    whole_.Reserve(most);
    if constexpr (sizeof(Label) == 8) low_.Reserve(most);
  }

  Result<ByteVector> Encode() && {
    if (channels_ >= kMaxWords) return TooLarge();
    chunk_.Room(channels_);
    chunk_.Keep(channels_);
    for (size_t channel = 0; channel < channels_; ++channel) {
      StoreLE<uint32_t>(chunk_.at(channel), static_cast<uint32_t>(chunk_.words()));
      if (!EncodeChannel(voxels_ + channel * channel_bytes_)) return TooLarge();
    }
    return std::move(chunk_).Take();
  }

 private:
  Error TooLarge() const {
    return Unsupported(fmt::format(
        "a chunk of {} in blocks of {} takes 2^24 words or more as "
        "compressed_segmentation, which is past its offsets; use smaller chunks",
        ToString(size_), ToString(block_size_)));
  }

  // This and the next ones: false if the chunk becomes too large.
  bool EncodeChannel(const std::byte* voxels) {
    const Vec3 grid = BlockGrid(size_, block_size_);
    const auto headers =
        static_cast<uint64_t>(grid[0] * grid[1] * grid[2]) * kHeaderWords;
    base_ = chunk_.words();
    if (headers >= kMaxWords - base_) return false;
    chunk_.Room(headers);
    chunk_.Keep(headers);
    TableCache tables(chunk_, base_);
    last_uniform_.reset();
    size_t header = base_;
    Vec3 block;
    for (block[2] = 0; block[2] < grid[2]; ++block[2]) {
      for (block[1] = 0; block[1] < grid[1]; ++block[1]) {
        for (block[0] = 0; block[0] < grid[0]; ++block[0], header += kHeaderWords) {
          const SourceBlock source = BlockAt<Label>(block, size_, block_size_, voxels);
          if (!EncodeBlock(source, tables, header)) return false;
        }
      }
    }
    return true;
  }

  bool EncodeBlock(const SourceBlock& source, TableCache& tables, size_t header) {
    if (Kernels::template IsUniform<Label>(source)) {
      return EncodeUniform(LoadLE<Label>(source.first), tables, header);
    }
    if constexpr (sizeof(Label) == 8) {
      // Labels of one block tend to differ in their low halves only, save for 0.
      const uint64_t high = FirstNotZero(source) >> 32;
      if (Kernels::CopyLow(source, static_cast<uint32_t>(high), low_.labels())) {
        return EncodeMixed(low_, high << 32, source, tables, header);
      }
    }
    Kernels::template Copy<Label>(source, whole_.labels());
    return EncodeMixed(whole_, Label{0}, source, tables, header);
  }

  // Precondition: not all labels are 0.
  static Label FirstNotZero(const SourceBlock& source) {
    for (size_t z = 0;; ++z) {
      for (size_t y = 0; y < source.size[1]; ++y) {
        const std::byte* row = source.row(y, z);
        for (size_t x = 0; x < source.size[0]; ++x) {
          const auto label = LoadLE<Label>(row + x * sizeof(Label));
          if (label != 0) return label;
        }
      }
    }
  }

  bool EncodeUniform(Label label, TableCache& tables, size_t header) {
    const size_t packed = chunk_.words() - base_;
    if (label != last_uniform_) {
      if (chunk_.words() + sizeof(Label) / kWordBytes >= kMaxWords) return false;
      StoreLE<Label>(chunk_.Room(sizeof(Label) / kWordBytes), label);
      last_uniform_table_ = tables.Place<Label>(1);
      last_uniform_ = label;
    }
    WriteHeader(header, 0, last_uniform_table_, packed);
    return true;
  }

  // `high` is what the packer's labels other than 0 lack.
  template <typename Packed>
  bool EncodeMixed(BlockPacker<Packed, Kernels>& packer, Label high,
                   const SourceBlock& source, TableCache& tables, size_t header) {
    const size_t voxels = source.voxels();
    packer.Sort(voxels, block_voxels_ == voxels);
    const std::vector<Packed>& sorted = packer.sorted();
    const unsigned bits = BitsFor(sorted.size());
    if (block_voxels_ > kMaxWords * 32) return false;
    const uint64_t words = (block_voxels_ * bits + 31) / 32;
    const uint64_t table_words = sorted.size() * sizeof(Label) / kWordBytes;
    if (chunk_.words() + words + table_words >= kMaxWords) return false;

    const size_t packed = chunk_.words() - base_;
    packer.Pack(bits, source.size, block_size_, words, chunk_.Room(words));
    chunk_.Keep(words);
    std::byte* table = chunk_.Room(table_words);
    for (const Packed label : sorted) {
      StoreLE<Label>(table, label == 0 ? 0 : high | label);
      table += sizeof(Label);
    }
    WriteHeader(header, bits, tables.Place<Label>(sorted.size()), packed);
    return true;
  }

  void WriteHeader(size_t at, unsigned bits, uint32_t table, size_t packed) {
    StoreLE<uint32_t>(chunk_.at(at), table | bits << kTableOffsetBits);
    StoreLE<uint32_t>(chunk_.at(at + 1), static_cast<uint32_t>(packed));
  }

  const Vec3& size_;
  const Vec3& block_size_;
  uint64_t block_voxels_;
  size_t channels_;
  size_t channel_bytes_;
  const std::byte* voxels_;

  ChunkBytes chunk_;
  size_t base_ = 0;  // of the channel's stream, in words
  std::optional<Label> last_uniform_;
  uint32_t last_uniform_table_ = 0;
  BlockPacker<Label, Kernels> whole_;
  BlockPacker<uint32_t, Kernels> low_;
};

template <typename Kernels>
Result<ByteVector> EncodeLabels(const ArrayShape& shape, const Vec3& block_size,
                                BytesView voxels) {
  return SizeOf(shape.type) == 8
             ? ChunkEncoder<uint64_t, Kernels>(shape, block_size, voxels).Encode()
             : ChunkEncoder<uint32_t, Kernels>(shape, block_size, voxels).Encode();
}

}  // namespace

Result<ByteVector> EncodeCompressedSegmentation(const ArrayShape& shape,
                                                const Vec3& block_size,
                                                BytesView voxels) {
  return EncodeCompressedSegmentation(shape, block_size, voxels, BestLabelKernels());
}

Result<ByteVector> EncodeCompressedSegmentation(const ArrayShape& shape,
                                                const Vec3& block_size, BytesView voxels,
                                                [[maybe_unused]] LabelKernels kernels) {
#if defined(__x86_64__)
  if (kernels == LabelKernels::kAvx2) {
    return EncodeLabels<Avx2LabelKernels>(shape, block_size, voxels);
  }
#endif
  return EncodeLabels<PortableLabelKernels>(shape, block_size, voxels);
}

}  // namespace dolium::volume
