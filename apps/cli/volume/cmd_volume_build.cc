// volume ingest, downsample, transcode: each a plan, printed or carried out.
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "cli/volume/export_arguments.h"
#include "cli/volume/volume_arguments.h"
#include "dolium/domain/volume/arrays/number_type.h"
#include "dolium/domain/volume/grid.h"
#include "dolium/ops/job/plan.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium::cli {
namespace {

// What is made, for people.
struct Subject {
  std::string_view verb;  // "ingest"
  std::string volume;     // as the user names it
  bool adds = false;      // scales to a volume that is there
};

void ShowSummary(Context& context, const Subject& subject, const Plan& plan,
                 const JobReport& report) {
  const WriteSummary& written = report.written;
  if (context.terminal.json()) {
    context.terminal.JsonLine({{"type", "summary"},
                               {"target", subject.volume},
                               {"scales", plan.stages.size()},
                               {"chunks", written.entries},
                               {"value_bytes", written.value_bytes},
                               {"stored_bytes", written.stored_bytes},
                               {"objects", written.objects},
                               {"parts", report.parts},
                               {"parts_done_before", report.parts_done_before}});
    return;
  }
  if (plan.folder.empty()) {
    context.terminal.Line(subject.volume + ": no scale to add");
    return;
  }
  std::string line = fmt::format(
      "{}: {}, {} in {}, {}", subject.volume,
      FormatCount(plan.stages.size(), subject.adds ? "new scale" : "scale"),
      FormatCount(written.entries, "chunk"), FormatCount(written.objects, "object"),
      FormatSize(written.stored_bytes));
  if (report.parts_done_before > 0) {
    line += fmt::format("; {} of {} parts were done before",
                        FormatCount(report.parts_done_before), FormatCount(report.parts));
  }
  context.terminal.Line(line);
}

// Prints the plan, or carries it out, as --plan says.
ExitStatus RunVolumePlan(Context& context, const Subject& subject,
                         const Result<Plan>& plan) {
  if (!plan) return context.FailLocation(plan.error());
  if (context.arguments.Has("plan")) return context.ShowTasks(*plan);
  RunOptions options;
  options.writer = context.writer_options();
  options.progress = context.terminal.StartProgress(std::string(subject.verb));
  const auto report = RunPlan(context.formats, *plan, options);
  context.terminal.EndProgress();
  if (!report && report.error().code == ErrorCode::kCancelled) {
    return context.Fail(Cancelled("stopped on request; the same command resumes"));
  }
  if (!report) return context.FailLocation(report.error());
  if (!context.arguments.Has("no-summary")) ShowSummary(context, subject, *plan, *report);
  return report->skipped.empty() ? ExitStatus::kGood : ExitStatus::kBad;
}

// What the options say of a file of bare numbers; nullopt if they say nothing.
Result<std::optional<volume::RawLayout>> RawOptions(const Arguments& arguments) {
  const auto shape = arguments.Get("shape");
  const auto type = arguments.Get("dtype");
  if (shape.has_value() != type.has_value()) {
    return InvalidArgument("--shape and --dtype belong together");
  }
  if (!shape) {
    for (const std::string_view option : {"skip", "big-endian", "c-order"}) {
      if (!arguments.Has(option)) continue;
      return InvalidArgument(
          fmt::format("--{} is of use with --shape and --dtype", option));
    }
    return std::nullopt;
  }
  volume::RawLayout raw;
  DOLIUM_TRY(raw.shape, ShapeOption(arguments));
  raw.type = *volume::ParseNumberType(*type);
  if (arguments.Has("skip")) raw.offset = arguments.Number("skip", 0);
  raw.big_endian = arguments.Has("big-endian");
  raw.c_order = arguments.Has("c-order");
  return raw;
}

Result<volume::IngestRequest> MakeIngest(const Context& context) {
  const Arguments& arguments = context.arguments;
  volume::IngestRequest request;
  request.source.path = arguments[0];
  request.target = arguments[1];
  request.source.dataset = arguments.Get("dataset");
  request.source.axes = arguments.Get("axes");
  if (const auto type = arguments.Get("to-dtype")) {
    request.source.type = volume::ParseDataType(*type);
  }
  DOLIUM_TRY(request.source.raw, RawOptions(arguments));
  if (const auto type = arguments.Get("type")) {
    request.type =
        *type == "image" ? volume::VolumeType::kImage : volume::VolumeType::kSegmentation;
  }
  DOLIUM_TRY(request.resolution, ResolutionOption(arguments));
  DOLIUM_TRY(const auto offset,
             VectorOption(arguments, "offset", -volume::kMaxCoordinate));
  request.offset = offset.value_or(request.offset);
  DOLIUM_TRY(request.storage, StorageOptions(context));
  DOLIUM_TRY(const auto sharded, ShardedOption(arguments));
  request.storage.sharded = sharded.value_or(true);
  DOLIUM_TRY(request.pyramid, PyramidOptions(arguments, /*present=*/1));
  request.force = arguments.Has("force");
  return request;
}

Result<volume::DownsampleRequest> MakeDownsample(const Context& context) {
  const Arguments& arguments = context.arguments;
  volume::DownsampleRequest request;
  request.volume = arguments[0];
  if (arguments.Has("from")) request.from = arguments.Number("from", 0);
  DOLIUM_TRY(request.pyramid, PyramidOptions(arguments, /*present=*/0));
  DOLIUM_TRY(request.storage, StorageOptions(context));
  DOLIUM_TRY(request.sharded, ShardedOption(arguments));
  request.force = arguments.Has("force");
  return request;
}

Result<volume::TranscodeRequest> MakeTranscode(const Context& context) {
  const Arguments& arguments = context.arguments;
  volume::TranscodeRequest request;
  request.source = arguments[0];
  request.target = arguments[1];
  DOLIUM_TRY(request.scales, ScaleListOption(arguments));
  DOLIUM_TRY(request.exported, ExportOptionsOf(context));
  DOLIUM_TRY(request.storage, StorageOptions(context));
  DOLIUM_TRY(request.sharded, ShardedOption(arguments));
  request.force = arguments.Has("force");
  return request;
}

}  // namespace

ExitStatus RunVolumeIngest(Context& context) {
  const auto request = MakeIngest(context);
  if (!request) return context.FailLocation(request.error().Within("volume ingest"));
  return RunVolumePlan(context, {.verb = "ingest", .volume = request->target},
                       PlanIngest(*request));
}

ExitStatus RunVolumeDownsample(Context& context) {
  const auto request = MakeDownsample(context);
  if (!request) return context.FailLocation(request.error().Within("volume downsample"));
  return RunVolumePlan(context,
                       {.verb = "downsample", .volume = request->volume, .adds = true},
                       PlanDownsample(*request));
}

ExitStatus RunVolumeTranscode(Context& context) {
  const auto request = MakeTranscode(context);
  if (!request) return context.FailLocation(request.error().Within("volume transcode"));
  bool is_damaged = false;
  RunOptions options;
  options.writer = context.writer_options();
  const auto plan = PlanTranscode(*request, options, [&](const Finding& finding) {
    is_damaged = is_damaged || finding.severity == Severity::kError;
    context.ReportFinding(finding);
  });
  // What was damaged has been shown, finding by finding.
  if (!plan && is_damaged) return ExitStatus::kBad;
  return RunVolumePlan(context, {.verb = "transcode", .volume = request->target}, plan);
}

}  // namespace dolium::cli
