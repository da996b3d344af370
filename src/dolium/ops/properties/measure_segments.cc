// Segment properties from the voxels of a volume, in one pass over its chunks.
#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/base/parallel.h"
#include "dolium/domain/volume/grid.h"
#include "dolium/ops/properties/segment_tables.h"

namespace dolium {
namespace {

using volume::Vec3;

struct Measure {
  uint64_t voxels = 0;
  Vec3 lower = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max(),
                std::numeric_limits<int64_t>::max()};
  Vec3 upper = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::min(),
                std::numeric_limits<int64_t>::min()};  // the last voxel
  std::array<double, 3> sum = {0, 0, 0};

  // A run of voxels along x.
  void Add(const Vec3& begin, int64_t length) {
    const Vec3 end = {begin[0] + length - 1, begin[1], begin[2]};
    const auto count = static_cast<double>(length);
    voxels += static_cast<uint64_t>(length);
    for (size_t d = 0; d < 3; ++d) {
      lower[d] = std::min(lower[d], begin[d]);
      upper[d] = std::max(upper[d], end[d]);
      sum[d] += count * (static_cast<double>(begin[d]) + static_cast<double>(end[d])) / 2;
    }
  }
  void Add(const Measure& other) {
    voxels += other.voxels;
    for (size_t d = 0; d < 3; ++d) {
      lower[d] = std::min(lower[d], other.lower[d]);
      upper[d] = std::max(upper[d], other.upper[d]);
      sum[d] += other.sum[d];
    }
  }
};

using Measures = std::unordered_map<uint64_t, Measure>;

// Those of all chunks. Several threads add at once, mostly to different parts.
class MeasuredLabels {
 public:
  void Add(const Measures& measures) {
    std::array<std::vector<const Measures::value_type*>, kParts> parts;
    for (const auto& one : measures) parts[PartOf(one.first)].push_back(&one);
    for (size_t part = 0; part < kParts; ++part) {
      if (parts[part].empty()) continue;
      const std::lock_guard lock(mutexes_[part]);
      for (const auto* one : parts[part]) labels_[part][one->first].Add(one->second);
    }
  }

  std::vector<std::pair<uint64_t, Measure>> Sorted() const {
    std::vector<std::pair<uint64_t, Measure>> all;
    for (const Measures& part : labels_) all.insert(all.end(), part.begin(), part.end());
    std::ranges::sort(all, {}, [](const auto& one) { return one.first; });
    return all;
  }

 private:
  static constexpr size_t kParts = 64;
  static size_t PartOf(uint64_t label) { return label * 0x9e3779b97f4a7c15 >> 58; }

  std::array<std::mutex, kParts> mutexes_;
  std::array<Measures, kParts> labels_;
};

// Dense voxels of a box, x fastest.
template <typename T>
void MeasureBox(const std::byte* voxels, const volume::Box& box, Measures& measures) {
  const Vec3 size = box.size();
  uint64_t last_label = 0;
  Measure* last = nullptr;
  for (int64_t z = 0; z < size[2]; ++z) {
    for (int64_t y = 0; y < size[1]; ++y) {
      const std::byte* const row = voxels + (z * size[1] + y) * size[0] * sizeof(T);
      for (int64_t x = 0; x < size[0];) {
        const T label = LoadLE<T>(row + x * sizeof(T));
        int64_t end = x + 1;
        while (end < size[0] && LoadLE<T>(row + end * sizeof(T)) == label) ++end;
        if (label != 0) {
          if (last == nullptr || label != last_label) last = &measures[label];
          last_label = label;
          last->Add({box.begin[0] + x, box.begin[1] + y, box.begin[2] + z}, end - x);
        }
        x = end;
      }
    }
  }
}

Result<void> MeasureVoxels(volume::DataType type, const std::byte* voxels,
                           const volume::Box& box, Measures& measures) {
  switch (volume::SizeOf(type)) {
    case 1:
      MeasureBox<uint8_t>(voxels, box, measures);
      return {};
    case 2:
      MeasureBox<uint16_t>(voxels, box, measures);
      return {};
    case 4:
      MeasureBox<uint32_t>(voxels, box, measures);
      return {};
    default:
      MeasureBox<uint64_t>(voxels, box, measures);
      return {};
  }
}

bool IsLabels(volume::DataType type) {
  using volume::DataType;
  return type == DataType::kUint8 || type == DataType::kUint16 ||
         type == DataType::kUint32 || type == DataType::kUint64;
}

