#include <algorithm>
#include <bit>
#include <vector>

#include "dolium/formats/dvid/label_block.h"
#include "dolium/formats/dvid/put_internal.h"

namespace dolium::dvid {
namespace {

// Numbers labels in order of first appearance. Open addressing; grows by itself.
class LabelNumbers {
 public:
  explicit LabelNumbers(size_t expected)
      : slots_(std::bit_ceil(2 * std::max<size_t>(expected, 8))) {}

  uint32_t NumberOf(uint64_t label) {
    size_t at = SlotOf(label);
    for (; slots_[at].number != kEmpty; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].label == label) return slots_[at].number;
    }
    const auto number = static_cast<uint32_t>(labels_.size());
    slots_[at] = {label, number};
    labels_.push_back(label);
    if (labels_.size() * 2 > slots_.size()) Grow();
    return number;
  }

  const std::vector<uint64_t>& labels() const { return labels_; }

  // Forgets the labels; takes time for these only.
  void Clear() {
    for (const uint64_t label : labels_) {
      size_t at = SlotOf(label);
      // All of a run go, so none is left behind a gap.
      while (slots_[at].number != kEmpty) {
        slots_[at].number = kEmpty;
        at = (at + 1) & (slots_.size() - 1);
      }
    }
    labels_.clear();
  }

 private:
  static constexpr uint32_t kEmpty = ~uint32_t{0};
  struct Slot {
    uint64_t label = 0;
    uint32_t number = kEmpty;
  };

  size_t SlotOf(uint64_t label) const {
    return static_cast<size_t>((label * 0x9e3779b97f4a7c15) >> 32) & (slots_.size() - 1);
  }

  void Grow() {
    slots_.assign(slots_.size() * 2, {});
    for (uint32_t i = 0; i < labels_.size(); ++i) {
      size_t at = SlotOf(labels_[i]);
      while (slots_[at].number != kEmpty) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = {labels_[i], i};
    }
  }

  std::vector<Slot> slots_;
  std::vector<uint64_t> labels_;
};

// 512 indexes of `bits` bits, most significant first.
void Pack(const std::array<uint16_t, kSubBlockVoxels>& indexes, unsigned bits,
          ByteVector& to) {
  uint32_t pending = 0;
  unsigned held = 0;
  for (const uint16_t index : indexes) {
    pending = pending << bits | index;
    held += bits;
    while (held >= 8) {
      held -= 8;
      to.push_back(static_cast<std::byte>(pending >> held));
    }
  }
}

}  // namespace

ByteVector EncodeBlock(const std::array<uint32_t, 3>& grid,
                       std::span<const uint64_t> voxels) {
  const size_t width = grid[0] * kSubBlockSide;
  const size_t height = grid[1] * kSubBlockSide;
  LabelNumbers list(64);
  LabelNumbers palette(kSubBlockVoxels);
  ByteVector counts;
  ByteVector palettes;
  ByteVector values;
  std::array<uint16_t, kSubBlockVoxels> indexes;
  const size_t sub_blocks = size_t{grid[0]} * grid[1] * grid[2];
  for (size_t i = 0; i < sub_blocks; ++i) {
    const size_t x = i % grid[0];
    const size_t y = i / grid[0] % grid[1];
    const size_t z = i / grid[0] / grid[1];
    const uint64_t* first =
        voxels.data() + kSubBlockSide * (x + width * (y + height * z));
    palette.Clear();
    uint64_t last = *first;
    uint32_t number = palette.NumberOf(last);
    for (size_t row = 0; row < kSubBlockVoxels / kSubBlockSide; ++row) {
      const uint64_t* from = first + row % 8 * width + row / 8 * width * height;
      for (size_t k = 0; k < kSubBlockSide; ++k) {
        // Neighbours are mostly alike.
        if (from[k] != last) {
          last = from[k];
          number = palette.NumberOf(last);
        }
        indexes[row * kSubBlockSide + k] = static_cast<uint16_t>(number);
      }
    }
    const size_t labels = palette.labels().size();
    Put<uint16_t>(counts, static_cast<uint16_t>(labels));
    for (const uint64_t label : palette.labels()) {
      Put<uint32_t>(palettes, list.NumberOf(label));
    }
    if (labels > 1) Pack(indexes, IndexBits(labels), values);
  }
  ByteVector block;
  block.reserve(16 + 8 * list.labels().size() + counts.size() + palettes.size() +
                values.size());
  for (const uint32_t side : grid) Put<uint32_t>(block, side);
  Put<uint32_t>(block, static_cast<uint32_t>(list.labels().size()));
  for (const uint64_t label : list.labels()) Put<uint64_t>(block, label);
  if (list.labels().size() > 1) {
    Append(block, counts);
    Append(block, palettes);
    Append(block, values);
  }
  return block;
}

}  // namespace dolium::dvid
