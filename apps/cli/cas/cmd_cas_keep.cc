// cas gc, verify, reindex.
#include <algorithm>

#include <fmt/format.h>

#include "cli/cas/cas_arguments.h"
#include "cli/context.h"
#include "cli/findings.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/domain/cas/check.h"
#include "dolium/domain/cas/collect.h"

namespace dolium::cli {
namespace {

// "never", or a percentage.
Result<uint32_t> ParseRepack(std::string_view text) {
  if (text == "never") return 0U;
  if (text.ends_with('%')) {
    const auto number = ParseNumber(text.substr(0, text.size() - 1));
    if (number && *number <= 100) return static_cast<uint32_t>(*number);
  }
  return InvalidArgument(
      fmt::format("\"{}\" is neither `never` nor a percentage, as in 50%", text));
}

Result<cas::CollectReport> DoCollect(Context& context) {
  cas::CollectOptions options;
  if (const auto grace = context.arguments.Get("grace")) {
    DOLIUM_TRY(options.grace, ParseDuration(*grace).Within("--grace"));
  }
  if (const auto repack = context.arguments.Get("repack")) {
    DOLIUM_TRY(options.repack_below, ParseRepack(*repack).Within("--repack"));
  }
  DOLIUM_TRY(const auto store, OpenStore(context));
  options.dry_run = context.arguments.Has("dry-run");
  options.stop = context.stop;
  options.progress = context.terminal.StartProgress("gc");
  return cas::CollectGarbage(*store, options);
}

Result<size_t> DoReindex(const Context& context) {
  DOLIUM_TRY(const std::string path, StorePath(context));
  DOLIUM_TRY(const cas::Layout layout, cas::OpenLayout(path));
  DOLIUM_TRY(const auto lease, cas::Lease::Take(layout));
  return cas::MakeIndexAnew(layout, lease->id());
}

}  // namespace

ExitStatus RunCasGc(Context& context) {
  const auto report = DoCollect(context);
  context.terminal.EndProgress();
  if (!report) return context.FailLocation(report.error());
  if (context.terminal.json()) {
    context.terminal.JsonLine("gc", {{"dry_run", context.arguments.Has("dry-run")},
                                     {"xorbs", report->xorbs},
                                     {"removed_xorbs", report->removed_xorbs},
                                     {"removed_bytes", report->removed_bytes},
                                     {"repacked_xorbs", report->repacked_xorbs},
                                     {"copied_bytes", report->copied_bytes},
                                     {"freed_bytes", report->freed_bytes()},
                                     {"kept_young", report->kept_young},
                                     {"shards", report->shards},
                                     {"removed_shards", report->removed_shards},
                                     {"rewritten_shards", report->rewritten_shards}});
    return ExitStatus::kGood;
  }
  context.terminal.Line(fmt::format(
      "{}: {} of {}, {}{}; {} of {}, {} rewritten{}",
      context.arguments.Has("dry-run") ? "would remove" : "removed",
      FormatCount(report->removed_xorbs), CountOf(report->xorbs, "xorb", "xorbs"),
      FormatSize(static_cast<uint64_t>(std::max<int64_t>(report->freed_bytes(), 0))),
      report->repacked_xorbs == 0
          ? ""
          : fmt::format(", {} repacked", FormatCount(report->repacked_xorbs)),
      FormatCount(report->removed_shards), CountOf(report->shards, "shard", "shards"),
      FormatCount(report->rewritten_shards),
      report->kept_young == 0
          ? ""
          : fmt::format("; {} kept within the grace period",
                        CountOf(report->kept_young, "xorb", "xorbs"))));
  return ExitStatus::kGood;
}

ExitStatus RunCasVerify(Context& context) {
  const auto is_quick = context.is_quick();
  if (!is_quick) return context.Fail(is_quick.error().Within("cas verify"));
  const auto store = OpenStore(context);
  if (!store) return context.FailLocation(store.error());
  cas::CheckOptions options;
  options.deep = !*is_quick;
  options.quarantine = context.arguments.Has("quarantine");
  options.jobs = context.jobs();
  options.stop = context.stop;
  options.progress = context.terminal.StartProgress("verify");
  FindingPrinter findings(context, FindingPrinter::Output::kResults);
  const auto report = cas::CheckStore(
      **store, options, [&](const Finding& finding) { findings.Add(finding); });
  context.terminal.EndProgress();
  findings.Finish();
  if (!report) return context.FailLocation(report.error());
  const bool is_good = report->errors == 0;
  if (!context.arguments.Has("no-summary")) {
    if (context.terminal.json()) {
      context.terminal.JsonLine(
          "summary", SummaryMembers({.location = *StorePath(context),
                                     .is_good = is_good,
                                     .objects = report->xorbs + report->shards,
                                     .entries = report->files,
                                     .bytes_read = report->bytes,
                                     .errors = report->errors,
                                     .counts = {{"versions", report->versions},
                                                {"files", report->files},
                                                {"xorbs", report->xorbs},
                                                {"shards", report->shards},
                                                {"damaged_files", report->damaged_files},
                                                {"quarantined", report->quarantined}}}));
    } else {
      context.terminal.Line(fmt::format(
          "{}: {}, {}, {}, {}; {}, {}{}", is_good ? "good" : "bad",
          CountOf(report->versions, "version", "versions"),
          CountOf(report->files, "file", "files"),
          CountOf(report->xorbs, "xorb", "xorbs"),
          CountOf(report->shards, "shard", "shards"),
          CountOf(report->errors, "error", "errors"),
          CountOf(report->damaged_files, "damaged file", "damaged files"),
          report->quarantined == 0
              ? ""
              : fmt::format("; {} quarantined",
                            CountOf(report->quarantined, "object", "objects"))));
    }
  }
  return is_good ? ExitStatus::kGood : ExitStatus::kBad;
}

ExitStatus RunCasReindex(Context& context) {
  const auto shards = DoReindex(context);
  if (!shards) return context.FailLocation(shards.error());
  if (context.terminal.json()) {
    context.terminal.JsonLine("reindex", {{"shards", *shards}});
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