properties::SegmentProperty NumberColumn(std::string id, std::string description) {
  return {.id = std::move(id),
          .kind = properties::PropertyKind::kNumber,
          .description = std::move(description)};
}

properties::SegmentProperties TableOf(
    const std::vector<std::pair<uint64_t, Measure>>& labels,
    const volume::VolumeInfo& info, size_t scale) {
  constexpr std::array<char, 3> kAxes = {'x', 'y', 'z'};
  properties::SegmentProperties table;
  std::vector<properties::SegmentProperty>& columns = table.properties;
  const std::string of_scale =
      scale == 0 ? "" : fmt::format(", from scale {}", info.scales[scale].key);
  columns.push_back(NumberColumn("voxels", "number of voxels" + of_scale));
  for (const char axis : kAxes) {
    columns.push_back(NumberColumn(fmt::format("begin_{}", axis),
                                   fmt::format("first voxel in {}{}", axis, of_scale)));
  }
  for (const char axis : kAxes) {
    columns.push_back(
        NumberColumn(fmt::format("end_{}", axis),
                     fmt::format("behind the last voxel in {}{}", axis, of_scale)));
  }
  for (const char axis : kAxes) {
    columns.push_back(
        NumberColumn(fmt::format("center_{}", axis),
                     fmt::format("centre of the voxels in {}{}", axis, of_scale)));
  }
  for (const auto& [label, measure] : labels) {
    table.ids.push_back(label);
    columns[0].numbers.push_back(static_cast<double>(measure.voxels));
    for (size_t d = 0; d < 3; ++d) {
      // Of scale 0, in which clients have their coordinates.
      const double factor =
          info.scales[scale].resolution[d] / info.scales[0].resolution[d];
      const auto count = static_cast<double>(measure.voxels);
      columns[1 + d].numbers.push_back(static_cast<double>(measure.lower[d]) * factor);
      columns[4 + d].numbers.push_back(static_cast<double>(measure.upper[d] + 1) *
                                       factor);
      columns[7 + d].numbers.push_back((measure.sum[d] / count + 0.5) * factor);
    }
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool is_center = i >= 7;
    columns[i].type = is_center ? volume::DataType::kFloat32
                                : properties::NumberTypeFor(columns[i].numbers);
  }
  return table;
}

}  // namespace

Result<properties::SegmentProperties> MeasureSegments(const volume::Volume& volume,
                                                      const MeasureOptions& options) {
  const std::string name = volume.folder().Describe();
  if (options.scale >= volume.info().scales.size()) {
    return InvalidArgument(fmt::format("{}: no scale {}; there are {}", name,
                                       options.scale, volume.info().scales.size()));
  }
  DOLIUM_TRY(const auto whole, volume.OpenScale(options.scale));
  const volume::Scale& scale = whole->first();
  if (!IsLabels(scale.type()) || scale.channels() != 1) {
    return Unsupported(
        fmt::format("{}: {} channels of {}; expected one of uint8, uint16, uint32 or "
                    "uint64 labels",
                    name, scale.channels(), ToString(scale.type())));
  }
  const volume::Grid& grid = scale.grid();
  const Vec3 shape = grid.shape();
  MeasuredLabels labels;
  Progress progress{.total_entries = grid.cell_count()};
  std::mutex reporting;
  DOLIUM_TRY_VOID(ParallelFor(
      static_cast<size_t>(grid.cell_count()), options.jobs,
      [&](size_t i) -> Result<void> {
        const auto at = static_cast<int64_t>(i);
        const Vec3 cell = {at % shape[0], at / shape[0] % shape[1],
                           at / shape[0] / shape[1]};
        const volume::Box box = grid.VoxelsOf(cell);
        const volume::ArrayShape array = scale.ShapeOf(box);
        ByteVector voxels(static_cast<size_t>(*array.bytes()));
        DOLIUM_TRY(const uint64_t there,
                   scale.Read(box, volume::MutableVoxelView::Dense(array, voxels.data()),
                              {.jobs = 1, .stop = options.stop}));
        if (there > 0) {
          Measures measures;
          DOLIUM_TRY_VOID(MeasureVoxels(scale.type(), voxels.data(), box, measures));
          labels.Add(measures);
        }
        if (options.progress) {
          const std::lock_guard lock(reporting);
          ++progress.entries;
          progress.bytes += voxels.size();
          options.progress(progress);
        }
        return {};
      },
      options.stop));
  return TableOf(labels.Sorted(), volume.info(), options.scale);
}

}  // namespace dolium
