// What compresso's encoder and decoder share: the header, boundaries as bits, components.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

inline constexpr std::string_view kCompressoMagic = "cpso";
inline constexpr size_t kCompressoHeaderBytes = 36;
inline constexpr int64_t kMaxCompressoSide = 0xffff;

// Location codes: the label of a voxel that its neighbours do not give away.
enum CompressoCode : uint8_t {
  kSameAsLeft = 0,
  kSameAsRight = 1,
  kSameAsUp = 2,
  kSameAsDown = 3,
  kSameAsBefore = 4,  // z - 1
  kSameAsAfter = 5,   // z + 1
  kLabelFollows = 6,
  kLabelBase = 7,  // this and more: the label, plus this
};

// The bytes of each number in the index of slices.
inline size_t CompressoIndexBytes(const Vec3& size) {
  const uint64_t worst = 2 * static_cast<uint64_t>(size[0] * size[1]);
  if (worst < 0xff) return 1;
  if (worst < 0xffff) return 2;
  return worst < 0xffffffff ? 4 : 8;
}

// One bit for each voxel of a chunk, set for those at a boundary. Rows begin with a word
// of their own; what is behind their end is 0.
class BoundaryBits {
 public:
  explicit BoundaryBits(const Vec3& size)
      : row_words_((static_cast<size_t>(size[0]) + 63) / 64),
        height_(static_cast<size_t>(size[1])),
        words_(row_words_ * height_ * static_cast<size_t>(size[2])) {}

  size_t row_words() const { return row_words_; }
  uint64_t* row(size_t y, size_t z) { return &words_[(y + height_ * z) * row_words_]; }
  const uint64_t* row(size_t y, size_t z) const {
    return &words_[(y + height_ * z) * row_words_];
  }

 private:
  size_t row_words_;
  size_t height_;
  std::vector<uint64_t> words_;
};

inline bool TestBit(const uint64_t* row, size_t x) {
  return ((row[x / 64] >> (x % 64)) & 1) != 0;
}

// Calls visit(x) for each set bit of a word whose first bit is of voxel `x`.
template <typename Visit>
void ForEachBit(uint64_t word, size_t x, const Visit& visit) {
  for (; word != 0; word &= word - 1) {
    visit(x + static_cast<size_t>(std::countr_zero(word)));
  }
}

// Word `i` of the row, each bit moved to the next voxel. The first voxel's bit is set: it
// has no neighbour to the left.
inline uint64_t MovedRight(const uint64_t* row, size_t i) {
  return row[i] << 1 | (i == 0 ? 1 : row[i - 1] >> 63);
}

// Connected components of voxels that are at no boundary, found by runs of such voxels.
class Components {
 public:
  struct Run {
    uint32_t begin;
    uint32_t end;
    uint32_t component;  // in the order of first voxels; set by Number()
  };

  void Clear() {
    runs_.clear();
    rows_.assign(1, 0);
    parents_.clear();
  }

  // Adds the next row.
  void AddRow(const uint64_t* boundary, size_t width) {
    size_t x = 0;
    while (true) {
      const size_t begin = Next(boundary, x, width, ~uint64_t{0});
      if (begin == width) break;
      x = Next(boundary, begin, width, 0);
      parents_.push_back(static_cast<uint32_t>(runs_.size()));
      runs_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(x), 0});
    }
    rows_.push_back(runs_.size());
  }

  // Connects the runs of the last row with those of an earlier one that they touch.
  void Join(size_t earlier_row) {
    size_t a = rows_[earlier_row];
    const size_t a_end = rows_[earlier_row + 1];
    size_t b = rows_[rows_.size() - 2];
    const size_t b_end = runs_.size();
    while (a < a_end && b < b_end) {
      if (runs_[a].begin < runs_[b].end && runs_[b].begin < runs_[a].end) {
        Unite(static_cast<uint32_t>(a), static_cast<uint32_t>(b));
      }
      if (runs_[a].end < runs_[b].end) {
        ++a;
      } else {
        ++b;
      }
    }
  }

  // Numbers the components of all runs; returns how many they are.
  size_t Number() {
    uint32_t count = 0;
    for (size_t i = 0; i < runs_.size(); ++i) {
      // A parent is never behind its child.
      runs_[i].component = parents_[i] == i ? count++ : runs_[parents_[i]].component;
    }
    return count;
  }

  std::span<const Run> row(size_t row) const {
    return std::span(runs_).subspan(rows_[row], rows_[row + 1] - rows_[row]);
  }

 private:
  // The first voxel from `x` on whose bit, flipped if `flip`, is set.
  static size_t Next(const uint64_t* row, size_t x, size_t width, uint64_t flip) {
    while (x < width) {
      const uint64_t rest = (row[x / 64] ^ flip) >> (x % 64);
      if (rest != 0) {
        return std::min(width, x + static_cast<size_t>(std::countr_zero(rest)));
      }
      x = (x / 64 + 1) * 64;
    }
    return width;
  }

  uint32_t Root(uint32_t run) {
    while (parents_[run] != run) {
      parents_[run] = parents_[parents_[run]];
      run = parents_[run];
    }
    return run;
  }

  void Unite(uint32_t a, uint32_t b) {
    a = Root(a);
    b = Root(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

  std::vector<Run> runs_;
  std::vector<size_t> rows_ = {0};  // where each begins in runs_, and the end
  std::vector<uint32_t> parents_;
};

}  // namespace dolium::volume
