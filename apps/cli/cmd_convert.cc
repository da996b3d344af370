#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/ops/convert.h"

namespace dolium::cli {
namespace {

// kInvalidArgument if an option was given that is not for this target.
Result<void> RefuseOptionsOfOthers(const Context& context, const std::string& to) {
  if (!to.empty() && std::ranges::find(kVoxelTargets, to) == kVoxelTargets.end()) {
    DOLIUM_TRY([[maybe_unused]] const Format* const format,
               FindFormat(context.formats, to));
  }
  const std::vector<Option>& options = FindVerb("convert")->options;
  for (const Option& option : options) {
    if (!context.arguments.Has(option.name)) continue;
    const bool fits = std::ranges::any_of(options, [&](const Option& other) {
      return other.name == option.name && IsFor(other, to);
    });
    if (fits) continue;
    const std::string_view first = option.targets.substr(0, option.targets.find(' '));
    return InvalidArgument(fmt::format("convert: --{} means nothing {} --to {}",
                                       option.name, to.empty() ? "without" : "with",
                                       to.empty() ? first : to));
  }
  return {};
}

Result<ConvertRequest> MakeRequest(const Context& context) {
  const Arguments& arguments = context.arguments;
  ConvertRequest request;
  request.source = arguments[0];
  request.target = arguments[1];
  request.source_format = arguments.Get("format").value_or("");
  request.target_format = arguments.Get("to").value_or("");
  DOLIUM_TRY(request.source_spec, context.ReadSpec("spec"));
  DOLIUM_TRY(request.target_spec, context.ReadSpec("to-spec"));
  for (const Format& format : context.formats) {
    for (const Parameter& parameter : format.parameters) {
      if (auto value = arguments.Get(parameter.name)) {
        request.parameters.emplace(parameter.name, *std::move(value));
      }
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
  const std::string to = context.arguments.Get("to").value_or("");
  const auto refused = RefuseOptionsOfOthers(context, to);
  if (!refused) return context.Fail(refused.error());
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
