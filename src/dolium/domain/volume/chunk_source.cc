#include "dolium/domain/volume/chunk_source.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "dolium/domain/volume/scratch.h"

namespace dolium::volume {
namespace {

// Voxels of a finer scale that are held at once for one chunk.
constexpr uint64_t kMaxFineBytes = uint64_t{64} << 20;

int64_t FloorDivide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int64_t CeilDivide(int64_t a, int64_t b) { return -FloorDivide(-a, b); }

Result<std::optional<StoredChunk>> Encoded(const Scale& target, const Vec3& cell,
                                           BytesView voxels) {
  DOLIUM_TRY(ByteVector bytes, target.EncodeChunk(cell, voxels));
  return StoredChunk{Bytes::FromVector(std::move(bytes)), Wrapper::kNone};
}

class ArrayChunks : public ChunkSource {
 public:
  explicit ArrayChunks(const ArraySource& array) : array_(array) {}

  Result<std::optional<StoredChunk>> Make(const Scale& target,
                                          const Vec3& cell) const override {
    const Box box = target.grid().VoxelsOf(cell);
    Box there = box;
    for (size_t d = 0; d < 3; ++d) {
      there.begin[d] -= target.bounds().begin[d];
      there.end[d] -= target.bounds().begin[d];
    }
    Scratch voxels(static_cast<size_t>(*target.ShapeOf(box).bytes()));
    DOLIUM_TRY_VOID(array_.Read(there, voxels.view()));
    return Encoded(target, cell, voxels.view());
  }

 private:
  const ArraySource& array_;
};

class FinerChunks : public ChunkSource {
 public:
  FinerChunks(std::shared_ptr<const Scale> finer, const DownsampleSpec& spec,
              DamageVisitor skip_damaged)
      : finer_(std::move(finer)), spec_(spec), skip_damaged_(std::move(skip_damaged)) {}

  Result<std::optional<StoredChunk>> Make(const Scale& target,
                                          const Vec3& cell) const override {
    const Box box = target.grid().VoxelsOf(cell);
    const ArrayShape shape = target.ShapeOf(box);
    Scratch voxels(static_cast<size_t>(*shape.bytes()));
    const MutableVoxelView view = MutableVoxelView::Dense(shape, voxels.data());
    uint64_t found = 0;
    for (const Box& part : Slices(Parts(box))) {
      DOLIUM_TRY(const uint64_t here, Downsampled(part, view.Part(box, part)));
      found += here;
    }
    if (found == 0) return std::nullopt;
    return Encoded(target, cell, voxels.view());
  }

 private:
  // The voxels of the finer scale that a box of ours stands for.
  Box Finer(const Box& box) const {
    return FinerVoxels(box, spec_.factor).Intersect(finer_->bounds());
  }

  // The box, cut so that only the last voxel of a part may stand for fewer voxels than
  // the factor: where the finer scale does not begin at a multiple of it, the first voxel
  // does as well.
  std::vector<Box> Parts(const Box& box) const {
    std::vector<Box> parts = {box};
    for (size_t d = 0; d < 3; ++d) {
      const bool whole = finer_->bounds().begin[d] <= box.begin[d] * spec_.factor[d];
      if (whole || box.end[d] - box.begin[d] == 1) continue;
      const size_t count = parts.size();
      for (size_t i = 0; i < count; ++i) {
        Box first = parts[i];
        first.end[d] = first.begin[d] + 1;
        parts[i].begin[d] += 1;
        parts.push_back(first);
      }
    }
    return parts;
  }

  // The parts, cut along z where they stand for more voxels than should be held at once;
  // into layers of whole chunks of the finer scale, so that none is decoded twice.
  std::vector<Box> Slices(const std::vector<Box>& parts) const {
    std::vector<Box> slices;
    for (const Box& part : parts) {
      const auto bytes = finer_->ShapeOf(Finer(part)).bytes();
      const int64_t depth =
          bytes && *bytes <= kMaxFineBytes
              ? part.size()[2]
              : std::max<int64_t>(1, finer_->grid().chunk_size()[2] / spec_.factor[2]);
      for (int64_t z = part.begin[2]; z < part.end[2]; z += depth) {
        Box slice = part;
        slice.begin[2] = z;
        slice.end[2] = std::min(part.end[2], z + depth);
        slices.push_back(slice);
      }
    }
    return slices;
  }

