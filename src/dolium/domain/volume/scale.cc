#include "dolium/domain/volume/scale.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/domain/volume/scratch.h"

namespace dolium::volume {
namespace {

// The most that is allocated on an info's word.
constexpr uint64_t kMaxChunkBytes = uint64_t{4} << 30;

}  // namespace

std::vector<Vec3> CellsOf(const Box& cells) {
  std::vector<Vec3> out;
  for (int64_t z = cells.begin[2]; z < cells.end[2]; ++z) {
    for (int64_t y = cells.begin[1]; y < cells.end[1]; ++y) {
      for (int64_t x = cells.begin[0]; x < cells.end[0]; ++x) out.push_back({x, y, z});
    }
  }
  return out;
}

Result<std::shared_ptr<Scale>> Scale::Open(const Location& folder, const VolumeInfo& info,
                                           size_t index, size_t chunking,
                                           const StorageOptions& options) {
  if (index >= info.scales.size()) {
    return InvalidArgument(fmt::format("{}: no scale {}; the volume has {}",
                                       folder.Describe(), index, info.scales.size()));
  }
  const ScaleInfo& scale = info.scales[index];
  DOLIUM_TRY_VOID(CheckUsable(info, scale)
                      .Within(fmt::format("{}: scale {}", folder.Describe(), index)));
  if (chunking >= scale.chunk_sizes.size()) {
    return InvalidArgument(fmt::format("{}: scale {} has {} chunk sizes, not {}",
                                       folder.Describe(), index, scale.chunk_sizes.size(),
                                       chunking + 1));
  }
  const Vec3& chunk_size = scale.chunk_sizes[chunking];
  DOLIUM_TRY(const Grid grid, Grid::Make(scale.bounds(), chunk_size));
  ArrayShape shape{chunk_size, info.num_channels, info.data_type};
  for (size_t d = 0; d < 3; ++d) {
    shape.size[d] = std::clamp<int64_t>(grid.bounds().size()[d], 1, chunk_size[d]);
  }
  const auto bytes = shape.bytes();
  if (!bytes || *bytes > kMaxChunkBytes) {
    return Unsupported(
        fmt::format("{}: scale {}: chunks of {} voxels take more than {} "
                    "bytes",
                    folder.Describe(), index, ToString(chunk_size), kMaxChunkBytes));
  }
  Location place = ResolveScaleKey(folder, scale.key);
  auto storage = OpenChunkStorage(place, scale, grid, shape, options);
  return std::shared_ptr<Scale>(new Scale(std::move(place), scale, grid, info.data_type,
                                          info.num_channels, std::move(storage)));
}

Result<std::shared_ptr<Scale>> Scale::OpenWith(const Location& folder,
                                               const VolumeInfo& info, size_t index,
                                               const MakeStorage& make) {
  if (index >= info.scales.size()) {
    return InvalidArgument(fmt::format("{}: no scale {}; the volume has {}",
                                       folder.Describe(), index, info.scales.size()));
  }
  const ScaleInfo& scale = info.scales[index];
  DOLIUM_TRY(const Grid grid, Grid::Make(scale.bounds(), scale.chunk_sizes.front()));
  return std::shared_ptr<Scale>(
      new Scale(folder, scale, grid, info.data_type, info.num_channels, make(grid)));
}

Scale::Scale(Location folder, ScaleInfo info, Grid grid, DataType type, int64_t channels,
             std::shared_ptr<ChunkStorage> storage)
    : folder_(std::move(folder)),
      info_(std::move(info)),
      grid_(grid),
      type_(type),
      channels_(channels),
      storage_(std::move(storage)) {}

ChannelRange Scale::ChannelsOf(const BoxOptions& options) const {
  return options.channels.value_or(ChannelRange{0, channels_});
}

ArrayShape Scale::ShapeOf(const Box& box, const BoxOptions& options) const {
  ArrayShape shape = {box.size(), ChannelsOf(options).size(), type_};
  for (size_t d = 0; d < 3; ++d) {
    if (shape.size[d] > 0) shape.size[d] = (shape.size[d] - 1) / options.step[d] + 1;
  }
  return shape;
}

Result<void> Scale::CheckBox(const Box& box, const ArrayShape& shape,
                             const BoxOptions& options) const {
  if (!box.empty() && !bounds().Contains(box)) {
    return InvalidArgument(fmt::format("{}: box {} is not within the bounds {}",
                                       folder_.Describe(), ToString(box),
                                       ToString(bounds())));
  }
  const ChannelRange channels = ChannelsOf(options);
  if (channels.begin < 0 || channels.end > channels_ || channels.begin > channels.end) {
    return InvalidArgument(fmt::format("{}: channels {}:{} are not within 0:{}",
                                       folder_.Describe(), channels.begin, channels.end,
                                       channels_));
  }
  if (std::ranges::min(options.step) < 1) {
    return InvalidArgument(fmt::format("{}: steps of {}, expected 1 or more",
                                       folder_.Describe(), ToString(options.step)));
  }
  const ArrayShape expected = ShapeOf(box, options);
  if (shape != expected) {
    return InvalidArgument(fmt::format(
        "{}: an array of {}, {} channels of {} for box {}, which takes {}, {} of {}",
        folder_.Describe(), ToString(shape.size), shape.channels, ToString(shape.type),
        ToString(box), ToString(expected.size), expected.channels, ToString(type_)));
  }
  return {};
}

bool IsChunkDamage(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kIo;
}

Error Scale::AboutChunk(const Vec3& cell, const Error& error) const {
  const std::string voxels = fmt::format("voxels {}", ToString(grid_.VoxelsOf(cell)));
  if (error.message.find(voxels) != std::string::npos) return error;
  const std::string chunk = storage_->Describe(cell);
  Error about = error;
  // "a.shard: chunk 5, bytes [8, 9): ..." knows the chunk already, "a.shard: minishard 0
  // ..." its object.
  const std::string_view rest = about.message.starts_with(chunk)
                                    ? std::string_view(about.message).substr(chunk.size())
                                    : std::string_view();
  if (rest.starts_with(':') || rest.starts_with(',')) {
    about.message.insert(chunk.size(), ": " + voxels);
    return about;
  }
  const std::string object = chunk.substr(0, chunk.find(": ")) + ": ";
  if (about.message.starts_with(object)) about.message.erase(0, object.size());
  return std::move(about).Within(fmt::format("{}: {}", chunk, voxels));
}

Error Scale::MissingChunk(const Vec3& cell) const {
  return AboutChunk(cell, NotFound("the chunk is not there"));
}

Result<void> Scale::DecodeChunk(const Vec3& cell, BytesView encoded,
                                MutableBytes voxels) const {
  const ArrayShape shape = ShapeOf(grid_.VoxelsOf(cell));
  auto decoded = DecodeVoxels(info_.encoding, shape, encoded, voxels);
  if (decoded) return {};
  return AboutChunk(cell, decoded.error());
}

Result<ByteVector> Scale::EncodeChunk(const Vec3& cell, BytesView voxels) const {
  const ArrayShape shape = ShapeOf(grid_.VoxelsOf(cell));
  auto encoded = EncodeVoxels(info_.encoding, shape, voxels);
  if (encoded) return encoded;
  return AboutChunk(cell, encoded.error());
}

// The chunks that have a voxel of a box, by steps from its first one on; x fastest.
std::vector<Scale::ChunkIntersection> Scale::IntersectionsOf(const Box& box,
                                                             const Vec3& step) const {
  struct Run {
    int64_t cell = 0;
    int64_t first = 0;
    int64_t count = 0;
  };
  std::array<std::vector<Run>, 3> runs;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t origin = bounds().begin[d];
    const int64_t chunk = grid_.chunk_size()[d];
    for (int64_t first = box.begin[d]; first < box.end[d];) {
      const int64_t rest = box.end[d] - first;
      const int64_t here = std::min(rest, chunk - (first - origin) % chunk);
      const int64_t count = (here - 1) / step[d] + 1;
      runs[d].push_back({(first - origin) / chunk, first, count});
      if (count > (rest - 1) / step[d]) break;  // The sum might not fit.
      first += count * step[d];
    }
  }
  std::vector<ChunkIntersection> all;
  all.reserve(runs[0].size() * runs[1].size() * runs[2].size());
  for (const Run& z : runs[2]) {
    for (const Run& y : runs[1]) {
      for (const Run& x : runs[0]) {
        ChunkIntersection& taken = all.emplace_back();
        const std::array<const Run*, 3> run = {&x, &y, &z};
        for (size_t d = 0; d < 3; ++d) {
          taken.cell[d] = run[d]->cell;
          taken.voxels.begin[d] = run[d]->first;
          taken.voxels.end[d] = run[d]->first + (run[d]->count - 1) * step[d] + 1;
          taken.count[d] = run[d]->count;
          taken.at[d] = (run[d]->first - box.begin[d]) / step[d];
        }
      }
    }
  }
  return all;
}

