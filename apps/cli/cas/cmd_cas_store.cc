// cas init, put, get, rm, export, import.
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "cli/cas/cas_arguments.h"
#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/bytes/store.h"
#include "dolium/domain/cas/exchange.h"
#include "dolium/domain/cas/exclude.h"
#include "dolium/domain/cas/put.h"
#include "dolium/domain/cas/restore.h"
#include "dolium/ops/cas/cas_align.h"
#include "dolium/ops/cas/cas_export.h"

namespace dolium::cli {
namespace {

Result<std::string> NameOf(const Context& context) {
  if (const auto name = context.arguments.Get("name")) return *name;
  const std::vector<std::string>& paths = context.arguments.positionals();
  if (paths.size() != 1 || paths[0] == "-") {
    return InvalidArgument("which name? give --name <name>");
  }
  std::string name(BaseName(paths[0]));
  if (name.empty() || name == "." || name == "..") {
    return InvalidArgument(
        fmt::format("{}: has no base name; give --name <name>", paths[0]));
  }
  return name;
}

void ShowVersion(const Context& context, std::string_view type,
                 const cas::Version& version) {
  if (context.arguments.Has("no-summary")) return;
  if (context.terminal.json()) {
    context.terminal.JsonLine(type, VersionMembers(version));
    return;
  }
  const cas::PutTotals& totals = version.totals;
  context.terminal.Line(fmt::format(
      "{}: {}, {}; new: {}, {}, {} on disk; {}", version.reference(),
      CountOf(totals.files, "file", "files"), FormatSize(totals.bytes),
      CountOf(totals.new_chunks, "chunk", "chunks"), FormatSize(totals.new_bytes),
      FormatSize(totals.stored_bytes), ToString(version.hash)));
}

void ReportLeftOut(const Context& context, const std::string& path, const Error& reason) {
  Error error = reason.Within(path);
  error.message += "; left out";
  context.terminal.Report(error);
}

Result<cas::Version> DoPut(Context& context, uint64_t& skipped) {
  DOLIUM_TRY(const auto store, OpenStore(context));
  cas::PutOptions options;
  DOLIUM_TRY(options.name, NameOf(context));
  options.jobs = context.jobs();
  options.memory = context.arguments.Number("memory", options.memory);
  options.reread = context.arguments.Has("reread");
  options.exclude = context.arguments.GetAll("exclude");
  // Those of files are meant for many folders.
  options.unmatched = [&, given = options.exclude](const std::string& pattern) {
    if (std::ranges::find(given, pattern) == given.end()) return;
    context.terminal.Report(
        NotFound(fmt::format("--exclude {}: excludes nothing here", pattern)));
  };
  for (const std::string& file : context.arguments.GetAll("exclude-file")) {
    DOLIUM_TRY(const auto patterns, cas::ReadExcludeFile(file));
    options.exclude.insert(options.exclude.end(), patterns.begin(), patterns.end());
  }
  options.one_file_system = context.arguments.Has("one-file-system");
  options.owners = !context.arguments.Has("no-owners");
  options.tags = context.arguments.GetAll("tag");
  options.host = context.arguments.Get("host");
  options.stop = context.stop;
  options.skipped = [&](const std::string& path, const Error& reason) {
    ++skipped;
    ReportLeftOut(context, path, reason);
  };
  if (context.arguments.Has("align-entries")) {
    options.forced_cuts = [&](const std::string& path) {
      return EntryBoundaries(context.formats, path);
    };
  }
  options.progress = context.terminal.StartProgress("put");
  const std::vector<std::string>& paths = context.arguments.positionals();
  if (paths.size() == 1 && paths[0] == "-") {
    return cas::PutStream(*store, STDIN_FILENO, options);
  }
  return cas::Put(*store, paths, options);
}

// What a restore could not do. Of owners and attributes, which may be missing of all that
// there is, the first is shown and the others are counted.
class Losses {
 public:
  explicit Losses(const Context& context) : context_(context) {}

