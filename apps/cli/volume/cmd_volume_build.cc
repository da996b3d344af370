// volume ingest, downsample, transcode: each a plan, printed or carried out.
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/findings.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "cli/volume/export_arguments.h"
#include "cli/volume/volume_arguments.h"
#include "dolium/domain/volume/arrays/number_type.h"
#include "dolium/domain/volume/grid.h"
#include "dolium/ops/job/plan.h"
#include "dolium/ops/volume/volume_drop.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium::cli {
namespace {

// What is made, for people.
struct Subject {
  std::string_view verb;  // "ingest"
  std::string volume;     // as the user names it
  std::string_view scale = "scale";
  std::string_view nothing = {};  // what is said if there is nothing to do
};

void ShowSummary(Context& context, const Subject& subject, const Plan& plan,
                 const JobReport& report) {
  const WriteSummary& written = report.written;
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary", {{"target", subject.volume},
                                          {"scales", plan.scales},
                                          {"chunks", written.entries},
                                          {"value_bytes", written.value_bytes},
                                          {"stored_bytes", written.stored_bytes},
                                          {"objects", written.objects},
                                          {"parts", report.parts},
                                          {"parts_done_before", report.parts_done_before},
                                          {"skipped", report.skipped.size()}});
    return;
  }
  if (plan.folder.empty()) {
    context.terminal.Line(fmt::format("{}: {}", subject.volume, subject.nothing));
    return;
  }
  std::string line = fmt::format(
      "{}: {}, {} in {}, {}", subject.volume, FormatCount(plan.scales, subject.scale),
      FormatCount(written.entries, "chunk"), FormatCount(written.objects, "object"),
      FormatSize(written.stored_bytes));
  if (report.parts_done_before > 0) {
    line += fmt::format("; {} of {} parts were done before",
                        FormatCount(report.parts_done_before), FormatCount(report.parts));
  }
  if (!report.skipped.empty()) {
    line += fmt::format("; {} damaged left out", FormatCount(report.skipped.size()));
  }
  line += BeginningsText(report);
  context.terminal.Line(line);
}

using PlanFunction = std::function<Result<Plan>(bool again, const RunOptions& options)>;

// Prints the plan, or carries it out, as --plan says. `is_shown`: whether the damage that
// it fails for has been shown, finding by finding.
ExitStatus RunVolumePlan(Context& context, const Subject& subject,
                         const PlanFunction& make, const bool& is_shown) {
  RunOptions options;
  options.writer = context.writer_options();
  const auto fail = [&](const Error& error) {
    return is_shown ? ExitStatus::kBad : context.FailLocation(error);
  };
  if (context.arguments.Has("plan")) {
    const auto plan = make(/*again=*/false, options);
    if (!plan) return fail(plan.error());
    return context.ShowTasks(*plan);
  }
  options.progress = context.terminal.StartProgress(std::string(subject.verb));
  Plan plan;
  const auto report = PlanAndRun(
      context.formats,
      [&](bool again) -> Result<Plan> {
        DOLIUM_TRY(plan, make(again, options));
        return plan;
      },
      options);
  context.terminal.EndProgress();
  if (!report && report.error().code == ErrorCode::kCancelled) {
    return context.Fail(Cancelled("stopped on request; the same command resumes"));
  }
  if (!report) return fail(report.error());
  const ExitStatus status = ReportSkipped(context, report->skipped);
  if (!context.arguments.Has("no-summary")) ShowSummary(context, subject, plan, *report);
  return status;
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
  DOLIUM_TRY(request.pyramid, PyramidOptions(arguments));
  if (request.pyramid.scales) --*request.pyramid.scales;
  request.force = arguments.Has("force");
  return request;
}

