#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/findings.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/ops/convert.h"
#include "dolium/ops/source/kinds.h"
#include "dolium/ops/write_voxels.h"

namespace dolium::cli {
namespace {

// The format of the target that --to names, or --sharded or --unsharded; empty: the
// source's.
Result<std::string> ConvertTargetOf(const Arguments& arguments) {
  std::vector<std::string_view> given;
  for (const std::string_view name : {"to", "sharded", "unsharded"}) {
    if (arguments.Has(name)) given.push_back(name);
  }
  if (given.size() > 1) {
    return InvalidArgument(
        fmt::format("convert: --{} and --{} exclude each other", given[0], given[1]));
  }
  if (arguments.Has("sharded")) return std::string(kShardedStorage);
  if (arguments.Has("unsharded")) return std::string(kUnshardedStorage);
  return arguments.Get("to").value_or("");
}

// kInvalidArgument if an option was given that is not for this target.
Result<void> RefuseOptionsOfOthers(const Context& context, const std::string& to) {
  if (!to.empty() && FindVoxelTarget(to) == nullptr) {
    DOLIUM_TRY([[maybe_unused]] const Format* const format,
               FindTargetFormat(context.formats, to));
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

// The parameters of all targets that were given.
std::map<std::string, std::string> ParametersOf(const Context& context) {
  std::map<std::string, std::string> parameters;
  const auto take = [&](const Parameter& parameter) {
    if (auto value = context.arguments.Get(parameter.name)) {
      parameters.emplace(parameter.name, *std::move(value));
    }
  };
  for (const Format& format : context.formats) {
    std::ranges::for_each(format.parameters, take);
  }
  std::ranges::for_each(VoxelParameters(), take, &VoxelParameter::parameter);
  return parameters;
}

// kInvalidArgument for options of which one makes the other senseless.
Result<void> RefuseContradictions(const ConvertRequest& request) {
  const VoxelTarget* const target = FindVoxelTarget(request.target_format);
  if (target == nullptr) return {};
  const VoxelExclusion* const found = FindExclusion(*target, request.parameters);
  if (found == nullptr) return {};
  if (found->value.empty()) {
    return InvalidArgument(fmt::format("convert: --{} and --{} exclude each other",
                                       found->name, found->other));
  }
  return InvalidArgument(fmt::format("convert: --{} means nothing with --{} {}",
                                     found->name, found->other, found->value));
}

Result<ConvertRequest> MakeRequest(const Context& context) {
  const Arguments& arguments = context.arguments;
  ConvertRequest request;
  request.source = arguments[0];
  request.target = arguments[1];
  request.source_format = arguments.Get("format").value_or("");
  DOLIUM_TRY(request.target_format, ConvertTargetOf(arguments));
  DOLIUM_TRY(request.source_spec, context.ReadSpec("spec"));
  DOLIUM_TRY(request.target_spec, context.ReadSpec("to-spec"));
  request.parameters = ParametersOf(context);
  DOLIUM_TRY_VOID(RefuseContradictions(request));
  request.force = arguments.Has("force");
  request.skip_damaged = arguments.Has("skip-damaged");
  request.allow_unfinished = arguments.Has("unfinished");
  return request;
}

void ShowSummary(Context& context, const ConvertReport& report) {
  const WriteSummary& written = report.written;
  const Arguments& arguments = context.arguments;
  const VoxelTarget* const voxels = FindVoxelTarget(arguments.Get("to").value_or(""));
  const std::string_view entry = voxels != nullptr ? voxels->entry : "entry";
  if (context.terminal.json()) {
    Json line = {{"target", arguments[1]}};
    if (report.scales > 0) line["scales"] = report.scales;
    line[Plural(entry)] = written.entries;
    line["value_bytes"] = written.value_bytes;
    line["stored_bytes"] = written.stored_bytes;
    line["objects"] = written.objects;
    line["parts"] = report.parts;
    line["parts_done_before"] = report.parts_done_before;
    line["skipped"] = report.skipped.size();
    context.terminal.JsonLine("summary", line);
    return;
  }
  std::string line = arguments[1] + ": ";
  if (report.scales > 0) {
    line += fmt::format("{} of {}, ", FormatCount(report.scales, "scale"),
                        LabelsOf(ParametersOf(context)));
  }
  line += fmt::format("{} in {}, {}", FormatCount(written.entries, entry),
                      FormatCount(written.objects, "object"),
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

}  // namespace

ExitStatus RunConvert(Context& context) {
  const auto target = ConvertTargetOf(context.arguments);
  if (!target) return context.Fail(target.error());
  const auto refused = RefuseOptionsOfOthers(context, *target);
  if (!refused) return context.Fail(refused.error());
  const auto request = MakeRequest(context);
  if (!request) return context.FailLocation(request.error());
  const auto readable = context.RefuseStandardInput(request->source);
  if (!readable) return context.Fail(readable.error());
  const bool is_plan = context.arguments.Has("plan");
  RunOptions options;
  options.writer = context.writer_options();
  options.progress = context.terminal.StartProgress(is_plan ? "plan" : "convert");
  bool is_damaged = false;
  FindingPrinter findings(context, FindingPrinter::Output::kReports);
  const auto show = [&](const Finding& finding) {
    is_damaged = is_damaged || finding.severity == Severity::kError;
    findings.Add(finding);
  };
  // What was damaged has been shown, finding by finding.
  const auto fail = [&](const Error& error) {
    context.terminal.EndProgress();
    return is_damaged ? ExitStatus::kBad : context.FailLocation(error);
  };
  if (is_plan) {
    const auto plan = PlanConvert(context.formats, *request, options, show);
    if (!plan) return fail(plan.error());
    context.terminal.EndProgress();
    return context.ShowTasks(*plan);
  }
  const auto report = Convert(context.formats, *request, options, show);
  if (!report && report.error().code == ErrorCode::kCancelled) {
    return context.Fail(Cancelled("stopped on request; the same command resumes"));
  }
  if (!report) return fail(report.error());
  context.terminal.EndProgress();
  findings.Finish();
  FindingPrinter skipped(context, FindingPrinter::Output::kReports, "left out: ");
  for (const Finding& finding : report->skipped) {
    // Warnings were shown when they were found.
    if (finding.severity == Severity::kError) skipped.Add(finding);
  }
  skipped.Finish();
  if (!context.arguments.Has("no-summary")) ShowSummary(context, *report);
  return report->skipped.empty() ? ExitStatus::kGood : ExitStatus::kBad;
}

}  // namespace dolium::cli