  uint64_t count() const { return entries_ + owners_ + extended_; }

  void LeaveOut(const std::string& path, const Error& reason) {
    ++entries_;
    ReportLeftOut(context_, path, reason);
  }
  void Add(cas::Lost what, const std::string& path, const Error& reason) {
    if (what == cas::Lost::kEntry) {
      LeaveOut(path, reason);
      return;
    }
    uint64_t& number = what == cas::Lost::kOwner ? owners_ : extended_;
    if (number++ == 0) context_.terminal.Report(reason.Within(path));
  }
  void Conclude() const {
    const auto show = [&](uint64_t number, std::string_view what) {
      if (number < 2) return;
      context_.terminal.Report(IoError(fmt::format("{} of {} could not be set", what,
                                                   CountOf(number, "entry", "entries"))));
    };
    show(owners_, "owners");
    show(extended_, "extended attributes");
  }

 private:
  const Context& context_;
  uint64_t entries_ = 0;
  uint64_t owners_ = 0;
  uint64_t extended_ = 0;
};

Result<cas::GetReport> DoGet(Context& context, Losses& losses) {
  DOLIUM_TRY(const auto store, OpenStore(context));
  DOLIUM_TRY(const auto output, context.arguments.Target(1));
  if (!output) return InvalidArgument("where to? name a path, or - for stdout");
  DOLIUM_TRY(VersionPart part, FindPartOf(*store, context.arguments[0]));
  const cas::Version& version = part.version;
  cas::GetOptions options;
  options.path = std::move(part.path);
  if (context.arguments.Has("skip-damaged")) {
    options.damaged = [&](const std::string& path, const Error& reason) {
      losses.LeaveOut(path, reason);
    };
  }
  options.owners = !context.arguments.Has("no-owners");
  options.lost = [&](cas::Lost what, const std::string& path, const Error& reason) {
    losses.Add(what, path, reason);
  };
  options.jobs = context.jobs();
  options.force = context.arguments.Has("force");
  options.stop = context.stop;
  if (*output == "-") {
    DOLIUM_TRY(const auto lease, store->TakeLease());
    DOLIUM_TRY(const cas::Version file, store->FindPart(version, options.path, *lease));
    if (file.kind != cas::VersionKind::kFile) {
      return InvalidArgument(
          fmt::format("{}: is a folder; name one to restore it to", version.reference()));
    }
    return cas::WriteTo(*store, file.hash, STDOUT_FILENO, options);
  }
  options.progress = context.terminal.StartProgress("get");
  return cas::Restore(*store, version, *output, options);
}

Result<size_t> DoRemove(const Context& context, const cas::CasStore& store,
                        const std::string& text) {
  DOLIUM_TRY(const auto reference, cas::ParseReference(text));
  if (reference.name.empty()) {
    return InvalidArgument(fmt::format(
        "{}: is a hash; files go when no version has them, by `dolium cas gc`", text));
  }
  if (!reference.sequence && !context.arguments.Has("all")) {
    DOLIUM_TRY(const auto files, cas::ListVersionFiles(store.layout(), reference.name));
    if (files.size() > 1) {
      return InvalidArgument(
          fmt::format("{}: has {} versions; name one, as in {}@{}, or give --all", text,
                      files.size(), text, files.back().sequence));
    }
  }
  return cas::RemoveVersions(store.layout(), reference);
}

void ShowExchange(const Context& context, std::string_view type,
                  const cas::ExchangeReport& report) {
  if (context.arguments.Has("no-summary")) return;
  if (context.terminal.json()) {
    context.terminal.JsonLine(type, {{"files", report.files},
                                     {"bytes", report.bytes},
                                     {"xorbs", report.xorbs},
                                     {"copied_xorbs", report.copied_xorbs}});
    return;
  }
  context.terminal.Line(
      fmt::format("{}, {}; {}, {} copied", CountOf(report.files, "file", "files"),
                  FormatSize(report.bytes), CountOf(report.xorbs, "xorb", "xorbs"),
                  FormatCount(report.copied_xorbs)));
}

}  // namespace

ExitStatus RunCasInit(Context& context) {
  const auto made = cas::InitStore(context.arguments[0]);
  if (!made) return context.FailLocation(made.error());
  if (context.terminal.json()) {
    context.terminal.JsonLine("init", {{"store", context.arguments[0]}});
  }
  return ExitStatus::kGood;
}

ExitStatus RunCasPut(Context& context) {
  uint64_t skipped = 0;
  const auto version = DoPut(context, skipped);
  context.terminal.EndProgress();
  if (!version) {
    const ExitStatus status = context.FailLocation(version.error());
    // The one file that was to be put changed whenever it was read.
    return version.error().code == ErrorCode::kConflict ? ExitStatus::kBad : status;
  }
  ShowVersion(context, "put", *version);
  return skipped == 0 ? ExitStatus::kGood : ExitStatus::kBad;
}

ExitStatus RunCasGet(Context& context) {
  Losses losses(context);
  const auto report = DoGet(context, losses);
  context.terminal.EndProgress();
  if (!report) return context.Fail(report.error());
  losses.Conclude();
  const ExitStatus status = losses.count() == 0 ? ExitStatus::kGood : ExitStatus::kBad;
  const auto output = context.arguments.Target(1);
  if (context.arguments.Has("no-summary") || *output == "-") {
    return status;
  }
  if (context.terminal.json()) {
    context.terminal.JsonLine("get",
                              {{"files", report->files}, {"bytes", report->bytes}});
  } else {
    context.terminal.Line(fmt::format("{}, {}", CountOf(report->files, "file", "files"),
                                      FormatSize(report->bytes)));
  }
  return status;
}

ExitStatus RunCasRm(Context& context) {
  const auto store = OpenStore(context);
  if (!store) return context.FailLocation(store.error());
  ExitStatus status = ExitStatus::kGood;
  for (const std::string& text : context.arguments.positionals()) {
    const auto removed = DoRemove(context, **store, text);
    if (!removed) {
      status = Worse(status, context.Fail(removed.error()));
    } else if (context.terminal.json()) {
      context.terminal.JsonLine("rm", {{"name", text}, {"versions", *removed}});
    }
  }
  return status;
}

ExitStatus RunCasExport(Context& context) {
  const auto store = OpenStore(context);
  if (!store) return context.FailLocation(store.error());
  const auto output = context.arguments.Get("output");
  if (!output) return context.Fail(InvalidArgument("where to? give --output <shard>"));
  const auto path = StorePath(context);
  if (!path) return context.Fail(path.error());
  CasExportRequest request{.store = *path, .target = *output};
  request.references = context.arguments.positionals();
  request.xorbs = context.arguments.Get("xorbs").value_or("");
  request.upload = context.arguments.Has("upload");
  request.force = context.arguments.Has("force");
  request.jobs = context.jobs();
  request.stop = context.stop;
  if (context.arguments.Has("plan")) {
    const auto plan = PlanCasExport(**store, request);
    if (!plan) return context.Fail(plan.error());
    return context.ShowTasks(*plan);
  }
  const auto report = ExportFromCas(**store, request);
  if (!report) return context.Fail(report.error());
  ShowExchange(context, "export", *report);
  return ExitStatus::kGood;
}

ExitStatus RunCasImport(Context& context) {
  const auto store = OpenStore(context);
  if (!store) return context.FailLocation(store.error());
  cas::ImportOptions options;
  const auto name = context.arguments.Get("name");
  if (!name) return context.Fail(InvalidArgument("which name? give --name <name>"));
  options.name = *name;
  options.xorbs = context.arguments.Get("xorbs").value_or("");
  options.stop = context.stop;
  cas::ExchangeReport report;
  const auto version = cas::ImportShard(**store, context.arguments[0], options, report);
  if (!version) return context.Fail(version.error());
  ShowExchange(context, "import", report);
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
