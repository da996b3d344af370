#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/domain/volume/encodings/compresso.h"
#include "dolium/domain/volume/encodings/compresso_internal.h"

namespace dolium::volume {
namespace {

constexpr uint8_t kVersion = 1;
constexpr uint8_t kConnectivity = 4;

template <typename T>
void AppendAll(ByteVector& to, const std::vector<T>& numbers) {
  size_t at = to.size();
  to.resize(at + numbers.size() * sizeof(T));
  for (const T number : numbers) {
    StoreLE<T>(&to[at], number);
    at += sizeof(T);
  }
}

template <typename T>
void AppendOne(ByteVector& to, std::type_identity_t<T> number) {
  to.resize(to.size() + sizeof(T));
  StoreLE<T>(&*to.end() - sizeof(T), number);
}

// Bit i is bit 0 of flags[i]; the other bits of flags are 0.
uint64_t PackFlags(const std::array<std::byte, 64>& flags) {
  uint64_t bits = 0;
  for (size_t i = 0; i < 8; ++i) {
    // Moves bit 0 of byte k to bit 56 + k.
    const uint64_t eight = LoadLE<uint64_t>(&flags[8 * i]) * 0x0102040810204080;
    bits |= eight >> 56 << (8 * i);
  }
  return bits;
}

// Sets the bits of voxels that differ from their neighbour to the right or below.
// `below` is null in the last row.
template <typename Label>
void FindBoundaries(const std::byte* row, const std::byte* below, size_t width,
                    uint64_t* bits) {
  for (size_t x = 0; x < width; x += 64) {
    std::array<std::byte, 64> flags = {};
    const std::byte* here = row + x * sizeof(Label);
    const size_t right = std::min<size_t>(64, width - 1 - x);
    for (size_t i = 0; i < right; ++i) {
      flags[i] = std::byte{LoadLE<Label>(here + i * sizeof(Label)) !=
                           LoadLE<Label>(here + (i + 1) * sizeof(Label))};
    }
    if (below != nullptr) {
      const std::byte* there = below + x * sizeof(Label);
      const size_t count = std::min<size_t>(64, width - x);
      for (size_t i = 0; i < count; ++i) {
        flags[i] |= std::byte{LoadLE<Label>(here + i * sizeof(Label)) !=
                              LoadLE<Label>(there + i * sizeof(Label))};
      }
    }
    bits[x / 64] = PackFlags(flags);
  }
}

// The boundaries as windows of `step` x `step` voxels, a bit each.
template <typename Window>
std::vector<Window> MakeWindows(const BoundaryBits& boundaries, const Vec3& size,
                                size_t step) {
  const auto width = static_cast<size_t>(size[0]);
  const auto height = static_cast<size_t>(size[1]);
  const auto depth = static_cast<size_t>(size[2]);
  const size_t row_windows = (width + step - 1) / step;
  const size_t slice_windows = row_windows * ((height + step - 1) / step);
  std::vector<Window> windows(slice_windows * depth);
  const uint64_t mask = (uint64_t{1} << step) - 1;
  for (size_t z = 0; z < depth; ++z) {
    for (size_t y = 0; y < height; ++y) {
      const uint64_t* row = boundaries.row(y, z);
      Window* to = &windows[slice_windows * z + row_windows * (y / step)];
      const size_t shift = step * (y % step);
      for (size_t word = 0; word < boundaries.row_words(); ++word) {
        const size_t first = word * (64 / step);
        const size_t count = std::min(64 / step, row_windows - first);
        if (row[word] == 0) continue;
        for (size_t i = 0; i < count; ++i) {
          to[first + i] = static_cast<Window>(
              to[first + i] | ((row[word] >> (i * step)) & mask) << shift);
        }
      }
    }
  }
  return windows;
}

struct DistinctWindows {
  std::vector<uint16_t> values;  // sorted
  std::vector<uint16_t> index;   // of each value
};

// Nullopt if they are too many for the run-length code.
std::optional<DistinctWindows> FindDistinct(const std::vector<uint16_t>& windows) {
  DistinctWindows distinct;
  distinct.index.resize(size_t{1} << 16);
  for (const uint16_t window : windows) distinct.index[window] = 1;
  for (size_t window = 0; window < distinct.index.size(); ++window) {
    if (distinct.index[window] == 0) continue;
    if (distinct.values.size() > std::numeric_limits<uint16_t>::max() / 2) {
      return std::nullopt;
    }
    distinct.index[window] = static_cast<uint16_t>(distinct.values.size());
    distinct.values.push_back(static_cast<uint16_t>(window));
  }
  return distinct;
}

// Runs of index 0 as 2 * length + 1, other indexes doubled.
template <typename Window, typename IndexOf>
std::vector<Window> EncodeRuns(const std::vector<Window>& windows,
                               const IndexOf& index_of) {
  constexpr Window kMaxRun = std::numeric_limits<Window>::max() / 2;
  std::vector<Window> out;
  Window zeros = 0;
  const auto flush = [&] {
    if (zeros != 0) out.push_back(static_cast<Window>(zeros << 1 | 1));
    zeros = 0;
  };
  for (const Window window : windows) {
    const Window index = index_of(window);
    if (index == 0) {
      if (++zeros == kMaxRun) flush();
      continue;
    }
    flush();
    out.push_back(static_cast<Window>(index << 1));
  }
  flush();
  return out;
}

template <typename Label>
class Encoder {
 public:
  Encoder(const Vec3& size, const std::byte* voxels)
      : size_(size),
        width_(static_cast<size_t>(size[0])),
        height_(static_cast<size_t>(size[1])),
        depth_(static_cast<size_t>(size[2])),
        voxels_(voxels),
        boundaries_(size) {}