Result<volume::DownsampleRequest> MakeDownsample(const Context& context) {
  const Arguments& arguments = context.arguments;
  volume::DownsampleRequest request;
  request.volume = arguments[0];
  if (arguments.Has("from")) request.from = arguments.Number("from", 0);
  DOLIUM_TRY(request.pyramid, PyramidOptions(arguments));
  std::swap(request.total_scales, request.pyramid.scales);
  request.rebuild = arguments.Has("rebuild");
  request.skip_damaged = arguments.Has("skip-damaged");
  if (request.rebuild) {
    for (const std::string_view option :
         {"scales", "factor", "chunk-size", "encoding", "shard-size", "to-spec",
          "unsharded", "gzip", "sharded"}) {
      if (!arguments.Has(option)) continue;
      return InvalidArgument(fmt::format(
          "--{} contradicts --rebuild, which leaves the scales as they are stored",
          option));
    }
  }
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
  request.skip_damaged = request.exported.salvage;
  DOLIUM_TRY(request.storage, StorageOptions(context));
  DOLIUM_TRY(request.sharded, ShardedOption(arguments));
  request.force = arguments.Has("force");
  return request;
}

// A scale to be dropped: its number, or its resolution as in 16,16,40.
Result<volume::ScaleName> ParseScaleName(std::string_view text) {
  if (const auto resolution = ParseResolution(text))
    return volume::ScaleName(*resolution);
  if (const auto index = ParseWholeNumber(text)) {
    return volume::ScaleName(static_cast<size_t>(*index));
  }
  return InvalidArgument(fmt::format(
      "\"{}\" is not the number of a scale, nor a resolution as in 16,16,40", text));
}

}  // namespace

ExitStatus RunVolumeDropScale(Context& context) {
  const Arguments& arguments = context.arguments;
  volume::DropScalesRequest request;
  request.volume = arguments[0];
  request.force = arguments.Has("force");
  for (size_t i = 1; i < arguments.positionals().size(); ++i) {
    const auto name = ParseScaleName(arguments[i]);
    if (!name) return context.Fail(name.error().Within("volume drop-scale"));
    request.scales.push_back(*name);
  }
  const auto dropped = DropScales(request);
  if (!dropped) return context.FailLocation(dropped.error());
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary", {{"target", request.volume},
                                          {"dropped", dropped->keys},
                                          {"scales", dropped->scales}});
  } else {
    context.terminal.Line(fmt::format("{}: dropped {}; {} left", request.volume,
                                      fmt::join(dropped->keys, ", "),
                                      FormatCount(dropped->scales, "scale")));
  }
  return ExitStatus::kGood;
}

ExitStatus RunVolumeIngest(Context& context) {
  auto request = MakeIngest(context);
  if (!request) return context.FailLocation(request.error().Within("volume ingest"));
  return RunVolumePlan(
      context, {.verb = "ingest", .volume = request->target},
      [&](bool again, const RunOptions&) {
        request->force |= again;
        return PlanIngest(*request);
      },
      /*is_shown=*/false);
}

ExitStatus RunVolumeDownsample(Context& context) {
  auto request = MakeDownsample(context);
  if (!request) return context.FailLocation(request.error().Within("volume downsample"));
  Subject subject{.verb = "downsample",
                  .volume = request->volume,
                  .scale = "new scale",
                  .nothing = "no scale to add"};
  if (request->rebuild) {
    subject.scale = "rebuilt scale";
    subject.nothing = "no scale to rebuild";
  }
  return RunVolumePlan(
      context, subject,
      [&](bool again, const RunOptions&) {
        request->force |= again;
        return PlanDownsample(*request);
      },
      /*is_shown=*/false);
}

ExitStatus RunVolumeTranscode(Context& context) {
  auto request = MakeTranscode(context);
  if (!request) return context.FailLocation(request.error().Within("volume transcode"));
  bool is_damaged = false;
  FindingPrinter findings(context, FindingPrinter::Output::kReports);
  return RunVolumePlan(
      context, {.verb = "transcode", .volume = request->target},
      [&](bool again, const RunOptions& options) {
        request->force |= again;
        auto plan = PlanTranscode(*request, options, [&](const Finding& finding) {
          is_damaged = is_damaged || finding.severity == Severity::kError;
          findings.Add(finding);
        });
        findings.Finish();
        return plan;
      },
      is_damaged);
}

}  // namespace dolium::cli
