#include "dolium/domain/mesh/making/label_cells.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

namespace dolium::mesh {
namespace {

using volume::Box;
using volume::Vec3;

// A cell of a label, before they are sorted: its corners, its number, and that of its
// label.
constexpr unsigned kCellShift = 8;
constexpr unsigned kLabelShift = 36;
constexpr uint64_t kMaxLabels = uint64_t{1} << 28;

// Numbers labels as they appear. The last few are remembered, for cells lie side by side.
template <typename T>
class LabelNumbers {
 public:
  uint64_t NumberOf(T label) {
    if (label == last_) return last_number_;
    const auto [entry, is_new] = numbers_.try_emplace(label, labels_.size());
    if (is_new) labels_.push_back(label);
    before_ = std::exchange(last_, label);
    before_number_ = std::exchange(last_number_, entry->second);
    return last_number_;
  }

  // The same for labels that come in pairs.
  uint64_t FastNumberOf(T label) {
    if (label == last_) return last_number_;
    if (label == before_) {
      std::swap(last_, before_);
      std::swap(last_number_, before_number_);
      return last_number_;
    }
    return NumberOf(label);
  }

  const std::vector<T>& labels() const { return labels_; }

 private:
  std::unordered_map<T, uint64_t> numbers_;
  std::vector<T> labels_;
  T last_ = 0;  // never a label
  T before_ = 0;
  uint64_t last_number_ = 0;
  uint64_t before_number_ = 0;
};

template <typename T>
class CellFinder {
 public:
  CellFinder(const T* voxels, const Vec3& size, const Vec3& first)
      : voxels_(voxels),
        row_(static_cast<size_t>(size[0])),
        layer_(row_ * static_cast<size_t>(size[1])),
        cells_x_(row_ - 1),
        cells_y_(static_cast<size_t>(size[1]) - 1),
        cells_z_(static_cast<size_t>(size[2]) - 1),
        first_x_(first[0]),
        differs_(row_) {}

  Result<BlockCells> Find() {
    for (size_t z = 0; z < cells_z_; ++z) {
      for (size_t y = 0; y < cells_y_; ++y) {
        FindInRow(voxels_ + z * layer_ + y * row_, (z * cells_y_ + y) * cells_x_);
      }
      if (numbers_.labels().size() >= kMaxLabels) {
        return Unsupported("a block of 2^28 labels or more");
      }
    }
    return Sorted();
  }

 private:
  static constexpr size_t kStep = 64;

  void FindInRow(const T* a, size_t first_cell) {
    const T* const b = a + row_;
    const T* const c = a + layer_;
    const T* const d = c + row_;
    for (size_t x = 0; x < cells_x_; x += kStep) {
      const size_t end = std::min(x + kStep, cells_x_);
      // Most of a volume is the inside of something.
      T any = 0;
      const T value = a[x];
      for (size_t i = x; i <= end; ++i) {
        any |= static_cast<T>((a[i] ^ value) | (b[i] ^ value) | (c[i] ^ value) |
                              (d[i] ^ value));
      }
      if (any == 0) continue;
      for (size_t i = x; i <= end; ++i) {
        differs_[i] = static_cast<T>((a[i] ^ b[i]) | (a[i] ^ c[i]) | (a[i] ^ d[i]));
      }
      for (size_t i = x; i < end; ++i) {
        const T both = static_cast<T>(differs_[i] | differs_[i + 1] | (a[i] ^ a[i + 1]));
        if (both != 0) {
          AddCell({a[i], a[i + 1], b[i], b[i + 1], c[i], c[i + 1], d[i], d[i + 1]},
                  first_cell + i);
        }
      }
    }
  }

  void AddCell(const std::array<T, 8>& corners, size_t cell) {
    for (unsigned left = 0xFF; left != 0;) {
      const T label = corners[static_cast<size_t>(std::countr_zero(left))];
      unsigned inside = 0;
      for (size_t i = 0; i < corners.size(); ++i) {
        inside |= (corners[i] == label ? 1U : 0U) << i;
      }
      left &= ~inside;
      if (label == 0) continue;
      const uint64_t number = numbers_.FastNumberOf(label);
      found_.push_back(number << kLabelShift | uint64_t{cell} << kCellShift | inside);
    }
  }