  ByteVector Encode() {
    for (size_t z = 0; z < depth_; ++z) {
      for (size_t y = 0; y < height_; ++y) {
        FindBoundaries<Label>(Voxel(0, y, z),
                              y + 1 < height_ ? Voxel(0, y + 1, z) : nullptr, width_,
                              boundaries_.row(y, z));
      }
      AddComponents(z);
      AddLocations(z);
    }
    const auto windows = MakeWindows<uint16_t>(boundaries_, size_, 4);
    if (const auto distinct = FindDistinct(windows)) {
      return Assemble<uint16_t>(
          4, distinct->values,
          EncodeRuns(windows, [&](uint16_t window) { return distinct->index[window]; }));
    }
    const auto large = MakeWindows<uint64_t>(boundaries_, size_, 8);
    std::vector<uint64_t> values = large;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return Assemble<uint64_t>(
        8, values, EncodeRuns(large, [&](uint64_t window) {
          return static_cast<uint64_t>(
              std::lower_bound(values.begin(), values.end(), window) - values.begin());
        }));
  }

 private:
  const std::byte* Voxel(size_t x, size_t y, size_t z) const {
    return voxels_ + (x + width_ * (y + height_ * z)) * sizeof(Label);
  }
  Label LabelAt(size_t x, size_t y, size_t z) const {
    return LoadLE<Label>(Voxel(x, y, z));
  }

  void AddComponents(size_t z) {
    components_.Clear();
    for (size_t y = 0; y < height_; ++y) {
      components_.AddRow(boundaries_.row(y, z), width_);
      if (y > 0) components_.Join(y - 1);
    }
    const size_t count = components_.Number();
    slice_components_.push_back(count);
    const size_t first = ids_.size();
    ids_.reserve(first + count);
    for (size_t y = 0; y < height_; ++y) {
      for (const Components::Run& run : components_.row(y)) {
        if (first + run.component == ids_.size()) {
          ids_.push_back(LabelAt(run.begin, y, z));
        }
      }
    }
  }

  void AddLocations(size_t z) {
    const size_t first = locations_.size();
    for (size_t y = 0; y < height_; ++y) {
      const uint64_t* row = boundaries_.row(y, z);
      const uint64_t* up = y > 0 ? boundaries_.row(y - 1, z) : nullptr;
      for (size_t i = 0; i < boundaries_.row_words(); ++i) {
        uint64_t unknown = row[i] & MovedRight(row, i);
        if (up != nullptr) unknown &= up[i];
        ForEachBit(unknown, i * 64, [&](size_t x) { AddLocation(x, y, z); });
      }
    }
    slice_locations_.push_back(locations_.size() - first);
  }

