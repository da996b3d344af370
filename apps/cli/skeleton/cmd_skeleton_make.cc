// skeleton make: a plan, printed or carried out.
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/findings.h"
#include "cli/objects/object_arguments.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "cli/volume/export_arguments.h"
#include "cli/volume/volume_arguments.h"
#include "dolium/ops/job/plan.h"
#include "dolium/ops/skeleton/skeleton_make.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::cli {
namespace {

constexpr uint64_t kTracingMemory = uint64_t{2} << 30;

// Leaves `number` as it is if the option is not given.
Result<void> NumberOption(const Arguments& arguments, std::string_view option,
                          double& number) {
  const auto text = arguments.Get(option);
  if (!text) return {};
  const char* const end = text->data() + text->size();
  double found = 0;
  const auto [stop, problem] = std::from_chars(text->data(), end, found);
  if (problem != std::errc() || stop != end || !(found >= 0)) {
    return InvalidArgument(
        fmt::format("--{}: \"{}\" is not a number such as 1.5", option, *text));
  }
  number = found;
  return {};
}

Result<skeleton::SkeletonMakeRequest> SkeletonRequestOf(const Context& context) {
  const Arguments& arguments = context.arguments;
  skeleton::SkeletonMakeRequest request;
  request.volume = arguments[0];
  if (arguments.positionals().size() > 1) request.target = arguments[1];
  DOLIUM_TRY(request.exported, ExportOptionsOf(context));
  if (arguments.Has("scale")) {
    DOLIUM_TRY(const Location location, ParseLocation(request.volume));
    DOLIUM_TRY(const volume::Volume volume,
               OpenVolume(location, {.exported = request.exported}));
    DOLIUM_TRY(request.scale, ScaleOption(arguments, volume.info()));
  }
  DOLIUM_TRY_VOID(NumberOption(arguments, "cover", request.teasar.scale));
  DOLIUM_TRY_VOID(NumberOption(arguments, "cover-length", request.teasar.constant));
  DOLIUM_TRY_VOID(NumberOption(arguments, "dust", request.dust));
  DOLIUM_TRY_VOID(NumberOption(arguments, "tick", request.tick));
  request.cross_sections = arguments.Has("cross-sections");
  request.min_voxels = arguments.Number("min-voxels", request.min_voxels);
  DOLIUM_TRY(request.segments, IdsOf(context, 0, 0));
  request.sharded = arguments.Has("sharded");
  request.force = arguments.Has("force");
  return request;
}

void ShowTraced(Context& context, const skeleton::SkeletonMakeChoice& choice,
                const JobReport& report) {
  const WriteSummary& written = report.written;
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary",
                              {{"target", choice.target},
                               {"registered", choice.is_registered},
                               {"scale", choice.scale},
                               {"resolution", choice.resolution},
                               {"skeletons", written.entries},
                               {"stored_bytes", written.stored_bytes},
                               {"objects", written.objects},
                               {"parts", report.parts},
                               {"parts_done_before", report.parts_done_before}});
    return;
  }
  std::string line = fmt::format(
      "{}: {} of scale {} ({} nm) in {}, {}", choice.target,
      FormatCount(written.entries, "skeleton"), choice.scale, ToText(choice.resolution),
      FormatCount(written.objects, "object"), FormatSize(written.stored_bytes));
  if (report.parts_done_before > 0) {
    line += fmt::format("; {} of {} parts were done before",
                        FormatCount(report.parts_done_before), FormatCount(report.parts));
  }
  line += BeginningsText(report);
  context.terminal.Line(line);
}

}  // namespace

ExitStatus RunSkeletonMake(Context& context) {
  const auto request = SkeletonRequestOf(context);
  if (!request) {
    return context.FailLocation(Error(request.error()).Within("skeleton make"));
  }
  RunOptions options;
  options.writer = context.writer_options();
  options.writer.memory = context.arguments.Number("memory", kTracingMemory);
  if (context.arguments.Has("plan")) {
    const auto plan = PlanSkeletonMake(*request, options);
    if (!plan) return context.FailLocation(plan.error());
    return context.ShowTasks(*plan);
  }
  skeleton::SkeletonMakeChoice choice;
  options.progress = context.terminal.StartProgress("skeleton make");
  const auto report = MakeSkeletonsOf(
      *request, options,
      [&](const skeleton::SkeletonMakeChoice& chosen) { choice = chosen; });
  context.terminal.EndProgress();
  if (!report && report.error().code == ErrorCode::kCancelled) {
    return context.Fail(Cancelled("stopped on request; the same command resumes"));
  }
  if (!report) return context.FailLocation(report.error());
  if (!context.arguments.Has("no-summary")) ShowTraced(context, choice, *report);
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