  BlockCells Sorted() {
    const auto& labels = numbers_.labels();
    std::vector<size_t> order(labels.size());  // numbers of labels, by label
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t number) { return labels[number]; });
    std::vector<uint64_t> begins(labels.size() + 1);
    for (const uint64_t cell : found_) ++begins[(cell >> kLabelShift) + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<uint64_t> sorted(found_.size());
    auto at = begins;
    constexpr uint64_t kMask = (uint64_t{1} << kLabelShift) - 1;
    for (const uint64_t cell : found_) sorted[at[cell >> kLabelShift]++] = cell & kMask;
    found_ = {};

    BlockCells block;
    block.bytes.reserve(sorted.size() * 3);
    block.runs.reserve(labels.size());
    for (const size_t number : order) {
      CellRun& run = block.runs.emplace_back();
      run.label = labels[number];
      run.cells = begins[number + 1] - begins[number];
      run.offset = block.bytes.size();
      Write(std::span(sorted).subspan(begins[number], run.cells), run, block.bytes);
      run.size = block.bytes.size() - run.offset;
    }
    return block;
  }

  // Each cell as the distance from the one before it, seven bits to a byte, and its
  // corners.
  void Write(std::span<const uint64_t> cells, CellRun& run, ByteVector& bytes) const {
    uint64_t before = 0;
    for (const uint64_t packed : cells) {
      const uint64_t cell = packed >> kCellShift;
      uint64_t distance = cell - std::exchange(before, cell);
      for (; distance >= 0x80; distance >>= 7) {
        bytes.push_back(static_cast<std::byte>(distance | 0x80));
      }
      bytes.push_back(static_cast<std::byte>(distance));
      bytes.push_back(static_cast<std::byte>(packed));
      // The last corners in y and z: each pair of voxels side by side is seen once.
      const bool is_inside = (packed >> 6 & 1) != 0;
      const bool goes_on = (packed >> 7 & 1) != 0;
      if (is_inside == goes_on) continue;
      const auto x = static_cast<uint64_t>(first_x_) + cell % cells_x_ + 1;
      run.voxels += is_inside ? x : -x;
    }
  }

