#include "python/src/volume.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include "dolium/base/parallel.h"
#include "dolium/ops/target_folder.h"
#include "dolium/ops/volume_parts.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"
#include "python/src/voxel_buffer.h"

namespace dolium::python {
namespace {

using volume::Box;
using volume::BoxOptions;
using volume::Scale;
using volume::Vec3;

// Voxels that are read or written before the next look at signals.
constexpr int64_t kPieceBytes = int64_t{256} << 20;

int64_t RoundUp(int64_t number, int64_t unit) {
  return (number + unit - 1) / unit * unit;
}

// Cuts a box along a lattice of `unit` from `origin`, so that pieces have about
// `max_voxels`, though at least one unit. Short in z first: there arrays are contiguous.
// Precondition: the box begins at the origin or past it.
std::vector<Box> PiecesOf(const Box& box, const Vec3& origin, const Vec3& unit,
                          int64_t max_voxels) {
  Vec3 first{};
  Vec3 size{};
  for (size_t d = 0; d < 3; ++d) {
    first[d] = origin[d] + (box.begin[d] - origin[d]) / unit[d] * unit[d];
    size[d] = RoundUp(box.end[d] - first[d], unit[d]);
  }
  for (const size_t d : {2, 1, 0}) {
    // A scalar may be assigned to more voxels than an integer counts.
    const double layer = static_cast<double>(size[(d + 1) % 3]) *
                         static_cast<double>(size[(d + 2) % 3]) *
                         static_cast<double>(unit[d]);
    const double layers = std::max(1.0, static_cast<double>(max_voxels) / layer);
    size[d] = std::min(size[d], static_cast<int64_t>(layers) * unit[d]);
  }
  std::vector<Box> pieces;
  Vec3 at{};
  for (at[2] = first[2]; at[2] < box.end[2]; at[2] += size[2]) {
    for (at[1] = first[1]; at[1] < box.end[1]; at[1] += size[1]) {
      for (at[0] = first[0]; at[0] < box.end[0]; at[0] += size[0]) {
        const Box piece{at, {at[0] + size[0], at[1] + size[1], at[2] + size[2]}};
        pieces.push_back(piece.Intersect(box));
      }
    }
  }
  return pieces;
}

// One after the other, without the GIL. Ctrl-C ends it between two.
void DoPieces(const std::vector<Box>& pieces,
              const std::function<Result<void>(const Box&)>& work) {
  Result<void> result;
  if (pieces.size() == 1) {
    result = WithoutGil([&] { return work(pieces.front()); });
  } else {
    const std::stop_source stop;
    RunInterruptible(stop, [&] {
      for (const Box& piece : pieces) {
        result = stop.stop_requested() ? Cancelled() : work(piece);
        if (!result) return;
      }
    });
  }
  Must(result, Absent::kEntry);
}

int64_t PieceVoxels(const Scale& scale) {
  const auto voxel = static_cast<int64_t>(SizeOf(scale.type())) * scale.channels();
  return std::max<int64_t>(1, kPieceBytes / voxel);
}

// The least box that is rewritten as a whole; empty if that is no box.
Vec3 RewrittenUnit(const Scale& scale) {
  const Vec3& chunk = scale.grid().chunk_size();
  if (!scale.info().sharding) return chunk;
  const auto shard = volume::PartSize(scale);
  const Vec3 size = shard ? *shard : Vec3{0, 0, 0};
  return {size[0] * chunk[0], size[1] * chunk[1], size[2] * chunk[2]};
}

}  // namespace

PyVolume::PyVolume(VolumeArguments arguments) : arguments_(std::move(arguments)) {
  const auto open = [&]() -> Result<volume::Volume> {
    DOLIUM_TRY(const Location location, ParseLocation(arguments_.location));
    DOLIUM_TRY(arguments_.location, PortableText(location, arguments_.location));
    return volume::Volume::Open(location, arguments_.allow_unfinished);
  };
  volume_ = std::make_shared<const volume::Volume>(Must(WithoutGil(open)));
  OpenScales();
}

PyVolume::PyVolume(const PyVolume& other, size_t scale)
    : arguments_(other.arguments_), volume_(other.volume_) {
  arguments_.scale = scale;
  OpenScales();
}

void PyVolume::OpenScales() {
  size_t copies = 1;
  for (size_t i = 0; i < copies; ++i) {
    scales_.push_back(Must(volume_->OpenScale(arguments_.scale, i, arguments_.storage)));
    copies = scales_.front()->info().chunk_sizes.size();
  }
  const Location& folder = scale().folder();
  const auto path = folder.store->LocalPath(folder.path);
  is_local_ = path && path->has_value();
}

const Scale& PyVolume::BestFor(const Box& box) const {
  const auto touched = [&](const std::shared_ptr<Scale>& scale) {
    const volume::Grid& grid = scale->grid();
    const Vec3 size = grid.VoxelsOf(grid.CellsTouching(box)).size();
    return static_cast<double>(size[0]) * static_cast<double>(size[1]) *
           static_cast<double>(size[2]);
  };
  return scales_.size() == 1 ? scale() : **std::ranges::min_element(scales_, {}, touched);
}

void PyVolume::Read(const Box& box, nb::handle array, const BoxOptions& options) const {
  if (box.empty()) return;
  const LentVoxels voxels(array, scale().ShapeOf(box), LentVoxels::Use::kWrite);
  const volume::MutableVoxelView view = voxels.mutable_view();
  const Scale& from = BestFor(box);
  const auto pieces =
      PiecesOf(box, from.bounds().begin, from.grid().chunk_size(), PieceVoxels(from));
  DoPieces(pieces, [&](const Box& piece) -> Result<void> {
    DOLIUM_TRY([[maybe_unused]] const uint64_t found,
               from.Read(piece, view.Part(box, piece), options));
    return {};
  });
}

void PyVolume::ReadMany(const std::vector<Box>& boxes, const nb::list& arrays,
                        const BoxOptions& options) const {
  if (boxes.size() != arrays.size()) {
    throw nb::value_error("expected as many arrays as boxes");
  }
  std::vector<std::unique_ptr<LentVoxels>> voxels;
  for (size_t i = 0; i < boxes.size(); ++i) {
    voxels.push_back(std::make_unique<LentVoxels>(arrays[i], scale().ShapeOf(boxes[i]),
                                                  LentVoxels::Use::kWrite));
  }
  const size_t threads = ThreadCount(options.jobs, boxes.size());
  BoxOptions of_one = options;
  if (is_local_ || options.jobs != 0) {
    of_one.jobs = std::max<size_t>(1, ThreadCount(options.jobs, SIZE_MAX) / threads);
  }
  const std::stop_source stop;
  Result<void> result;
  RunInterruptible(stop, [&] {
    result = ParallelFor(
        boxes.size(), threads,
        [&](size_t i) -> Result<void> {
          if (boxes[i].empty()) return {};
          DOLIUM_TRY([[maybe_unused]] const uint64_t found,
                     BestFor(boxes[i]).Read(boxes[i], voxels[i]->mutable_view(), of_one));
          return {};
        },
        stop.get_token());
  });
  Must(result, Absent::kEntry);
}

void PyVolume::Write(const Box& box, nb::handle array, size_t jobs) {
  if (box.empty()) return;
  const LentVoxels voxels(array, scale().ShapeOf(box), LentVoxels::Use::kRead);
  const volume::VoxelView view = voxels.view();
  for (const std::shared_ptr<Scale>& to : scales_) {
    const Vec3 unit = RewrittenUnit(*to);
    const auto pieces = unit[0] == 0
                            ? std::vector<Box>{box}
                            : PiecesOf(box, to->bounds().begin, unit, PieceVoxels(*to));
    DoPieces(pieces, [&](const Box& piece) {
      return to->Write(piece, view.Part(box, piece), {.jobs = jobs});
    });
  }
}

Vec3 PyVolume::WriteUnit() const {
  const volume::Grid& grid = scale().grid();
  const Vec3 cells = Must(volume::PartSize(scale()));
  Vec3 unit{};
  for (size_t d = 0; d < 3; ++d) {
    const int64_t most = std::max<int64_t>(1, grid.shape()[d]);
    unit[d] = std::clamp<int64_t>(cells[d], 1, most) * grid.chunk_size()[d];
  }
  return unit;
}

}  // namespace dolium::python
