#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "cli/volume/export_arguments.h"
#include "cli/volume/volume_arguments.h"
#include "dolium/base/bytes.h"
#include "dolium/base/checked_math.h"
#include "dolium/domain/volume/arrays/array_sink.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/domain/volume/whole_scale.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/volume/skipped_chunks.h"

namespace dolium::cli {
namespace {

using volume::Box;
using volume::Grid;
using volume::Scale;

constexpr uint64_t kCutoutMemory = uint64_t{1} << 30;

struct CutoutRequest {
  size_t index = 0;              // of the scale
  std::shared_ptr<Scale> scale;  // of its copies, the best for the box
  Box box;
  std::unique_ptr<volume::ArraySink> sink;
  int64_t pages = 1;  // that memory holds at once
};

struct Chunks {
  uint64_t all = 0;
  uint64_t there = 0;
  std::vector<Finding> skipped = {};
};

Result<CutoutRequest> Begin(const Context& context, const std::string& file) {
  const Arguments& arguments = context.arguments;
  DOLIUM_TRY(const Location location, ParseLocation(arguments[0]));
  DOLIUM_TRY(const auto exported, ExportOptionsOf(context));
  DOLIUM_TRY(const auto volume, OpenVolume(location, {.exported = exported}));
  CutoutRequest out;
  DOLIUM_TRY(const auto index,
             ScaleOption(arguments, volume.info()).Within("volume cutout"));
  out.index = index.value_or(0);
  DOLIUM_TRY(const auto whole, volume.OpenScale(out.index));
  DOLIUM_TRY(out.box, BoxOption(arguments, whole->bounds()).Within("volume cutout"));
  out.scale = whole->BestFor(out.box);

  if (out.box.empty()) {
    return InvalidArgument(fmt::format("volume cutout: {}: scale {} has no voxels",
                                       location.Describe(), out.index));
  }
  Box page = out.box;
  page.end[2] = page.begin[2] + 1;
  auto page_bytes = out.scale->ShapeOf(page).bytes();
  // To turn voxels into another order takes them twice.
  const auto axes = arguments.Get("axes");
  if (page_bytes && (axes || arguments.Has("c-order"))) {
    page_bytes = CheckedMul(*page_bytes, uint64_t{2});
  }
  const uint64_t memory = arguments.Number("memory", kCutoutMemory);
  if (!page_bytes || *page_bytes > memory) {
    return InvalidArgument(
        fmt::format("volume cutout: one page of the box {} does not fit the --memory of "
                    "{}; allow more, or cut out smaller boxes",
                    ToString(out.box), FormatSize(memory)));
  }
  out.pages = static_cast<int64_t>(
      std::min<uint64_t>(memory / *page_bytes, static_cast<uint64_t>(out.box.size()[2])));
  auto sink = volume::ArraySink::Begin(file, out.scale->ShapeOf(out.box),
                                       {.force = arguments.Has("force"),
                                        .deflate = arguments.Has("deflate"),
                                        .axes = axes,
                                        .c_order = arguments.Has("c-order")});
  if (!sink && sink.error().code == ErrorCode::kExists && !arguments.Has("force")) {
    return Exists(fmt::format("{}: is there already; --force replaces it", file));
  }
  DOLIUM_TRY(out.sink, std::move(sink));
  return out;
}

// The end of the slab that begins at `z`: between chunks if that is possible, so that no
// chunk is decoded twice.
int64_t SlabEnd(const CutoutRequest& cutout, int64_t z) {
  const int64_t end = z + cutout.pages;
  if (end >= cutout.box.end[2]) return cutout.box.end[2];
  const Grid& grid = cutout.scale->grid();
  const int64_t aligned = end - (end - grid.bounds().begin[2]) % grid.chunk_size()[2];
  return aligned > z ? aligned : end;
}

uint64_t CountCells(const Grid& grid, const Box& box) {
  const volume::Vec3 cells = grid.CellsTouching(box).size();
  return static_cast<uint64_t>(cells[0]) * static_cast<uint64_t>(cells[1]) *
         static_cast<uint64_t>(cells[2]);
}

Result<Chunks> Copy(const Context& context, CutoutRequest& cutout) {
  const Scale& scale = *cutout.scale;
  const Grid& grid = scale.grid();
  volume::SkippedChunks skipped;
  volume::BoxOptions options = {.missing_is_error = context.arguments.Has("strict"),
                                .jobs = context.jobs(),
                                .stop = context.stop};
  if (context.arguments.Has("skip-damaged")) options.skip_damaged = skipped.visitor();
  const ProgressFunction report = context.terminal.StartProgress("cutout");
  Progress progress{.total_entries = CountCells(grid, cutout.box)};
  Chunks chunks;
  ByteVector voxels;
  for (int64_t z = cutout.box.begin[2]; z < cutout.box.end[2];) {
    Box slab = cutout.box;
    slab.begin[2] = z;
    slab.end[2] = SlabEnd(cutout, z);
    const volume::ArrayShape shape = scale.ShapeOf(slab);
    voxels.resize(*shape.bytes());
    DOLIUM_TRY(
        const uint64_t there,
        scale.Read(slab, volume::MutableVoxelView::Dense(shape, voxels.data()), options));
    DOLIUM_TRY_VOID(cutout.sink->Append(slab.size()[2], voxels));
    // Where a chunk is cut into several slabs, it counts in the first of them.
    if (z == cutout.box.begin[2] ||
        (z - grid.bounds().begin[2]) % grid.chunk_size()[2] == 0) {
      chunks.there += there;
      chunks.all += CountCells(grid, slab);
    }
    progress.entries = chunks.all;
    progress.bytes += voxels.size();
    if (report) report(progress);
    z = slab.end[2];
  }
  DOLIUM_TRY_VOID(cutout.sink->Finish());
  chunks.skipped = skipped.findings();
  return chunks;
}

void ShowSummary(Context& context, const std::string& file, const CutoutRequest& cutout,
                 const Chunks& chunks) {
  const volume::ArrayShape shape = cutout.scale->ShapeOf(cutout.box);
  const uint64_t missing = chunks.all - chunks.there - chunks.skipped.size();
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary", {{"file", file},
                                          {"scale", cutout.index},
                                          {"begin", cutout.box.begin},
                                          {"end", cutout.box.end},
                                          {"size", shape.size},
                                          {"channels", shape.channels},
                                          {"data_type", ToString(shape.type)},
                                          {"bytes", *shape.bytes()},
                                          {"chunks", chunks.all},
                                          {"chunks_missing", missing},
                                          {"skipped", chunks.skipped.size()}});
    return;
  }
  std::string line = fmt::format(
      "{}: {} of scale {}, {}{}, {}", file, ToString(cutout.box), cutout.index,
      ToString(shape.type),
      shape.channels == 1 ? "" : fmt::format(" in {} channels", shape.channels),
      FormatSize(*shape.bytes()));
  if (missing > 0) {
    line += fmt::format("; {} of {} chunks were missing (zeros)", FormatCount(missing),
                        FormatCount(chunks.all));
  }
  if (!chunks.skipped.empty()) {
    line +=
        fmt::format("; {} damaged left out (zeros)", FormatCount(chunks.skipped.size()));
  }
  context.terminal.Line(line);
}

}  // namespace

ExitStatus RunVolumeCutout(Context& context) {
  const auto target = context.arguments.Target(1);
  if (!target) return context.Fail(target.error().Within("volume cutout"));
  if (!*target) {
    return context.Fail(InvalidArgument(
        "volume cutout: no output; name one: out.npy, out.tif or out.raw"));
  }
  const std::string& file = **target;
  auto cutout = Begin(context, file);
  if (!cutout) return context.FailLocation(cutout.error());
  const auto chunks = Copy(context, *cutout);
  context.terminal.EndProgress();
  if (!chunks) return context.Fail(chunks.error());
  const ExitStatus status = ReportSkipped(context, chunks->skipped);
  if (!context.arguments.Has("no-summary")) {
    ShowSummary(context, file, *cutout, *chunks);
  }
  return status;
}

}  // namespace dolium::cli
