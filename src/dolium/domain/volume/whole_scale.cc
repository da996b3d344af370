#include "dolium/domain/volume/whole_scale.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/domain/volume/morton.h"
#include "dolium/domain/volume/volume_sharding.h"

namespace dolium::volume {
namespace {

// Boxes are written in parts of about so much, or of a shard, so that no more of them is
// held encoded.
constexpr int64_t kPartBytes = int64_t{256} << 20;

Error NotBoxes(const Scale& scale) {
  return Unsupported(fmt::format(
      "{}: a volume is written shard by shard, so its shards must be boxes of chunks: "
      "the hash identity, and preshift, minishard and shard bits that add up to those of "
      "the chunk numbers",
      scale.folder().Describe()));
}

int64_t RoundUpTo(int64_t number, int64_t unit) {
  return (number + unit - 1) / unit * unit;
}

// Cuts a box along a lattice of `unit` from `origin`, so that parts have about
// `max_voxels`, though at least one unit. Short in z first: there arrays are contiguous.
// Precondition: the box begins at the origin or past it.
std::vector<Box> CutAlong(const Box& box, const Vec3& origin, const Vec3& unit,
                          int64_t max_voxels) {
  Vec3 first{};
  Vec3 size{};
  for (size_t d = 0; d < 3; ++d) {
    first[d] = origin[d] + (box.begin[d] - origin[d]) / unit[d] * unit[d];
    size[d] = RoundUpTo(box.end[d] - first[d], unit[d]);
  }
  for (const size_t d : {2, 1, 0}) {
    // A scalar may be assigned to more voxels than an integer counts.
    const double layer = static_cast<double>(size[(d + 1) % 3]) *
                         static_cast<double>(size[(d + 2) % 3]) *
                         static_cast<double>(unit[d]);
    const double layers = std::max(1.0, static_cast<double>(max_voxels) / layer);
    size[d] = std::min(size[d], static_cast<int64_t>(layers) * unit[d]);
  }
  std::vector<Box> parts;
  Vec3 at{};
  for (at[2] = first[2]; at[2] < box.end[2]; at[2] += size[2]) {
    for (at[1] = first[1]; at[1] < box.end[1]; at[1] += size[1]) {
      for (at[0] = first[0]; at[0] < box.end[0]; at[0] += size[0]) {
        const Box part{at, {at[0] + size[0], at[1] + size[1], at[2] + size[2]}};
        parts.push_back(part.Intersect(box));
      }
    }
  }
  return parts;
}

int64_t PartVoxels(const Scale& scale) {
  const auto voxel = static_cast<int64_t>(SizeOf(scale.type())) * scale.channels();
  return std::max<int64_t>(1, kPartBytes / voxel);
}

// The least box that is rewritten as a whole; empty if that is no box.
Vec3 RewrittenUnit(const Scale& scale) {
  const Vec3& chunk = scale.grid().chunk_size();
  if (!scale.info().sharding) return chunk;
  const auto shard = PartSize(scale);
  const Vec3 size = shard ? *shard : Vec3{0, 0, 0};
  return {size[0] * chunk[0], size[1] * chunk[1], size[2] * chunk[2]};
}

// The voxels of the chunks that a box touches.
double VoxelsTouchedBy(const Box& box, const Scale& scale) {
  const Grid& grid = scale.grid();
  const Vec3 size = grid.VoxelsOf(grid.CellsTouching(box)).size();
  return static_cast<double>(size[0]) * static_cast<double>(size[1]) *
         static_cast<double>(size[2]);
}

}  // namespace

Result<Vec3> PartSize(const Scale& scale) {
  if (!scale.info().sharding) return kBlockCells;
  DOLIUM_TRY(const MortonCode morton, MortonCode::Make(scale.grid().shape()));
  const auto first = ShardCells(*scale.info().sharding, morton, 0);
  if (!first) return NotBoxes(scale);
  return first->size();
}

const std::shared_ptr<Scale>& WholeScale::BestFor(const Box& box) const {
  // What is not within the bounds is an error with any of them.
  if (copies_.size() == 1 || !first().bounds().Contains(box)) return copies_.front();
  return *std::ranges::min_element(copies_, {}, [&](const std::shared_ptr<Scale>& copy) {
    return VoxelsTouchedBy(box, *copy);
  });
}

double WholeScale::BytesTouchedBy(const Box& box) const {
  const Scale& copy = *BestFor(box);
  return VoxelsTouchedBy(box, copy) * static_cast<double>(SizeOf(copy.type())) *
         static_cast<double>(copy.channels());
}

Result<uint64_t> WholeScale::Read(const Box& box, const MutableVoxelView& into,
                                  const BoxOptions& options) const {
  return BestFor(box)->Read(box, into, options);
}

Result<void> WholeScale::Write(const Box& box, const VoxelView& from,
                               const BoxOptions& options) {
  for (const std::shared_ptr<Scale>& copy : copies_) {
    const Vec3 unit = RewrittenUnit(*copy);
    std::vector<Box> parts = {box};
    if (unit[0] > 0 && copy->bounds().Contains(box)) {
      parts = CutAlong(box, copy->bounds().begin, unit, PartVoxels(*copy));
    }
    for (const Box& part : parts) {
      BoxOptions of_part = options;
      if (options.mask) of_part.mask = options.mask->Part(box, part);
      DOLIUM_TRY_VOID(copy->Write(part, from.Part(box, part), of_part));
    }
  }
  return {};
}

Result<Vec3> WholeScale::WriteUnit() const {
  const Grid& grid = first().grid();
  DOLIUM_TRY(const Vec3 cells, PartSize(first()));
  Vec3 unit{};
  for (size_t d = 0; d < 3; ++d) {
    const int64_t most = std::max<int64_t>(1, grid.shape()[d]);
    unit[d] = std::clamp<int64_t>(cells[d], 1, most) * grid.chunk_size()[d];
  }
  return unit;
}

}  // namespace dolium::volume
