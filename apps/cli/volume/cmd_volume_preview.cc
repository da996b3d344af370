#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "cli/volume/export_arguments.h"
#include "cli/volume/volume_arguments.h"
#include "dolium/base/bytes.h"
#include "dolium/base/checked_math.h"
#include "dolium/domain/volume/arrays/preview.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/domain/volume/whole_scale.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/volume/skipped_chunks.h"

namespace dolium::cli {
namespace {

using volume::Box;
using volume::ScaleInfo;
using volume::Vec3;
using volume::VolumeInfo;

constexpr std::string_view kName = "volume preview";
constexpr int64_t kPixels = 1024;
constexpr uint64_t kPreviewMemory = uint64_t{1} << 30;

// The longest side of a picture in which the shortest side of a voxel is a pixel.
double PixelsOf(const ScaleInfo& scale) {
  const double pixel = *std::ranges::min_element(scale.resolution);
  std::array<double, 3> side{};
  for (size_t d = 0; d < 3; ++d) {
    side[d] = static_cast<double>(scale.size[d]) * scale.resolution[d] / pixel;
  }
  return std::max(side[0], side[1]) + side[2];
}

// The coarsest scale that still fills the picture; else the finest.
size_t ChooseScale(const VolumeInfo& info, int64_t pixels) {
  size_t best = 0;
  for (size_t i = 1; i < info.scales.size(); ++i) {
    const double size = PixelsOf(info.scales[i]);
    if (size >= static_cast<double>(pixels) && size < PixelsOf(info.scales[best])) {
      best = i;
    }
  }
  return best;
}

// A voxel of the finest scale, in the coordinates of another.
Result<Vec3> ToScale(const VolumeInfo& info, const ScaleInfo& scale, const Vec3& voxel) {
  const ScaleInfo& finest = info.scales.front();
  const Box bounds = scale.bounds();
  Vec3 out{};
  for (size_t d = 0; d < 3; ++d) {
    if (voxel[d] < finest.bounds().begin[d] || voxel[d] >= finest.bounds().end[d]) {
      return InvalidArgument(fmt::format("--at: {} is not within {}",
                                         volume::ToString(voxel),
                                         ToString(finest.bounds())));
    }
    const double middle = static_cast<double>(voxel[d]) + 0.5;
    const auto moved = static_cast<int64_t>(
        std::floor(middle * finest.resolution[d] / scale.resolution[d]));
    // Sizes of coarser scales may be rounded down.
    out[d] = std::clamp(moved, bounds.begin[d], bounds.end[d] - 1);
  }
  return out;
}

Vec3 MiddleOf(const Box& box) {
  Vec3 middle{};
  for (size_t d = 0; d < 3; ++d) middle[d] = box.begin[d] + box.size()[d] / 2;
  return middle;
}

struct PreviewRequest {
  ByteVector png;
  size_t scale = 0;
  Vec3 at = {0, 0, 0};
  std::vector<Finding> skipped = {};
};

// The slices across z, y and x: xy, xz, yz.
Result<std::array<ByteVector, 3>> ReadSlices(const Context& context,
                                             const volume::WholeScale& whole,
                                             const Vec3& at,
                                             volume::SkippedChunks& skipped) {
  const volume::Scale& scale = whole.first();
  std::array<Box, 3> boxes;
  boxes.fill(scale.bounds());
  std::optional<uint64_t> total = 0;
  for (size_t i = 0; i < 3; ++i) {
    const size_t across = 2 - i;
    boxes[i].begin[across] = at[across];
    boxes[i].end[across] = at[across] + 1;
    const auto bytes = scale.ShapeOf(boxes[i]).bytes();
    if (total) total = bytes ? CheckedAdd(*total, *bytes) : std::nullopt;
  }
  const uint64_t memory = context.arguments.Number("memory", kPreviewMemory);
  if (!total || *total > memory) {
    return InvalidArgument(fmt::format(
        "{}: slices of scale {} do not fit the --memory of {}; allow more, or "
        "name a coarser --scale",
        kName, scale.info().key, FormatSize(memory)));
  }
  volume::BoxOptions options = {.jobs = context.jobs(), .stop = context.stop};
  if (context.arguments.Has("skip-damaged")) options.skip_damaged = skipped.visitor();
  std::array<ByteVector, 3> slices;
  for (size_t i = 0; i < 3; ++i) {
    const volume::ArrayShape shape = scale.ShapeOf(boxes[i]);
    slices[i].resize(*shape.bytes());
    DOLIUM_TRY_VOID(whole.Read(
        boxes[i], volume::MutableVoxelView::Dense(shape, slices[i].data()), options));
  }
  return slices;
}

Result<PreviewRequest> Make(const Context& context) {
  const Arguments& arguments = context.arguments;
  DOLIUM_TRY(const Location location, ParseLocation(arguments[0]));
  DOLIUM_TRY(const auto exported, ExportOptionsOf(context));
  DOLIUM_TRY(const auto volume, OpenVolume(location, {.exported = exported}));
  const VolumeInfo& info = volume.info();
  const uint64_t pixels = arguments.Number("size", kPixels);
  PreviewRequest out;
  DOLIUM_TRY(const auto index, ScaleOption(arguments, info).Within(kName));
  const auto wanted = static_cast<int64_t>(std::min<uint64_t>(pixels, INT64_MAX));
  out.scale = index ? *index : ChooseScale(info, wanted);
  DOLIUM_TRY(const auto whole, volume.OpenScale(out.scale));
  const volume::Scale* const scale = &whole->first();
  if (scale->bounds().empty()) {
    return InvalidArgument(fmt::format("{}: scale {} has no voxels", kName, out.scale));
  }
  DOLIUM_TRY(const auto at,
             VectorOption(arguments, "at", -volume::kMaxCoordinate).Within(kName));
  out.at = MiddleOf(scale->bounds());
  if (at) {
    DOLIUM_TRY(out.at, ToScale(info, scale->info(), *at).Within(kName));
  }

  volume::SkippedChunks skipped;
  DOLIUM_TRY(const auto slices, ReadSlices(context, *whole, out.at, skipped));
  out.skipped = skipped.findings();
  const Vec3& size = scale->info().size;
  DOLIUM_TRY(out.png, volume::RenderPreview(
                          {.type = scale->type(),
                           .channels = scale->channels(),
                           .labels = info.type == volume::VolumeType::kSegmentation,
                           .xy = {size[0], size[1], slices[0]},
                           .xz = {size[0], size[2], slices[1]},
                           .yz = {size[1], size[2], slices[2]},
                           .voxel_size = scale->info().resolution,
                           .longest_side = wanted})
                          .Within(kName));
  return out;
}

}  // namespace

ExitStatus RunVolumePreview(Context& context) {
  const auto preview = Make(context);
  if (!preview) return context.FailLocation(preview.error());
  const std::string file = context.arguments.Get("output").value_or("-");
  const auto written = context.WriteFile(file, preview->png);
  if (!written) return context.FailLocation(written.error());
  const ExitStatus status = ReportSkipped(context, preview->skipped);
  if (file == "-") return status;
  if (context.terminal.json()) {
    context.terminal.JsonLine("written", {{"file", file},
                                          {"scale", preview->scale},
                                          {"at", preview->at},
                                          {"size", preview->png.size()}});
  } else {
    context.terminal.Line(fmt::format("{}: slices through {} of scale {}", file,
                                      volume::ToString(preview->at), preview->scale));
  }
  return status;
}

}  // namespace dolium::cli