MutableVoxelView Scale::ViewOf(const ChunkIntersection& taken,
                               const MutableVoxelView& into) {
  const Vec3& at = taken.at;
  const Vec3& count = taken.count;
  return into.Part({{0, 0, 0}, into.shape.size},
                   {at, {at[0] + count[0], at[1] + count[1], at[2] + count[2]}});
}

// Puts the voxels of one chunk where they belong.
Result<void> Scale::CopyIntersection(const ChunkIntersection& taken,
                                     const std::optional<Bytes>& chunk,
                                     const MutableVoxelView& into,
                                     const BoxOptions& options) const {
  const MutableVoxelView place = ViewOf(taken, into);
  if (!chunk) {
    if (options.missing_is_error) return MissingChunk(taken.cell);
    ClearVoxels(place);
    return {};
  }
  const Box whole = grid_.VoxelsOf(taken.cell);
  const ArrayShape shape = ShapeOf(whole);
  const auto bytes = static_cast<size_t>(*shape.bytes());
  if (place.shape == shape && place.is_dense()) {
    return DecodeChunk(taken.cell, *chunk, {place.data, bytes});
  }
  Scratch voxels(bytes);
  DOLIUM_TRY_VOID(DecodeChunk(taken.cell, *chunk, voxels.view()));
  CopyVoxels(VoxelView::Dense(shape, voxels.data())
                 .Part(whole, taken.voxels)
                 .Every(options.step, taken.count)
                 .Channels(ChannelsOf(options)),
             place);
  return {};
}

