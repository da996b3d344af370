#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/base/checked_math.h"
#include "dolium/domain/volume/encodings/compresso.h"
#include "dolium/domain/volume/encodings/compresso_internal.h"

namespace dolium::volume {
namespace {

constexpr uint64_t kMaxWindowVoxels = 64;

// A stream, taken apart.
struct Parts {
  uint8_t version = 0;
  uint8_t connectivity = 0;
  size_t steps[3] = {};
  size_t window_bytes = 0;
  BytesView ids;
  BytesView values;
  BytesView locations;
  BytesView runs;
};

// Numbers of sizeof(T) bytes.
template <typename T>
class Numbers {
 public:
  explicit Numbers(BytesView bytes) : bytes_(bytes) {}
  size_t size() const { return bytes_.size() / sizeof(T); }
  T operator[](size_t i) const { return LoadLE<T>(&bytes_[i * sizeof(T)]); }

 private:
  BytesView bytes_;
};

size_t WindowBytes(uint64_t voxels) {
  if (voxels <= 8) return 1;
  if (voxels <= 16) return 2;
  return voxels <= 32 ? 4 : 8;
}

// The header's sizes, in the order in which the stream has them.
struct Counts {
  uint64_t ids = 0;
  uint64_t values = 0;
  uint64_t locations = 0;
};

Result<Counts> ParseHeader(ByteReader& reader, const ArrayShape& shape, Parts& parts) {
  DOLIUM_TRY(const BytesView magic, reader.ReadBytes(kCompressoMagic.size(), "magic"));
  if (AsText(magic) != kCompressoMagic) return Corrupt("does not begin with \"cpso\"");
  DOLIUM_TRY(parts.version, reader.Read<uint8_t>("format version"));
  if (parts.version > 1) {
    return Corrupt(fmt::format("format version {}, expected 0 or 1", parts.version));
  }
  DOLIUM_TRY(const uint8_t label_bytes, reader.Read<uint8_t>("label width"));
  if (label_bytes != SizeOf(shape.type)) {
    return Corrupt(fmt::format("labels of {} bytes, expected {} ({})", label_bytes,
                               SizeOf(shape.type), ToString(shape.type)));
  }
  Vec3 size;
  for (int64_t& side : size) {
    DOLIUM_TRY(side, reader.Read<uint16_t>("size"));
  }
  if (size != shape.size) {
    return Corrupt(
        fmt::format("size {}, expected {}", ToString(size), ToString(shape.size)));
  }
  for (size_t& step : parts.steps) {
    DOLIUM_TRY(step, reader.Read<uint8_t>("step"));
  }
  const uint64_t window_voxels =
      uint64_t{parts.steps[0]} * parts.steps[1] * parts.steps[2];
  if (window_voxels == 0 || window_voxels > kMaxWindowVoxels) {
    return Corrupt(fmt::format("windows of {} x {} x {} voxels, expected 1 to 64 voxels",
                               parts.steps[0], parts.steps[1], parts.steps[2]));
  }
  parts.window_bytes = WindowBytes(window_voxels);
  Counts counts;
  DOLIUM_TRY(counts.ids, reader.Read<uint64_t>("number of ids"));
  DOLIUM_TRY(counts.values, reader.Read<uint32_t>("number of window values"));
  DOLIUM_TRY(counts.locations, reader.Read<uint64_t>("number of locations"));
  DOLIUM_TRY(parts.connectivity, reader.Read<uint8_t>("connectivity"));
  if (parts.connectivity != 4 && parts.connectivity != 6) {
    return Corrupt(fmt::format("connectivity {}, expected 4 or 6", parts.connectivity));
  }
  return counts;
}

Result<BytesView> ReadNumbers(ByteReader& reader, uint64_t count, size_t width,
                              std::string_view what) {
  // A product that does not fit is more than remains, too.
  return reader.ReadBytes(CheckedMul(count, width).value_or(~uint64_t{0}), what);
}

Result<Parts> Parse(const ArrayShape& shape, BytesView stored) {
  Parts parts;
  ByteReader reader(stored);
  DOLIUM_TRY(const Counts counts, ParseHeader(reader, shape, parts));
  const size_t label_bytes = SizeOf(shape.type);
  DOLIUM_TRY(parts.ids, ReadNumbers(reader, counts.ids, label_bytes, "ids"));
  DOLIUM_TRY(parts.values,
             ReadNumbers(reader, counts.values, parts.window_bytes, "window values"));
  DOLIUM_TRY(parts.locations,
             ReadNumbers(reader, counts.locations, label_bytes, "locations"));
  const uint64_t index_bytes =
      parts.version == 0
          ? 0
          : 2 * CompressoIndexBytes(shape.size) * static_cast<uint64_t>(shape.size[2]);
  if (index_bytes > reader.remaining()) {
    return Corrupt(fmt::format("index of slices needs {} bytes, {} remain", index_bytes,
                               reader.remaining()));
  }
  const uint64_t run_bytes = reader.remaining() - index_bytes;
  if (run_bytes % parts.window_bytes != 0) {
    return Corrupt(fmt::format("windows take {} bytes, not a multiple of {}", run_bytes,
                               parts.window_bytes));
  }
  DOLIUM_TRY(parts.runs, reader.ReadBytes(run_bytes, "windows"));
  return parts;
}

// Paints windows, one after another, x fastest.
class WindowPainter {
 public:
  WindowPainter(const Vec3& size, const size_t (&steps)[3], BoundaryBits& to) : to_(to) {
    for (size_t d = 0; d < 3; ++d) {
      size_[d] = static_cast<size_t>(size[d]);
      steps_[d] = steps[d];
      grid_[d] = (size_[d] + steps[d] - 1) / steps[d];
    }
  }