  Result<uint64_t> Downsampled(const Box& part, const MutableVoxelView& place) const {
    const Box box = Finer(part);
    const ArrayShape from = finer_->ShapeOf(box);
    Scratch fine(static_cast<size_t>(*from.bytes()));
    DOLIUM_TRY(const uint64_t found,
               finer_->Read(box, MutableVoxelView::Dense(from, fine.data()),
                            {.jobs = 1, .skip_damaged = skip_damaged_}));
    Scratch coarse(static_cast<size_t>(*place.shape.bytes()));
    Downsample(spec_, from, fine.view(), coarse.view());
    CopyVoxels(VoxelView::Dense(place.shape, coarse.data()), place);
    return found;
  }

  const std::shared_ptr<const Scale> finer_;
  const DownsampleSpec spec_;
  const DamageVisitor skip_damaged_;
};

class SameChunks : public ChunkSource {
 public:
  SameChunks(std::shared_ptr<const Scale> scale, bool may_copy,
             DamageVisitor skip_damaged)
      : scale_(std::move(scale)),
        may_copy_(may_copy),
        skip_damaged_(std::move(skip_damaged)) {}

  Result<std::optional<StoredChunk>> Make(const Scale& target,
                                          const Vec3& cell) const override {
    if (may_copy_ && target.grid() == scale_->grid()) return Copied(cell);
    const Box box = target.grid().VoxelsOf(cell);
    const ArrayShape shape = target.ShapeOf(box);
    Scratch voxels(static_cast<size_t>(*shape.bytes()));
    DOLIUM_TRY(const uint64_t found,
               scale_->Read(box, MutableVoxelView::Dense(shape, voxels.data()),
                            {.jobs = 1, .skip_damaged = skip_damaged_}));
    if (found == 0) return std::nullopt;
    return Encoded(target, cell, voxels.view());
  }

 private:
  // The chunk as it is stored, unless it is damaged.
  Result<std::optional<StoredChunk>> Copied(const Vec3& cell) const {
    auto stored = scale_->storage().GetStored(cell);
    if (stored && !*stored) return std::nullopt;
    const Result<void> checked =
        stored ? CheckStored(cell, **stored) : Result<void>(stored.error());
    if (checked) return stored;
    Error error = scale_->AboutChunk(cell, checked.error());
    if (!skip_damaged_ || !IsChunkDamage(error)) return error;
    skip_damaged_(*scale_, cell, error);
    return std::nullopt;
  }

  // That it can be decoded.
  Result<void> CheckStored(const Vec3& cell, const StoredChunk& stored) const {
    if (stored.is_fresh) return {};
    const Box largest = {{0, 0, 0}, scale_->grid().chunk_size()};
    DOLIUM_TRY(const Bytes encoded, Unwrap(stored.wrapper, stored.bytes,
                                           MaxEncodedBytes(scale_->info().encoding,
                                                           scale_->ShapeOf(largest))));
    const ArrayShape shape = scale_->ShapeOf(scale_->grid().VoxelsOf(cell));
    Scratch voxels(static_cast<size_t>(*shape.bytes()));
    return scale_->DecodeChunk(cell, encoded, voxels.view());
  }

  const std::shared_ptr<const Scale> scale_;
  const bool may_copy_;
  const DamageVisitor skip_damaged_;
};

}  // namespace

Box FinerVoxels(const Box& box, const Vec3& factor) {
  Box finer;
  for (size_t d = 0; d < 3; ++d) {
    finer.begin[d] = box.begin[d] * factor[d];
    finer.end[d] = box.end[d] * factor[d];
  }
  return finer;
}

Box DownsampledBounds(const Box& bounds, const Vec3& factor) {
  Box out;
  for (size_t d = 0; d < 3; ++d) {
    out.begin[d] = FloorDivide(bounds.begin[d], factor[d]);
    out.end[d] = CeilDivide(bounds.end[d], factor[d]);
  }
  return out;
}

std::unique_ptr<ChunkSource> FromArray(const ArraySource& array) {
  return std::make_unique<ArrayChunks>(array);
}

std::unique_ptr<ChunkSource> FromFinerScale(std::shared_ptr<const Scale> finer,
                                            const DownsampleSpec& spec,
                                            DamageVisitor skip_damaged) {
  return std::make_unique<FinerChunks>(std::move(finer), spec, std::move(skip_damaged));
}

std::unique_ptr<ChunkSource> FromSameVoxels(std::shared_ptr<const Scale> scale,
                                            bool may_copy, DamageVisitor skip_damaged) {
  return std::make_unique<SameChunks>(std::move(scale), may_copy,
                                      std::move(skip_damaged));
}

}  // namespace dolium::volume
