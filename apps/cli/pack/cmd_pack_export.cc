// pack extract, export: samples as files again, or in other formats.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/pack/pack_arguments.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/domain/dataset/imports/kinds.h"
#include "dolium/ops/pack/pack_export.h"

namespace dolium::cli {
namespace {

using dataset::ExportSummary;

void ShowSummary(const Context& context, const std::string& target,
                 const ExportSummary& summary) {
  if (context.arguments.Has("no-summary")) return;
  if (context.terminal.json()) {
    context.terminal.JsonLine(
        "summary", {{"target", target},
                    {"samples", summary.samples},
                    {"files", summary.files},
                    {"bytes", summary.bytes},
                    {"metadata_left_out", summary.metadata_left_out},
                    {"file_metadata_left_out", summary.file_metadata_left_out},
                    {"content_types_left_out", summary.content_types_left_out}});
    return;
  }
  const auto count = [](uint64_t number, std::string_view word) {
    return fmt::format("{} {}{}", FormatCount(number), word, number == 1 ? "" : "s");
  };
  context.terminal.Line(
      fmt::format("{}: {}, {}, {}", target, count(summary.samples, "sample"),
                  count(summary.files, "file"), FormatSize(summary.bytes)));
}

// What the target has no place for is said, whether or not a summary is wanted. JSON has
// it in the summary.
void WarnOfLeftOut(const Context& context, const std::string& target,
                   const ExportSummary& summary) {
  const auto warn = [&](uint64_t number, std::string_view what, std::string_view of) {
    if (number == 0 || context.terminal.json()) return;
    context.terminal.Report(InvalidArgument(
        fmt::format("{}: warning: no place there for the {} of {} {}{}: left out", target,
                    what, FormatCount(number), of, number == 1 ? "" : "s")));
  };
  warn(summary.metadata_left_out, "metadata", "sample");
  warn(summary.file_metadata_left_out, "metadata", "file");
  warn(summary.content_types_left_out, "content type", "file");
}

// Where samples go: kInvalidArgument for standard output, if they are several files
// there.
Result<PackTarget> TargetOf(const Context& context, const std::string& target,
                            std::string_view kind) {
  std::string_view suffix;
  for (const dataset::SampleKind& row : dataset::SampleKinds()) {
    if (row.name == kind) suffix = row.suffix;
  }
  if (target == "-" && suffix.empty()) {
    return InvalidArgument(fmt::format(
        "-: {} makes several files, and standard output takes one; name a folder", kind));
  }
  constexpr std::string_view kManifest[] = {"manifest"};
  return PackTarget::Make(context, target, fmt::format("made{}", suffix), kManifest);
}

// Does the work of one verb.
ExitStatus RunExport(Context& context, std::string_view label,
                     const std::vector<std::string>& references,
                     dataset::ExportRequest request) {
  const auto target = TargetOf(context, request.target, request.kind);
  if (!target) {
    return context.Fail(target.error().Within(fmt::format("pack {}", label)));
  }
  request.target = target->path();
  const Arguments& arguments = context.arguments;
  const auto set = OpenSet(references);
  if (!set) return context.FailLocation(set.error());
  const auto selection = SelectionOf(context);
  if (!selection) {
    return context.FailLocation(selection.error().Within(fmt::format("pack {}", label)));
  }
  const auto numbers = SelectSamples(**set, *selection);
  if (!numbers) return context.Fail(numbers.error());
  request.references = references;
  request.options.force = arguments.Has("force");
  request.options.manifest = arguments.Has("manifest");
  request.options.layout = arguments.Has("stem") ? dataset::FolderLayout::kStem
                                                 : dataset::FolderLayout::kDirectory;
  request.jobs = context.jobs();
  request.memory = arguments.Number("memory", request.memory);
  request.stop = context.stop;
  if (arguments.Has("plan")) {
    const auto plan = PlanExport(**set, *numbers, request);
    if (!plan) return context.FailLocation(plan.error());
    return context.ShowTasks(*plan);
  }
  request.progress = context.terminal.StartProgress(std::string(label));
  const Result<ExportSummary> summary = ExportSamples(**set, *numbers, request);
  context.terminal.EndProgress();
  if (!summary) return FailPackJob(context, *target, summary.error());
  if (const auto sent = target->Send(context); !sent) return context.Fail(sent.error());
  WarnOfLeftOut(context, target->name(), *summary);
  ShowSummary(context, target->name(), *summary);
  return ExitStatus::kGood;
}

}  // namespace

ExitStatus RunPackExtract(Context& context) {
  const Arguments& arguments = context.arguments;
  if (arguments.Has("stem") && arguments.Has("dir")) {
    return context.Fail(InvalidArgument("pack extract: --stem contradicts --dir"));
  }
  return RunExport(
      context, "extract", arguments.positionals(),
      {.kind = "folder", .target = arguments.Get("output").value_or("."), .options = {}});
}

ExitStatus RunPackExport(Context& context) {
  const Arguments& arguments = context.arguments;
  const auto kind = KindOption(context, "to");
  if (!kind) return context.Fail(kind.error().Within("pack export"));
  if (arguments.Has("plan") && *kind != "folder") {
    return context.Fail(Unsupported(
        "pack export: --plan: which files there will be is known only when all samples "
        "have been written, so that there are no tasks; run it without, and again if it "
        "is cut short: it goes on behind the last file that is complete"));
  }
  dataset::SampleExportOptions options;
  options.shard_bytes = arguments.Number("shard-size", 0);
  options.shard_samples = arguments.Number("shard-records", 0);
  options.gzip = arguments.Has("gzip");
  options.dot_replacement = arguments.Get("replace-dots").value_or("");
  options.keys = !arguments.Has("no-keys");
  return RunExport(context, "export", {arguments[0]},
                   {.kind = *kind, .target = arguments[1], .options = options});
}

}  // namespace dolium::cli
