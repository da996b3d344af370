// convert to a volume, and convert to a DVID export: what knows of voxels.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "cli/volume/export_arguments.h"
#include "cli/volume/volume_arguments.h"
#include "dolium/ops/volume/dvid_write.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium::cli {
namespace {

constexpr std::string_view kNotToSeed[] = {"csv"};

Result<volume::TranscodeRequest> MakeExportTranscode(
    const Context& context, const volume::DvidReadOptions& options) {
  const Arguments& arguments = context.arguments;
  volume::TranscodeRequest request;
  request.source = arguments[0];
  request.target = arguments[1];
  request.exported = options;
  request.force = arguments.Has("force");
  if (arguments.Has("shard-size")) {
    request.storage.shard_bytes =
        arguments.Number("shard-size", volume::kDefaultShardBytes);
  }
  if (const uint64_t scales = arguments.Number("downsample", 0); scales > 0) {
    volume::PyramidRequest& pyramid = request.pyramid.emplace();
    pyramid.scales = scales;
    pyramid.factor = volume::Vec3{2, 2, 2};
    pyramid.method = volume::DownsampleMethod::kMode;
    pyramid.ignore_zero = true;
  }
  return request;
}

std::string CountOf(uint64_t count, std::string_view word) {
  return fmt::format("{} {}{}", FormatCount(count), word, count == 1 ? "" : "s");
}

std::string LeftOut(const volume::ExportReport& report) {
  if (report.damaged == 0) return "";
  return fmt::format("; {} damaged left out", FormatCount(report.damaged));
}

ExitStatus Stopped(Context& context) {
  return context.Fail(Cancelled("stopped on request; the same command resumes"));
}

}  // namespace

ExitStatus RunConvertToVolume(Context& context) {
  const auto options = ExportOptionsOf(context);
  if (!options) return context.FailLocation(options.error().Within("convert"));
  const auto checked = CheckSource(context, *options);
  if (!checked) return context.FailLocation(checked.error());
  if (!checked->damage.empty()) return ExitStatus::kBad;
  const auto request = MakeExportTranscode(context, *options);
  if (!request) return context.FailLocation(request.error().Within("convert"));
  const auto plan = PlanTranscode(*request);
  if (!plan) return context.FailLocation(plan.error());
  if (context.arguments.Has("plan")) {
    for (const auto& stage : plan->stages) {
      for (const std::string& task : stage) context.terminal.Line(task);
    }
    return ExitStatus::kGood;
  }
  RunOptions run;
  run.writer = context.writer_options();
  run.progress = context.terminal.StartProgress("convert");
  const auto report = RunVolumePlan(*plan, run);
  context.terminal.EndProgress();
  if (!report && report.error().code == ErrorCode::kCancelled) return Stopped(context);
  if (!report) return context.FailLocation(report.error());
  const ExitStatus done = checked->damaged > 0 ? ExitStatus::kBad : ExitStatus::kGood;
  if (context.arguments.Has("no-summary")) return done;
  const WriteSummary& written = report->written;
  if (context.terminal.json()) {
    context.terminal.JsonLine({{"type", "summary"},
                               {"target", request->target},
                               {"scales", plan->stages.size()},
                               {"chunks", written.entries},
                               {"value_bytes", written.value_bytes},
                               {"stored_bytes", written.stored_bytes},
                               {"objects", written.objects},
                               {"parts", report->parts},
                               {"parts_done_before", report->parts_done_before},
                               {"skipped", checked->damaged}});
    return done;
  }
  context.terminal.Line(
      fmt::format("{}: {} of {}, {} in {}, {}{}", request->target,
                  CountOf(plan->stages.size(), "scale"), ToString(options->labels),
                  CountOf(written.entries, "chunk"), CountOf(written.objects, "object"),
                  FormatSize(written.stored_bytes), LeftOut(*checked)));
  return done;
}

ExitStatus RunConvertToDvid(Context& context) {
  const Arguments& arguments = context.arguments;
  if (arguments.Get("layout") == "seed") {
    const auto refused = RefuseOptions(arguments, kNotToSeed, "with --layout seed");
    if (!refused) return context.Fail(refused.error().Within("convert"));
  }
  const auto options = ExportOptionsOf(context);
  if (!options) return context.FailLocation(options.error().Within("convert"));
  const auto checked = CheckSource(context, *options);
  if (!checked) return context.FailLocation(checked.error());
  if (!checked->damage.empty()) return ExitStatus::kBad;
  volume::DvidWriteRequest request;
  request.source = arguments[0];
  request.target = arguments[1];
  request.exported = *options;
  request.force = arguments.Has("force");
  if (arguments.Get("layout") == "seed") request.layout = dvid::ShardLayout::kSeed;
  if (arguments.Get("csv") == "dvid") request.csv = dvid::CsvForm::kDvid;
  request.shard_side = static_cast<int64_t>(
      std::min<uint64_t>(arguments.Number("shard-side", 2048), INT32_MAX));
  RunOptions run;
  run.writer = context.writer_options();
  if (arguments.Has("plan")) {
    const auto tasks = PlanDvidExport(request, run);
    if (!tasks) return context.FailLocation(tasks.error());
    for (const std::string& task : *tasks) context.terminal.Line(task);
    return ExitStatus::kGood;
  }
  run.progress = context.terminal.StartProgress("convert");
  const auto report = WriteDvidExport(request, run);
  context.terminal.EndProgress();
  if (!report && report.error().code == ErrorCode::kCancelled) return Stopped(context);
  if (!report) return context.FailLocation(report.error());
  const ExitStatus done = checked->damaged > 0 ? ExitStatus::kBad : ExitStatus::kGood;
  if (arguments.Has("no-summary")) return done;
  const WriteSummary& written = report->written;
  if (context.terminal.json()) {
    context.terminal.JsonLine({{"type", "summary"},
                               {"target", request.target},
                               {"blocks", written.entries},
                               {"value_bytes", written.value_bytes},
                               {"stored_bytes", written.stored_bytes},
                               {"objects", written.objects},
                               {"shards", report->shards},
                               {"shards_done_before", report->shards_done_before},
                               {"skipped", checked->damaged}});
    return done;
  }
  std::string line =
      fmt::format("{}: {} in {}, {}", request.target, CountOf(written.entries, "block"),
                  CountOf(report->shards, "shard"), FormatSize(written.stored_bytes));
  if (report->shards_done_before > 0) {
    line += fmt::format("; {} were done before", FormatCount(report->shards_done_before));
  }
  context.terminal.Line(line + LeftOut(*checked));
  return done;
}

}  // namespace dolium::cli