  const T* const voxels_;
  const size_t row_;
  const size_t layer_;
  const size_t cells_x_;
  const size_t cells_y_;
  const size_t cells_z_;
  const int64_t first_x_;
  std::vector<T> differs_;
  LabelNumbers<T> numbers_;
  std::vector<uint64_t> found_;
};

template <typename T>
Result<BlockCells> FindIn(const volume::VoxelView& voxels, const Vec3& first) {
  return CellFinder<T>(reinterpret_cast<const T*>(voxels.data), voxels.shape.size, first)
      .Find();
}

std::optional<uint64_t> CountCells(const Vec3& size) {
  uint64_t count = 1;
  for (const int64_t side : size) {
    if (side < 1 || static_cast<uint64_t>(side) >= kMaxBlockCells) return std::nullopt;
    count *= static_cast<uint64_t>(side);
    if (count >= kMaxBlockCells) return std::nullopt;
  }
  return count;
}

// Visits the cells of a run: coordinates in the block, and corners.
template <typename Visit>
Result<void> VisitRun(BytesView run, const Box& block, const Visit& visit) {
  const auto count = CountCells(block.size());
  if (!count)
    return InvalidArgument(fmt::format("a block of {} cells", volume::ToString(block)));
  const auto size_x = static_cast<uint64_t>(block.size()[0]);
  const auto size_y = static_cast<uint64_t>(block.size()[1]);
  uint64_t cell = 0;
  uint64_t y = 0;
  uint64_t z = 0;
  uint64_t row = 0;  // its first cell
  for (size_t at = 0; at < run.size();) {
    uint64_t distance = 0;
    unsigned shift = 0;
    for (;; ++at, shift += 7) {
      if (at + 1 >= run.size() || shift > 28) return Corrupt("no list of cells");
      const auto byte = static_cast<uint64_t>(run[at]);
      distance |= (byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
    ++at;
    cell += distance;
    if (cell >= *count) return Corrupt("a list of cells leaves its block");
    if (cell - row >= size_x) {
      const uint64_t number = cell / size_x;
      row = number * size_x;
      z = number / size_y;
      y = number - z * size_y;
    }
    visit(cell - row, y, z, static_cast<uint8_t>(run[at++]));
  }
  return {};
}

}  // namespace

Result<BlockCells> FindLabelCells(const volume::VoxelView& voxels, const Vec3& first) {
  const Vec3& size = voxels.shape.size;
  if (!CountCells({size[0] - 1, size[1] - 1, size[2] - 1}) ||
      voxels.shape.channels != 1 || voxels.strides != DenseStrides(voxels.shape)) {
    return InvalidArgument(
        fmt::format("a block of {} voxels, expected one channel, and 1 to 2^28 - 1 cells "
                    "between them",
                    volume::ToString(size)));
  }
  switch (voxels.shape.type) {
    case volume::DataType::kUint8:
      return FindIn<uint8_t>(voxels, first);
    case volume::DataType::kUint16:
      return FindIn<uint16_t>(voxels, first);
    case volume::DataType::kUint32:
      return FindIn<uint32_t>(voxels, first);
    case volume::DataType::kUint64:
      return FindIn<uint64_t>(voxels, first);
    default:
      return InvalidArgument(fmt::format("labels of {}, expected an unsigned type",
                                         volume::ToString(voxels.shape.type)));
  }
}

Result<void> CellList::Add(BytesView run, const Box& block, const Box& part) {
  const Box taken = block.Intersect(part);
  if (taken.empty()) return {};
  begins_.push_back(packed_.size());
  std::array<uint64_t, 3> low;
  std::array<uint64_t, 3> size;
  std::array<uint64_t, 3> shift;
  for (size_t d = 0; d < 3; ++d) {
    low[d] = static_cast<uint64_t>(taken.begin[d] - block.begin[d]);
    size[d] = static_cast<uint64_t>(taken.size()[d]);
    // Wraps where the block begins before the part.
    shift[d] = static_cast<uint64_t>(block.begin[d] - origin_[d] + 1);
  }
  return VisitRun(run, block, [&](uint64_t x, uint64_t y, uint64_t z, uint8_t corners) {
    if (x - low[0] >= size[0] || y - low[1] >= size[1] || z - low[2] >= size[2]) return;
    packed_.push_back((z + shift[2]) << kZShift | (y + shift[1]) << kYShift |
                      (x + shift[0]) << kXShift | corners);
  });
}

void CellList::Sort() {
  // Runs are in order; two and two are joined.
  begins_.push_back(packed_.size());
  const auto at = [&](size_t i) {
    return packed_.begin() + static_cast<std::ptrdiff_t>(begins_[i]);
  };
  while (begins_.size() > 2) {
    std::vector<size_t> joined;
    for (size_t i = 0; i + 1 < begins_.size(); i += 2) {
      joined.push_back(begins_[i]);
      if (i + 2 < begins_.size()) std::inplace_merge(at(i), at(i + 1), at(i + 2));
    }
    joined.push_back(packed_.size());
    begins_ = std::move(joined);
  }
  begins_.clear();
}

Result<Box> BoundsOfRun(BytesView run, const Box& block) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  std::array<uint64_t, 3> low = {kMost, kMost, kMost};
  std::array<uint64_t, 3> high = {0, 0, 0};
  DOLIUM_TRY_VOID(VisitRun(run, block, [&](uint64_t x, uint64_t y, uint64_t z, uint8_t) {
    low = {std::min(low[0], x), std::min(low[1], y), std::min(low[2], z)};
    high = {std::max(high[0], x + 1), std::max(high[1], y + 1), std::max(high[2], z + 1)};
  }));
  Box bounds{block.begin, block.begin};
  if (run.empty()) return bounds;
  for (size_t d = 0; d < 3; ++d) {
    bounds.begin[d] += static_cast<int64_t>(low[d]);
    bounds.end[d] += static_cast<int64_t>(high[d]);
  }
  return bounds;
}

}  // namespace dolium::mesh
