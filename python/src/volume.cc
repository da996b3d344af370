#include "python/src/volume.h"

#include <algorithm>
#include <optional>
#include <stop_token>
#include <utility>

#include "dolium/base/parallel.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/volume/volume_parts.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"
#include "python/src/voxel_buffer.h"

namespace dolium::python {
namespace {

using volume::Box;
using volume::BoxOptions;
using volume::Scale;
using volume::Vec3;

// Boxes are written in pieces of about so much, or of a shard, so that no more of them is
// held encoded.
constexpr int64_t kPieceBytes = int64_t{256} << 20;

// Chunks of local files that take no time worth a look at signals.
constexpr double kQuickBytes = 16 << 20;

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
    return volume::Volume::Open(location, arguments_.allow_unfinished,
                                arguments_.exported);
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

double PyVolume::TouchedBy(const Box& box, const Scale& scale) {
  const volume::Grid& grid = scale.grid();
  const Vec3 size = grid.VoxelsOf(grid.CellsTouching(box)).size();
  return static_cast<double>(size[0]) * static_cast<double>(size[1]) *
         static_cast<double>(size[2]);
}

const Scale& PyVolume::BestFor(const Box& box) const {
  const auto touched = [&](const std::shared_ptr<Scale>& scale) {
    return TouchedBy(box, *scale);
  };
  return scales_.size() == 1 ? scale() : **std::ranges::min_element(scales_, {}, touched);
}

void PyVolume::Read(const BoxRequest& request, nb::handle array, bool strict,
                    size_t jobs) const {
  if (request.box.empty()) return;
  BoxOptions options{.missing_is_error = strict,
                     .jobs = jobs,
                     .channels = request.channels,
                     .step = request.step};
  const BorrowedArray voxels(array, scale().ShapeOf(request.box, options),
                             BorrowedArray::Use::kWrite);
  const Scale& from = BestFor(request.box);
  Result<uint64_t> found = 0;
  const auto read = [&] {
    found = from.Read(request.box, voxels.mutable_view(), options);
  };
  const double bytes = TouchedBy(request.box, from) *
                       static_cast<double>(SizeOf(from.type())) *
                       static_cast<double>(from.channels());
  if (is_local_ && bytes <= kQuickBytes) {
    const nb::gil_scoped_release release;
    read();
  } else {
    const std::stop_source stop;
    options.stop = stop.get_token();
    RunInterruptible(stop, read);
  }
  Must(std::move(found), Absent::kEntry);
}

void PyVolume::ReadMany(const std::vector<BoxRequest>& requests, const nb::list& arrays,
                        bool strict, size_t jobs) const {
  if (requests.size() != arrays.size()) {
    throw nb::value_error("expected as many arrays as boxes");
  }
  const size_t threads = ThreadCount(jobs, requests.size());
  const std::stop_source stop;
  BoxOptions common{.missing_is_error = strict, .jobs = jobs, .stop = stop.get_token()};
  if (is_local_ || jobs != 0) {
    common.jobs = std::max<size_t>(1, ThreadCount(jobs, SIZE_MAX) / threads);
  }
  std::vector<BoxOptions> options;
  std::vector<std::unique_ptr<BorrowedArray>> voxels;
  for (size_t i = 0; i < requests.size(); ++i) {
    BoxOptions& of_one = options.emplace_back(common);
    of_one.channels = requests[i].channels;
    of_one.step = requests[i].step;
    voxels.push_back(std::make_unique<BorrowedArray>(
        arrays[i], scale().ShapeOf(requests[i].box, of_one), BorrowedArray::Use::kWrite));
  }
  Result<void> result;
  RunInterruptible(stop, [&] {
    result = ParallelFor(
        requests.size(), threads,
        [&](size_t i) -> Result<void> {
          const Box& box = requests[i].box;
          if (box.empty()) return {};
          DOLIUM_TRY([[maybe_unused]] const uint64_t found,
                     BestFor(box).Read(box, voxels[i]->mutable_view(), options[i]));
          return {};
        },
        stop.get_token());
  });
  Must(result, Absent::kEntry);
}

void PyVolume::Write(const Box& box, const volume::ChannelRange& channels,
                     nb::handle array, size_t jobs) {
  if (box.empty()) return;
  const std::stop_source stop;
  const BoxOptions options{.jobs = jobs, .channels = channels, .stop = stop.get_token()};
  const BorrowedArray voxels(array, scale().ShapeOf(box, options),
                             BorrowedArray::Use::kRead);
  const volume::VoxelView view = voxels.view();
  Result<void> result;
  RunInterruptible(stop, [&] {
    for (const std::shared_ptr<Scale>& to : scales_) {
      const Vec3 unit = RewrittenUnit(*to);
      const auto pieces = unit[0] == 0
                              ? std::vector<Box>{box}
                              : PiecesOf(box, to->bounds().begin, unit, PieceVoxels(*to));
      for (const Box& piece : pieces) {
        result = to->Write(piece, view.Part(box, piece), options);
        if (!result) return;
      }
    }
  });
  Must(result, Absent::kEntry);
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
