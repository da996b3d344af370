// mesh make: a plan, printed or carried out.
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
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
#include "dolium/ops/mesh/mesh_make.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::cli {
namespace {

constexpr uint64_t kDefaultMemory = uint64_t{1} << 30;

Result<std::optional<double>> ErrorOption(const Arguments& arguments) {
  const auto text = arguments.Get("error");
  if (!text) return std::nullopt;
  double error = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, problem] = std::from_chars(text->data(), end, error);
  if (problem != std::errc() || stop != end || !(error >= 0)) {
    return InvalidArgument(
        fmt::format("--error: \"{}\" is not a length in nanometres such as 40", *text));
  }
  return error;
}

Result<mesh::MeshMakeRequest> MakeMeshRequest(const Context& context) {
  const Arguments& arguments = context.arguments;
  mesh::MeshMakeRequest request;
  request.volume = arguments[0];
  if (arguments.positionals().size() > 1) request.target = arguments[1];
  DOLIUM_TRY(request.exported, ExportOptionsOf(context));
  if (arguments.Has("scale")) {
    DOLIUM_TRY(const Location location, ParseLocation(request.volume));
    DOLIUM_TRY(const volume::Volume volume,
               OpenVolume(location, {.exported = request.exported}));
    DOLIUM_TRY(request.scale, ScaleOption(arguments, volume.info()));
  }
  DOLIUM_TRY(request.error, ErrorOption(arguments));
  if (arguments.Has("lods")) {
    request.levels = static_cast<unsigned>(std::min<uint64_t>(
        arguments.Number("lods", 0), std::numeric_limits<unsigned>::max()));
  }
  request.bits = static_cast<unsigned>(std::min<uint64_t>(
      arguments.Number("bits", request.bits), std::numeric_limits<unsigned>::max()));
  request.min_voxels = arguments.Number("min-voxels", 0);
  DOLIUM_TRY(request.segments, IdsOf(context, 0, 0));
  request.open = arguments.Has("open");
  request.sharded = arguments.Has("sharded");
  request.force = arguments.Has("force");
  return request;
}

void ShowChoice(Context& context, const mesh::MeshMakeChoice& choice) {
  context.terminal.Line(fmt::format(
      "{}: scale {} ({} nm), error {} nm, {}", choice.target, choice.scale,
      ToText(choice.resolution), choice.error,
      choice.levels == 1 ? "one level of detail"
                         : fmt::format("up to {} levels of detail", choice.levels)));
}

void ShowMade(Context& context, const mesh::MeshMakeChoice& choice,
              const JobReport& report) {
  const WriteSummary& written = report.written;
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary",
                              {{"target", choice.target},
                               {"registered", choice.is_registered},
                               {"scale", choice.scale},
                               {"resolution", choice.resolution},
                               {"error", choice.error},
                               {"lods", choice.levels},
                               {"meshes", written.entries},
                               {"stored_bytes", written.stored_bytes},
                               {"objects", written.objects},
                               {"parts", report.parts},
                               {"parts_done_before", report.parts_done_before}});
    return;
  }
  std::string line = fmt::format(
      "{}: {} in {}, {}", choice.target, FormatCount(written.entries, "mesh"),
      FormatCount(written.objects, "object"), FormatSize(written.stored_bytes));
  if (report.parts_done_before > 0) {
    line += fmt::format("; {} of {} parts were done before",
                        FormatCount(report.parts_done_before), FormatCount(report.parts));
  }
  line += BeginningsText(report);
  context.terminal.Line(line);
}

}  // namespace

ExitStatus RunMeshMake(Context& context) {
  auto request = MakeMeshRequest(context);
  if (!request) return context.FailLocation(request.error().Within("mesh make"));
  RunOptions options;
  options.writer = context.writer_options();
  options.writer.memory = context.arguments.Number("memory", kDefaultMemory);
  if (context.arguments.Has("plan")) {
    const auto plan = PlanMeshMake(*request, options);
    if (!plan) return context.FailLocation(plan.error());
    return context.ShowTasks(*plan);
  }
  const bool is_quiet = context.arguments.Has("no-summary");
  mesh::MeshMakeChoice choice;
  bool is_first = true;
  options.progress = context.terminal.StartProgress("mesh make");
  const auto report =
      MakeMeshes(*request, options, [&](const mesh::MeshMakeChoice& chosen) {
        choice = chosen;
        if (std::exchange(is_first, false) && !is_quiet && !context.terminal.json()) {
          ShowChoice(context, choice);
        }
      });
  context.terminal.EndProgress();
  if (!report && report.error().code == ErrorCode::kCancelled) {
    return context.Fail(Cancelled("stopped on request; the same command resumes"));
  }
  if (!report) return context.FailLocation(report.error());
  if (!is_quiet) ShowMade(context, choice, *report);
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
