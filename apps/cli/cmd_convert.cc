#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "cli/volume/export_arguments.h"
#include "dolium/ops/convert.h"

namespace dolium::cli {
namespace {

// Options that belong to the target's format.
constexpr std::string_view kParameters[] = {
    "shard-size",     "hash",       "preshift-bits",
    "minishard-bits", "shard-bits", "minishard-index-encoding",
    "data-encoding",
};

// Options that belong to the voxels of exports and volumes.
constexpr std::string_view kOfVoxels[] = {
    "labels",  "supervoxels", "spec",   "resolution", "coordinates",
    "salvage", "downsample",  "layout", "csv",        "shard-side",
};

Result<ConvertRequest> MakeRequest(const Context& context) {
  const Arguments& arguments = context.arguments;
  DOLIUM_TRY_VOID(
      RefuseOptions(arguments, kOfVoxels, "without --to precomputed or --to dvid")
          .Within("convert"));
  ConvertRequest request;
  request.source = arguments[0];
  request.target = arguments[1];
  request.source_format = arguments.Get("format").value_or("");
  request.target_format = arguments.Get("to").value_or("");
  DOLIUM_TRY(request.source_spec, context.ReadSpec("from-sharding"));
  DOLIUM_TRY(request.target_spec, context.ReadSpec("sharding"));
  for (const std::string_view name : kParameters) {
    if (auto value = arguments.Get(name)) {
      request.parameters.emplace(name, *std::move(value));
    }
  }
  request.force = arguments.Has("force");
  request.skip_damaged = arguments.Has("skip-damaged");
  request.allow_unfinished = arguments.Has("unfinished");
  return request;
}

ExitStatus PrintPlan(Context& context, const ConvertRequest& request,
                     const RunOptions& options) {
  const auto plan = PlanConvert(context.formats, request, options);
  context.terminal.EndProgress();
  if (!plan) return context.FailLocation(plan.error());
  for (const std::string& task : plan->tasks) context.terminal.Line(task);
  return ExitStatus::kGood;
}

void ShowSummary(Context& context, const ConvertReport& report) {
  const WriteSummary& written = report.written;
  if (context.terminal.json()) {
    context.terminal.JsonLine({{"type", "summary"},
                               {"target", context.arguments[1]},
                               {"entries", written.entries},
                               {"value_bytes", written.value_bytes},
                               {"stored_bytes", written.stored_bytes},
                               {"objects", written.objects},
                               {"parts", report.parts},
                               {"parts_done_before", report.parts_done_before},
                               {"skipped", report.skipped.size()}});
    return;
  }
  std::string line = fmt::format(
      "{}: {} {} in {} {}, {}", context.arguments[1], FormatCount(written.entries),
      written.entries == 1 ? "entry" : "entries", FormatCount(written.objects),
      written.objects == 1 ? "object" : "objects", FormatSize(written.stored_bytes));
  if (report.parts_done_before > 0) {
    line += fmt::format("; {} of {} parts were done before",
                        FormatCount(report.parts_done_before), FormatCount(report.parts));
  }
  if (!report.skipped.empty()) {
    line += fmt::format("; {} damaged left out", FormatCount(report.skipped.size()));
  }
  context.terminal.Line(line);
}

}  // namespace

ExitStatus RunConvert(Context& context) {
  const auto to = context.arguments.Get("to");
  if (to == "precomputed") return RunConvertToVolume(context);
  if (to == "dvid") return RunConvertToDvid(context);
  const auto request = MakeRequest(context);
  if (!request) return context.FailLocation(request.error());
  const bool plan = context.arguments.Has("plan");
  RunOptions options;
  options.writer = context.writer_options();
  options.progress = context.terminal.StartProgress(plan ? "plan" : "convert");
  if (plan) return PrintPlan(context, *request, options);

  const auto report = Convert(context.formats, *request, options);
  context.terminal.EndProgress();
  if (!report && report.error().code == ErrorCode::kCancelled) {
    return context.Fail(Cancelled("stopped on request; the same command resumes"));
  }
  if (!report) return context.FailLocation(report.error());
  for (const Finding& finding : report->skipped) context.ReportSkipped(finding);
  if (!context.arguments.Has("no-summary")) ShowSummary(context, *report);
  return report->skipped.empty() ? ExitStatus::kGood : ExitStatus::kBad;
}

}  // namespace dolium::cli