  uint64_t windows() const { return uint64_t{grid_[0]} * grid_[1] * grid_[2]; }

  // Precondition: window < windows().
  void Paint(uint64_t window, uint64_t value) {
    const size_t x = static_cast<size_t>(window % grid_[0]) * steps_[0];
    const size_t y = static_cast<size_t>(window / grid_[0] % grid_[1]) * steps_[1];
    const size_t z = static_cast<size_t>(window / grid_[0] / grid_[1]) * steps_[2];
    const auto width = static_cast<unsigned>(std::min(steps_[0], size_[0] - x));
    const uint64_t mask = LowBits(width);
    for (size_t dz = 0; dz < steps_[2] && z + dz < size_[2]; ++dz) {
      for (size_t dy = 0; dy < steps_[1] && y + dy < size_[1]; ++dy) {
        const uint64_t bits = (value >> (steps_[0] * (dy + steps_[1] * dz))) & mask;
        uint64_t* word = to_.row(y + dy, z + dz) + x / 64;
        *word |= bits << (x % 64);
        if (x % 64 + width > 64) word[1] |= bits >> (64 - x % 64);
      }
    }
  }

 private:
  size_t size_[3];
  size_t steps_[3];
  size_t grid_[3];
  BoundaryBits& to_;
};

template <typename Window>
Result<void> DecodeBoundaries(const Vec3& size, const Parts& parts,
                              BoundaryBits& boundaries) {
  const Numbers<Window> values(parts.values);
  const Numbers<Window> runs(parts.runs);
  WindowPainter painter(size, parts.steps, boundaries);
  if (values.size() == 0) return Corrupt("no window values");
  uint64_t window = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const uint64_t run = runs[i];
    const uint64_t count = (run & 1) != 0 ? run >> 1 : 1;
    const uint64_t index = (run & 1) != 0 ? 0 : run >> 1;
    if (count > painter.windows() - window) {
      return Corrupt(fmt::format("{} more windows after {} of {}", count, window,
                                 painter.windows()));
    }
    if (index >= values.size()) {
      return Corrupt(
          fmt::format("window {} has value {} of {}", window, index, values.size()));
    }
    const Window value = values[static_cast<size_t>(index)];
    const uint64_t end = window + count;
    if (value == 0) window = end;
    for (; window < end; ++window) painter.Paint(window, value);
  }
  if (window != painter.windows()) {
    return Corrupt(fmt::format("{} windows, expected {}", window, painter.windows()));
  }
  return {};
}

Result<void> DecodeBoundaries(const Vec3& size, const Parts& parts,
                              BoundaryBits& boundaries) {
  switch (parts.window_bytes) {
    case 1:
      return DecodeBoundaries<uint8_t>(size, parts, boundaries);
    case 2:
      return DecodeBoundaries<uint16_t>(size, parts, boundaries);
    case 4:
      return DecodeBoundaries<uint32_t>(size, parts, boundaries);
    default:
      return DecodeBoundaries<uint64_t>(size, parts, boundaries);
  }
}

template <typename Label>
class Decoder {
 public:
  Decoder(const Vec3& size, const Parts& parts, const BoundaryBits& boundaries,
          std::byte* voxels)
      : width_(static_cast<size_t>(size[0])),
        height_(static_cast<size_t>(size[1])),
        depth_(static_cast<size_t>(size[2])),
        in_3d_(parts.connectivity == 6),
        ids_(parts.ids),
        locations_(parts.locations),
        boundaries_(boundaries),
        voxels_(voxels) {}

