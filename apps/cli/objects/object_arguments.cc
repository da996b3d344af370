#include "cli/objects/object_arguments.h"

#include <fmt/format.h>

#include "cli/findings.h"
#include "cli/terminal/size.h"

namespace dolium::cli {
namespace {

constexpr uint64_t kMaxIdsFile = uint64_t{1} << 32;

}  // namespace

Result<std::optional<std::vector<uint64_t>>> IdsOf(const Context& context, size_t begin,
                                                   size_t end) {
  const auto file = context.arguments.Get("segments");
  if (begin == end && !file) return std::nullopt;
  std::vector<uint64_t> ids;
  for (size_t i = begin; i < end; ++i) {
    const std::string& word = context.arguments[i];
    const auto some = ParseIds(word);
    if (!some || some->empty()) {
      return InvalidArgument(
          fmt::format("found \"{}\", expected the id of a segment", word));
    }
    ids.insert(ids.end(), some->begin(), some->end());
  }
  if (file) {
    DOLIUM_TRY(const Bytes text, context.ReadFile(*file, kMaxIdsFile));
    auto some = ParseIds(AsText(text));
    if (!some) return std::move(some).error().Within(*file);
    ids.insert(ids.end(), some->begin(), some->end());
  }
  return std::optional(std::move(ids));
}

Result<NewObjectsOptions> NewObjectsOf(const Context& context) {
  const Arguments& arguments = context.arguments;
  NewObjectsOptions options;
  if (arguments.Has("sharded") && arguments.Has("legacy")) {
    return InvalidArgument("--sharded and --legacy exclude each other");
  }
  if (arguments.Has("sharded")) options.storage = ObjectStorageKind::kSharded;
  if (arguments.Has("legacy")) options.storage = ObjectStorageKind::kLegacy;
  options.force = arguments.Has("force");
  const uint64_t bits = arguments.Number("bits", options.bits);
  if (bits != 10 && bits != 16) {
    return InvalidArgument(fmt::format("--bits is {}, expected 10 or 16", bits));
  }
  options.bits = static_cast<unsigned>(bits);
  options.keep_types = arguments.Has("keep-types");
  options.register_in_volume = arguments.Has("register");
  options.writer = context.writer_options();
  return options;
}

ExitStatus ListIdsOf(Context& context, const std::vector<uint64_t>& ids) {
  for (const uint64_t id : ids) {
    if (!context.terminal.ok()) break;
    if (context.terminal.json()) {
      context.terminal.JsonLine("object", {{"id", id}});
    } else {
      context.terminal.Line(std::to_string(id));
    }
  }
  return ExitStatus::kGood;
}

ExitStatus WriteObject(Context& context, uint64_t id, const std::string& file,
                       const Result<std::optional<ByteVector>>& bytes) {
  if (!bytes) return context.Fail(bytes.error());
  if (!*bytes) return context.Fail(NotFound(fmt::format("no object of segment {}", id)));
  const auto written = context.WriteFile(file, **bytes);
  if (!written) return context.FailLocation(written.error());
  if (file != "-" && context.terminal.json()) {
    context.terminal.JsonLine("written",
                              {{"file", file}, {"id", id}, {"size", (*bytes)->size()}});
  }
  return ExitStatus::kGood;
}

ExitStatus RunObjectExport(Context& context, const ObjectExporter& exporter) {
  const size_t count = context.arguments.positionals().size();
  const std::string& target = context.arguments[count - 1];
  auto ids = IdsOf(context, 1, count - 1);
  if (!ids) return context.FailLocation(ids.error());
  if (!*ids) {
    auto listed = exporter.list();
    if (!listed) return context.FailLocation(listed.error());
    *ids = *std::move(listed);
  }
  const bool is_file =
      target == "-" || target.ends_with(fmt::format(".{}", exporter.ending));
  if (is_file) {
    if ((*ids)->size() != 1) {
      return context.Fail(InvalidArgument(fmt::format(
          "{}: one file takes one object, {} were asked for", target, (*ids)->size())));
    }
    return WriteObject(context, (*ids)->front(), target, exporter.make((*ids)->front()));
  }
  const auto folder = ParseLocation(target);
  if (!folder) return context.FailLocation(folder.error());
  ExportObjectsOptions options;
  options.force = context.arguments.Has("force");
  options.jobs = context.jobs();
  options.stop = context.stop;
  options.progress = context.terminal.StartProgress("export");
  FindingPrinter findings(context, FindingPrinter::Output::kReports);
  const auto report = exporter.to_folder(
      **ids, *folder, options, [&](const Finding& finding) { findings.Add(finding); });
  if (!report) return context.FailLocation(report.error());
  context.terminal.EndProgress();
  findings.Finish();
  if (!context.arguments.Has("no-summary")) {
    if (context.terminal.json()) {
      context.terminal.JsonLine("summary", {{"target", target},
                                            {"files", report->files},
                                            {"bytes", report->bytes},
                                            {"missing", report->missing},
                                            {"damaged", report->damaged},
                                            {"dropped_edges", report->dropped_edges}});
    } else {
      std::string line =
          fmt::format("{}: {}, {}", target, FormatCount(report->files, "file"),
                      FormatSize(report->bytes));
      if (report->dropped_edges > 0) {
        line += fmt::format("; left out {} that close loops",
                            FormatCount(report->dropped_edges, "edge"));
      }
      context.terminal.Line(line);
    }
  }
  return report->missing + report->damaged > 0 ? ExitStatus::kBad : ExitStatus::kGood;
}

ExitStatus FinishImport(Context& context, const Result<WriteSummary>& written,
                        std::string_view object) {
  context.terminal.EndProgress();
  if (!written) return context.FailLocation(written.error());
  if (context.arguments.Has("no-summary")) return ExitStatus::kGood;
  const std::string& target = context.arguments.positionals().back();
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary", {{"target", target},
                                          {Plural(object), written->entries},
                                          {"stored_bytes", written->stored_bytes},
                                          {"objects", written->objects}});
  } else {
    context.terminal.Line(fmt::format(
        "{}: {} in {}, {}", target, FormatCount(written->entries, object),
        FormatCount(written->objects, "object"), FormatSize(written->stored_bytes)));
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
