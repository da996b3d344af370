// What encoders of compressed_segmentation share: the chunk as it grows, and its tables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/endian.h"

namespace dolium::volume {

inline constexpr size_t kWordBytes = 4;
inline constexpr size_t kHeaderWords = 2;
inline constexpr unsigned kTableOffsetBits = 24;
inline constexpr uint64_t kMaxWords = uint64_t{1}
                                      << kTableOffsetBits;  // of a chunk, exclusive

inline unsigned BitsFor(size_t labels) {
  if (labels == 1) return 0;
  unsigned bits = 1;
  while (bits < 32 && (uint64_t{1} << bits) < labels) bits *= 2;
  return bits;
}

// The chunk as it grows. What is behind its end is writable for a while, and garbage.
class ChunkBytes {
 public:
  size_t words() const { return words_; }

  // Where the next words go; `count` of them and a few more can be written.
  std::byte* Room(uint64_t count) {
    const size_t needed = (words_ + static_cast<size_t>(count)) * kWordBytes + kSlack;
    if (needed > bytes_.size()) bytes_.resize(std::max(needed, 2 * bytes_.size()));
    return bytes_.data() + words_ * kWordBytes;
  }
  // Makes `count` words of the room part of the chunk.
  void Keep(uint64_t count) { words_ += static_cast<size_t>(count); }

  std::byte* at(size_t word) { return bytes_.data() + word * kWordBytes; }

  ByteVector Take() && {
    bytes_.resize(words_ * kWordBytes);
    return std::move(bytes_);
  }

 private:
  static constexpr size_t kSlack = 64;  // PackFew wants 32.

  ByteVector bytes_;
  size_t words_ = 0;
};

// Where in a channel's stream each label table is.
class TableCache {
 public:
  TableCache(ChunkBytes& chunk, size_t base) : chunk_(chunk), base_(base), slots_(64) {}

  // The offset from the channel's base, in words, of an equal table. If there is none:
  // that of the table itself, which is then part of the chunk.
  // Precondition: the table has been written to the chunk's room.
  template <typename Label>
  uint32_t Place(size_t labels) {
    const auto words = static_cast<uint32_t>(labels * sizeof(Label) / kWordBytes);
    const std::byte* table = chunk_.Room(words);
    uint64_t hash = 0;  // Order does not matter: tables are sorted.
    for (size_t i = 0; i < labels; ++i) {
      hash += Mix(LoadLE<Label>(table + i * sizeof(Label)));
    }
    size_t at = SlotOf(hash);
    for (; slots_[at].words != 0; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.hash == hash && slot.words == words &&
          std::memcmp(chunk_.at(base_ + slot.offset), table, words * kWordBytes) == 0) {
        return slot.offset;
      }
    }
    const auto offset = static_cast<uint32_t>(chunk_.words() - base_);
    slots_[at] = {hash, offset, words};
    chunk_.Keep(words);
    if (++used_ > slots_.size() / 2) Grow();
    return offset;
  }

 private:
  struct Slot {
    uint64_t hash;
    uint32_t offset;
    uint32_t words;  // 0: empty
  };

  static uint64_t Mix(uint64_t label) {
    label = (label ^ 0x2545f4914f6cdd1d) * 0x9e3779b97f4a7c15;
    return (label ^ (label >> 32)) * 0xd6e8feb86659fd93;
  }

  size_t SlotOf(uint64_t hash) const {
    return static_cast<size_t>(hash >> 32) & (slots_.size() - 1);
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.words == 0) continue;
      size_t at = SlotOf(slot.hash);
      while (slots_[at].words != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  ChunkBytes& chunk_;
  size_t base_;
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace dolium::volume