  Result<void> Decode() {
    const size_t slices = in_3d_ ? depth_ : 1;
    size_t id = 0;
    for (size_t z = 0; z < depth_; z += slices) {
      const size_t count = FindComponents(z, slices);
      if (count > ids_.size() - id) {
        return Corrupt(
            fmt::format("{} ids for at least {} components", ids_.size(), id + count));
      }
      FillRuns(z, slices, id);
      id += count;
    }
    if (id != ids_.size()) {
      return Corrupt(fmt::format("{} ids for {} components", ids_.size(), id));
    }
    // Locations may say that a voxel is like one that comes later.
    for (size_t z = 0; z < depth_; ++z) {
      for (size_t y = 0; y < height_; ++y) {
        DOLIUM_TRY_VOID(FillBoundaries(y, z));
      }
    }
    if (location_ != locations_.size()) {
      return Corrupt(
          fmt::format("{} locations, {} of them used", locations_.size(), location_));
    }
    return {};
  }

 private:
  std::byte* Voxel(size_t x, size_t y, size_t z) const {
    return voxels_ + (x + width_ * (y + height_ * z)) * sizeof(Label);
  }

  size_t FindComponents(size_t first_z, size_t slices) {
    components_.Clear();
    for (size_t z = 0; z < slices; ++z) {
      for (size_t y = 0; y < height_; ++y) {
        components_.AddRow(boundaries_.row(y, first_z + z), width_);
        if (y > 0) components_.Join(height_ * z + y - 1);
        if (z > 0) components_.Join(height_ * (z - 1) + y);
      }
    }
    return components_.Number();
  }

  void FillRuns(size_t first_z, size_t slices, size_t first_id) {
    for (size_t z = 0; z < slices; ++z) {
      for (size_t y = 0; y < height_; ++y) {
        for (const Components::Run& run : components_.row(height_ * z + y)) {
          const Label label = ids_[first_id + run.component];
          // With the boundary voxel that follows, which is like its neighbour.
          const size_t end = std::min<size_t>(run.end + 1, width_);
          std::byte* to = Voxel(run.begin, y, first_z + z);
          for (size_t x = run.begin; x < end; ++x, to += sizeof(Label)) {
            StoreLE<Label>(to, label);
          }
        }
      }
    }
  }

