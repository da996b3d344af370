#include "python/src/volume.h"

#include <algorithm>
#include <optional>
#include <stop_token>
#include <utility>

#include "dolium/base/parallel.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/source/capabilities.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"
#include "python/src/voxel_buffer.h"

namespace dolium::python {
namespace {

using volume::Box;
using volume::BoxOptions;

// Chunks of local files that take no time worth a look at signals.
constexpr double kQuickBytes = 16 << 20;

}  // namespace

PyVolume::PyVolume(VolumeArguments arguments) : arguments_(std::move(arguments)) {
  const auto open = [&]() -> Result<volume::Volume> {
    DOLIUM_TRY(const Location location, ParseLocation(arguments_.location));
    DOLIUM_TRY(arguments_.location, PortableText(location, arguments_.location));
    return OpenVolume(location, {.allow_unfinished = arguments_.allow_unfinished,
                                 .exported = arguments_.exported});
  };
  volume_ =
      std::make_shared<const volume::Volume>(Must(WithoutGil(/*is_remote=*/true, open)));
  OpenScale();
}

PyVolume::PyVolume(const PyVolume& other, size_t scale)
    : arguments_(other.arguments_), volume_(other.volume_), skipped_(other.skipped_) {
  arguments_.scale = scale;
  OpenScale();
}

void PyVolume::OpenScale() {
  scale_ = Must(volume_->OpenScale(arguments_.scale, arguments_.storage));
  const Location& folder = scale().folder();
  const auto path = folder.store->LocalPath(folder.path);
  is_local_ = path && path->has_value();
}

void PyVolume::Read(const BoxRequest& request, nb::handle array, bool strict,
                    size_t jobs) const {
  if (request.box.empty()) return;
  BoxOptions options{.missing_is_error = strict,
                     .jobs = jobs,
                     .channels = request.channels,
                     .step = request.step};
  if (arguments_.exported.salvage) options.skip_damaged = skipped_->visitor();
  const BorrowedArray voxels(array, scale().ShapeOf(request.box, options),
                             BorrowedArray::Use::kWrite);
  Result<uint64_t> found = 0;
  const auto read = [&] {
    found = scale_->Read(request.box, voxels.mutable_view(), options);
  };
  if (is_local_ && scale_->BytesTouchedBy(request.box) <= kQuickBytes) {
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
  if (arguments_.exported.salvage) common.skip_damaged = skipped_->visitor();
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
                     scale_->Read(box, voxels[i]->mutable_view(), options[i]));
          return {};
        },
        stop.get_token());
  });
  Must(result, Absent::kEntry);
}

void PyVolume::Write(const Box& box, const volume::ChannelRange& channels,
                     nb::handle array, size_t jobs, nb::handle mask) {
  if (box.empty()) return;
  const std::stop_source stop;
  BoxOptions options{.jobs = jobs, .channels = channels, .stop = stop.get_token()};
  volume::ArrayShape shape = scale().ShapeOf(box, options);
  const BorrowedArray voxels(array, shape, BorrowedArray::Use::kRead);
  std::optional<BorrowedArray> chosen;
  if (!mask.is_none()) {
    shape.type = volume::DataType::kUint8;
    chosen.emplace(mask, shape, BorrowedArray::Use::kRead);
    options.mask = chosen->view();
  }
  const volume::VoxelView view = voxels.view();
  Result<void> result;
  RunInterruptible(stop, [&] { result = scale_->Write(box, view, options); });
  Must(result, Absent::kEntry);
}

}  // namespace dolium::python
