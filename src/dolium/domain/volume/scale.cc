#include "dolium/domain/volume/scale.h"

#include <algorithm>
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

Scale::Scale(Location folder, ScaleInfo info, Grid grid, DataType type, int64_t channels,
             std::shared_ptr<ChunkStorage> storage)
    : folder_(std::move(folder)),
      info_(std::move(info)),
      grid_(grid),
      type_(type),
      channels_(channels),
      storage_(std::move(storage)) {}

Result<void> Scale::CheckBox(const Box& box, const ArrayShape& shape) const {
  if (!box.empty() && !bounds().Contains(box)) {
    return InvalidArgument(fmt::format("{}: box {} is not within the bounds {}",
                                       folder_.Describe(), ToString(box),
                                       ToString(bounds())));
  }
  if (shape != ShapeOf(box)) {
    return InvalidArgument(
        fmt::format("{}: an array of {}, {} channels of {} for box {}, {} channels of {}",
                    folder_.Describe(), ToString(shape.size), shape.channels,
                    ToString(shape.type), ToString(box), channels_, ToString(type_)));
  }
  return {};
}

Error Scale::MissingChunk(const Vec3& cell) const {
  return NotFound(fmt::format("{}: voxels {}: the chunk is not there",
                              storage_->Describe(cell), ToString(grid_.VoxelsOf(cell))));
}

Result<void> Scale::DecodeChunk(const Vec3& cell, BytesView encoded,
                                MutableBytes voxels) const {
  const ArrayShape shape = ShapeOf(grid_.VoxelsOf(cell));
  auto decoded = DecodeVoxels(info_.encoding, shape, encoded, voxels);
  if (decoded) return {};
  return std::move(decoded).error().Within(fmt::format(
      "{}: voxels {}", storage_->Describe(cell), ToString(grid_.VoxelsOf(cell))));
}

Result<ByteVector> Scale::EncodeChunk(const Vec3& cell, BytesView voxels) const {
  const ArrayShape shape = ShapeOf(grid_.VoxelsOf(cell));
  auto encoded = EncodeVoxels(info_.encoding, shape, voxels);
  if (encoded) return encoded;
  return std::move(encoded).error().Within(fmt::format(
      "{}: voxels {}", storage_->Describe(cell), ToString(grid_.VoxelsOf(cell))));
}

// Puts the voxels of one chunk where they belong in `into`, which shows `box`.
Result<void> Scale::Place(const Vec3& cell, const std::optional<Bytes>& chunk,
                          const Box& box, const MutableVoxelView& into,
                          const BoxOptions& options) const {
  const Box whole = grid_.VoxelsOf(cell);
  const Box part = whole.Intersect(box);
  const MutableVoxelView place = into.Part(box, part);
  if (!chunk) {
    if (options.missing_is_error) return MissingChunk(cell);
    ClearVoxels(place);
    return {};
  }
  const ArrayShape shape = ShapeOf(whole);
  const auto bytes = static_cast<size_t>(*shape.bytes());
  if (part == whole && place.is_dense()) {
    return DecodeChunk(cell, *chunk, {place.data, bytes});
  }
  Scratch voxels(bytes);
  DOLIUM_TRY_VOID(DecodeChunk(cell, *chunk, voxels.view()));
  CopyVoxels(VoxelView::Dense(shape, voxels.data()).Part(whole, part), place);
  return {};
}

Result<uint64_t> Scale::Read(const Box& box, const MutableVoxelView& into,
                             const BoxOptions& options) const {
  DOLIUM_TRY_VOID(CheckBox(box, into.shape));
  if (box.empty()) return 0;
  const std::vector<Vec3> cells = CellsOf(grid_.CellsTouching(box));
  std::atomic<uint64_t> found = 0;
  DOLIUM_TRY_VOID(storage_->GetEach(cells, options.jobs,
                                    [&](size_t i, const std::optional<Bytes>& chunk) {
                                      if (chunk)
                                        found.fetch_add(1, std::memory_order_relaxed);
                                      return Place(cells[i], chunk, box, into, options);
                                    }));
  return found.load();
}

// The encoded chunk with the voxels of `from`, which shows `box`, laid over the old ones.
Result<ByteVector> Scale::Merge(const Vec3& cell, const std::optional<Bytes>& old,
                                const Box& box, const VoxelView& from) const {
  const Box whole = grid_.VoxelsOf(cell);
  const Box part = whole.Intersect(box);
  const ArrayShape shape = ShapeOf(whole);
  const VoxelView source = from.Part(box, part);
  const auto bytes = static_cast<size_t>(*shape.bytes());
  if (part == whole && source.strides == DenseStrides(shape)) {
    return EncodeChunk(cell, {source.data, bytes});
  }
  Scratch voxels(bytes);
  const MutableVoxelView view = MutableVoxelView::Dense(shape, voxels.data());
  if (part != whole && old) {
    DOLIUM_TRY_VOID(DecodeChunk(cell, *old, voxels.view()));
  } else if (part != whole) {
    ClearVoxels(view);
  }
  CopyVoxels(source, view.Part(whole, part));
  return EncodeChunk(cell, voxels.view());
}

Result<void> Scale::Write(const Box& box, const VoxelView& from,
                          const BoxOptions& options) {
  DOLIUM_TRY_VOID(CheckBox(box, from.shape));
  if (box.empty()) return {};
  std::vector<ChunkUpdate> updates;
  for (const Vec3& cell : CellsOf(grid_.CellsTouching(box))) {
    updates.push_back({.cell = cell,
                       .make =
                           [this, cell, &box, &from](const std::optional<Bytes>& old) {
                             return Merge(cell, old, box, from);
                           },
                       .needs_old = !box.Contains(grid_.VoxelsOf(cell))});
  }
  return storage_->Update(updates, options.jobs);
}

}  // namespace dolium::volume