  // All boundary voxels of a row but those that FillRuns() has filled.
  Result<void> FillBoundaries(size_t y, size_t z) {
    const uint64_t* row = boundaries_.row(y, z);
    for (size_t i = 0; i < boundaries_.row_words(); ++i) {
      uint64_t unknown = row[i] & MovedRight(row, i);
      if (y > 0) unknown = CopyKnown(unknown, i, y, z, y - 1, z);
      if (in_3d_ && z > 0) unknown = CopyKnown(unknown, i, y, z, y, z - 1);
      for (; unknown != 0; unknown &= unknown - 1) {
        const size_t x = i * 64 + static_cast<size_t>(std::countr_zero(unknown));
        if (!FillFromLocation(x, y, z)) {
          return Corrupt(
              fmt::format("location {} of {} makes no sense for voxel {},{},{}",
                          location_, locations_.size(), x, y, z));
        }
      }
    }
    return {};
  }

  // Copies from another row what is at no boundary there. Returns what is left of
  // `unknown`, the bits of word `i`.
  uint64_t CopyKnown(uint64_t unknown, size_t i, size_t y, size_t z, size_t from_y,
                     size_t from_z) const {
    const uint64_t known = unknown & ~boundaries_.row(from_y, from_z)[i];
    ForEachBit(known, i * 64, [&](size_t x) {
      StoreLE<Label>(Voxel(x, y, z), LoadLE<Label>(Voxel(x, from_y, from_z)));
    });
    return unknown & ~known;
  }

  // False if there is no location left, or if it means no voxel that has a label yet.
  bool FillFromLocation(size_t x, size_t y, size_t z) {
    if (location_ == locations_.size()) return false;
    const Label code = locations_[location_];
    auto label = static_cast<Label>(code - kLabelBase);
    if (code == kLabelFollows) {
      if (location_ + 1 == locations_.size()) return false;
      label = locations_[++location_];
    } else if (code < kLabelFollows) {
      // What would be less than 0 becomes more than any size.
      const size_t from_x = x + (code == kSameAsRight) - (code == kSameAsLeft);
      const size_t from_y = y + (code == kSameAsDown) - (code == kSameAsUp);
      const size_t from_z = z + (code == kSameAsAfter) - (code == kSameAsBefore);
      if (from_x >= width_ || from_y >= height_ || from_z >= depth_) return false;
      if (TestBit(boundaries_.row(from_y, from_z), from_x)) return false;
      label = LoadLE<Label>(Voxel(from_x, from_y, from_z));
    }
    ++location_;
    StoreLE<Label>(Voxel(x, y, z), label);
    return true;
  }

  size_t width_;
  size_t height_;
  size_t depth_;
  bool in_3d_;
  Numbers<Label> ids_;
  Numbers<Label> locations_;
  size_t location_ = 0;
  const BoundaryBits& boundaries_;
  Components components_;
  std::byte* voxels_;
};

template <typename Label>
Result<void> DecodeCompressoLabels(const Vec3& size, const Parts& parts,
                                   const BoundaryBits& boundaries, std::byte* voxels) {
  return Decoder<Label>(size, parts, boundaries, voxels).Decode();
}

}  // namespace

Result<void> DecodeCompresso(const ArrayShape& shape, BytesView stored,
                             MutableBytes voxels) {
  DOLIUM_TRY(const Parts parts, Parse(shape, stored));
  BoundaryBits boundaries(shape.size);
  DOLIUM_TRY_VOID(DecodeBoundaries(shape.size, parts, boundaries));
  switch (SizeOf(shape.type)) {
    case 1:
      return DecodeCompressoLabels<uint8_t>(shape.size, parts, boundaries, voxels.data());
    case 2:
      return DecodeCompressoLabels<uint16_t>(shape.size, parts, boundaries,
                                             voxels.data());
    case 4:
      return DecodeCompressoLabels<uint32_t>(shape.size, parts, boundaries,
                                             voxels.data());
    default:
      return DecodeCompressoLabels<uint64_t>(shape.size, parts, boundaries,
                                             voxels.data());
  }
}

}  // namespace dolium::volume