Result<uint64_t> Scale::Read(const Box& box, const MutableVoxelView& into,
                             const BoxOptions& options) const {
  DOLIUM_TRY_VOID(CheckBox(box, into.shape, options));
  if (box.empty() || into.shape.channels == 0) return 0;
  const std::vector<ChunkIntersection> taken = IntersectionsOf(box, options.step);
  std::vector<Vec3> cells(taken.size());
  std::ranges::transform(taken, cells.begin(), &ChunkIntersection::cell);
  std::atomic<uint64_t> found = 0;
  const auto failed = [&](size_t i, const Error& error) -> Result<void> {
    const Error about = AboutChunk(cells[i], error);
    if (!options.skip_damaged || !IsChunkDamage(error)) return about;
    options.skip_damaged(*this, cells[i], about);
    ClearVoxels(ViewOf(taken[i], into));
    return {};
  };
  DOLIUM_TRY_VOID(
      storage_->GetEach(cells, {options.jobs, options.stop, failed},
                        [&](size_t i, const std::optional<Bytes>& chunk) -> Result<void> {
                          auto copied = CopyIntersection(taken[i], chunk, into, options);
                          if (!copied) return failed(i, copied.error());
                          if (chunk) found.fetch_add(1, std::memory_order_relaxed);
                          return {};
                        }));
  return found.load();
}

// The encoded chunk with the voxels of `from`, which shows `box`, laid over the old ones.
Result<ByteVector> Scale::Merge(const Vec3& cell, const std::optional<Bytes>& old,
                                const Box& box, const VoxelView& from,
                                const BoxOptions& options) const {
  const Box whole = grid_.VoxelsOf(cell);
  const Box part = whole.Intersect(box);
  const ArrayShape shape = ShapeOf(whole);
  const VoxelView source = from.Part(box, part);
  const auto bytes = static_cast<size_t>(*shape.bytes());
  const bool covers = source.shape == shape && !options.mask;
  if (covers && source.strides == DenseStrides(shape)) {
    return EncodeChunk(cell, {source.data, bytes});
  }
  Scratch voxels(bytes);
  const MutableVoxelView view = MutableVoxelView::Dense(shape, voxels.data());
  if (!covers && old) {
    DOLIUM_TRY_VOID(DecodeChunk(cell, *old, voxels.view()));
  } else if (!covers) {
    ClearVoxels(view);
  }
  const MutableVoxelView place = view.Part(whole, part).Channels(ChannelsOf(options));
  if (options.mask) {
    CopyMaskedVoxels(source, options.mask->Part(box, part), place);
  } else {
    CopyVoxels(source, place);
  }
  return EncodeChunk(cell, voxels.view());
}

Result<void> Scale::Write(const Box& box, const VoxelView& from,
                          const BoxOptions& options) {
  DOLIUM_TRY_VOID(CheckBox(box, from.shape, options));
  if (options.step != Vec3{1, 1, 1}) {
    return InvalidArgument(fmt::format("{}: a box is written without steps, not by {}",
                                       folder_.Describe(), ToString(options.step)));
  }
  const ChannelRange channels = ChannelsOf(options);
  if (options.mask) {
    ArrayShape expected = from.shape;
    expected.type = DataType::kUint8;
    if (options.mask->shape != expected) {
      return InvalidArgument(fmt::format("{}: a mask of another shape than the array's",
                                         folder_.Describe()));
    }
  }
  if (box.empty() || channels.size() == 0) return {};
  std::vector<ChunkUpdate> updates;
  for (const Vec3& cell : CellsOf(grid_.CellsTouching(box))) {
    const Box voxels = grid_.VoxelsOf(cell);
    if (options.mask && !HasAnyVoxel(options.mask->Part(box, voxels.Intersect(box)))) {
      continue;
    }
    updates.push_back(
        {.cell = cell,
         .make =
             [this, cell, &box, &from, &options](const std::optional<Bytes>& old) {
               return Merge(cell, old, box, from, options);
             },
         .needs_old = options.mask.has_value() || !box.Contains(voxels) ||
                      channels.size() != channels_});
  }
  return storage_->Update(updates, {options.jobs, options.stop});
}

}  // namespace dolium::volume
