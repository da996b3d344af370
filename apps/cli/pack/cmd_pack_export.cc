// pack extract, export: samples as files again, or in other formats.
#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/pack/pack_arguments.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/domain/dataset/imports/folder.h"
#include "dolium/domain/dataset/imports/kinds.h"
#include "dolium/ops/pack/pack_export.h"

namespace dolium::cli {
namespace {

using dataset::ExportSummary;

void ShowSummary(const Context& context, const std::string& target,
                 const ExportSummary& summary) {
  if (context.arguments.Has("no-summary")) return;
  if (context.terminal.json()) {
    context.terminal.JsonLine({{"type", "summary"},
                               {"target", target},
                               {"samples", summary.samples},
                               {"files", summary.files},
                               {"bytes", summary.bytes}});
    return;
  }
  const auto count = [](uint64_t number, std::string_view word) {
    return fmt::format("{} {}{}", FormatCount(number), word, number == 1 ? "" : "s");
  };
  context.terminal.Line(
      fmt::format("{}: {}, {}, {}", target, count(summary.samples, "sample"),
                  count(summary.files, "file"), FormatSize(summary.bytes)));
}

ExitStatus FailExport(Context& context, const Error& error) {
  return context.FailLocation(error);
}

// Does the work of one verb; `work` takes numbers of samples, and options to run with.
template <typename Work>
ExitStatus RunExport(Context& context, std::string_view label,
                     const dataset::SampleSet& set, const std::string& target,
                     const Work& work,
                     ExitStatus (*fail)(Context&, const Error&) = FailExport) {
  const auto selection = SelectionOf(context);
  if (!selection) {
    return context.FailLocation(selection.error().Within(fmt::format("pack {}", label)));
  }
  const auto numbers = SelectSamples(set, *selection);
  if (!numbers) return context.Fail(numbers.error());
  dataset::ExportRequest request;
  request.jobs = context.jobs();
  request.memory = context.arguments.Number("memory", request.memory);
  request.stop = context.stop;
  request.progress = context.terminal.StartProgress(std::string(label));
  const Result<ExportSummary> summary = work(*numbers, request);
  context.terminal.EndProgress();
  if (!summary) return fail(context, summary.error());
  ShowSummary(context, target, *summary);
  return ExitStatus::kGood;
}

}  // namespace

ExitStatus RunPackExtract(Context& context) {
  const Arguments& arguments = context.arguments;
  if (arguments.Has("stem") && arguments.Has("dir")) {
    return context.Fail(InvalidArgument("pack extract: --stem contradicts --dir"));
  }
  const auto set = OpenSet(arguments.positionals());
  if (!set) return context.FailLocation(set.error());
  const std::string folder = arguments.Get("output").value_or(".");
  dataset::SampleExportOptions options;
  options.force = arguments.Has("force");
  options.manifest = arguments.Has("manifest");
  options.layout = arguments.Has("stem") ? dataset::FolderLayout::kStem
                                         : dataset::FolderLayout::kDirectory;
  const auto sink = dataset::CreateFolderSink(folder, options);
  if (!sink) return context.FailLocation(sink.error());
  return RunExport(context, "extract", **set, folder,
                   [&](const auto& numbers, const dataset::ExportRequest& request) {
                     return ExportSamples(**set, numbers, **sink, request);
                   });
}

ExitStatus RunPackExport(Context& context) {
  const Arguments& arguments = context.arguments;
  const auto kind = KindOption(context, "to");
  if (!kind) return context.Fail(kind.error().Within("pack export"));
  if (arguments.Has("plan")) {
    return context.Fail(Unsupported(
        "pack export: --plan: which files there will be is known only when all samples "
        "have been written, so that there are no tasks; run it without, and again if it "
        "is cut short: it goes on behind the last file that is complete"));
  }
  const auto set = OpenSet({arguments[0]});
  if (!set) return context.FailLocation(set.error());
  dataset::SampleExportOptions options;
  options.force = arguments.Has("force");
  options.shard_bytes = arguments.Number("shard-size", 0);
  options.shard_samples = arguments.Number("shard-records", 0);
  options.gzip = arguments.Has("gzip");
  options.manifest = arguments.Has("manifest");
  options.layout = arguments.Has("stem") ? dataset::FolderLayout::kStem
                                         : dataset::FolderLayout::kDirectory;
  options.dot_replacement = arguments.Get("replace-dots").value_or("");
  options.keys = !arguments.Has("no-keys");
  if (dataset::IsExportedToFiles(*kind)) {
    dataset::ExportFilesRequest files{.kind = *kind,
                                      .target = arguments[1],
                                      .options = options,
                                      .references = {arguments[0]}};
    return RunExport(
        context, "export", **set, arguments[1],
        [&](const auto& numbers, const dataset::ExportRequest& request) {
          files.run = request;
          return ExportFiles(**set, numbers, files);
        },
        FailPackJob);
  }
  const auto sink = dataset::OpenSampleSink(*kind, arguments[1], options);
  if (!sink) return context.FailLocation(sink.error());
  return RunExport(context, "export", **set, arguments[1],
                   [&](const auto& numbers, const dataset::ExportRequest& request) {
                     return ExportSamples(**set, numbers, **sink, request);
                   });
}

}  // namespace dolium::cli