  void AddLocation(size_t x, size_t y, size_t z) {
    const Label label = LabelAt(x, y, z);
    if (x + 1 < width_ && !TestBit(boundaries_.row(y, z), x + 1) &&
        LabelAt(x + 1, y, z) == label) {
      locations_.push_back(kSameAsRight);
    } else if (y + 1 < height_ && !TestBit(boundaries_.row(y + 1, z), x) &&
               LabelAt(x, y + 1, z) == label) {
      locations_.push_back(kSameAsDown);
    } else if (label > std::numeric_limits<Label>::max() - kLabelBase) {
      locations_.push_back(kLabelFollows);
      locations_.push_back(label);
    } else {
      locations_.push_back(static_cast<Label>(label + kLabelBase));
    }
  }

  template <typename Window>
  ByteVector Assemble(uint8_t step, const std::vector<Window>& values,
                      const std::vector<Window>& runs) const {
    ByteVector out;
    out.reserve(kCompressoHeaderBytes +
                (ids_.size() + locations_.size()) * sizeof(Label) +
                (values.size() + runs.size()) * sizeof(Window) +
                2 * depth_ * CompressoIndexBytes(size_));
    Append(out, AsBytes(kCompressoMagic));
    AppendOne<uint8_t>(out, kVersion);
    AppendOne<uint8_t>(out, sizeof(Label));
    for (const int64_t side : size_) {
      AppendOne<uint16_t>(out, static_cast<uint16_t>(side));
    }
    AppendOne<uint8_t>(out, step);
    AppendOne<uint8_t>(out, step);
    AppendOne<uint8_t>(out, 1);
    AppendOne<uint64_t>(out, ids_.size());
    AppendOne<uint32_t>(out, static_cast<uint32_t>(values.size()));
    AppendOne<uint64_t>(out, locations_.size());
    AppendOne<uint8_t>(out, kConnectivity);
    AppendAll(out, ids_);
    AppendAll(out, values);
    AppendAll(out, locations_);
    AppendAll(out, runs);
    switch (CompressoIndexBytes(size_)) {
      case 1:
        AppendIndex<uint8_t>(out);
        break;
      case 2:
        AppendIndex<uint16_t>(out);
        break;
      case 4:
        AppendIndex<uint32_t>(out);
        break;
      default:
        AppendIndex<uint64_t>(out);
    }
    return out;
  }

  // The components of each slice, then where its locations begin, counted from where
  // those of the slice before begin.
  template <typename T>
  void AppendIndex(ByteVector& out) const {
    for (const uint64_t count : slice_components_) {
      AppendOne<T>(out, static_cast<T>(count));
    }
    AppendOne<T>(out, 0);
    for (size_t z = 0; z + 1 < depth_; ++z) {
      AppendOne<T>(out, static_cast<T>(slice_locations_[z]));
    }
  }

  const Vec3& size_;
  size_t width_;
  size_t height_;
  size_t depth_;
  const std::byte* voxels_;
  BoundaryBits boundaries_;
  Components components_;
  std::vector<Label> ids_;
  std::vector<Label> locations_;
  std::vector<uint64_t> slice_components_;
  std::vector<uint64_t> slice_locations_;
};

}  // namespace

Result<ByteVector> EncodeCompresso(const ArrayShape& shape, BytesView voxels) {
  for (const int64_t side : shape.size) {
    if (side > kMaxCompressoSide) {
      return Unsupported(
          fmt::format("a chunk of {} has a side of more than {} voxels, "
                      "which compresso cannot store; use smaller chunks",
                      ToString(shape.size), kMaxCompressoSide));
    }
  }
  switch (SizeOf(shape.type)) {
    case 1:
      return Encoder<uint8_t>(shape.size, voxels.data()).Encode();
    case 2:
      return Encoder<uint16_t>(shape.size, voxels.data()).Encode();
    case 4:
      return Encoder<uint32_t>(shape.size, voxels.data()).Encode();
    default:
      return Encoder<uint64_t>(shape.size, voxels.data()).Encode();
  }
}

}  // namespace dolium::volume
