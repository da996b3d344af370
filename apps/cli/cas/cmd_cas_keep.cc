// cas forget, gc, verify, reindex.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cas/cas_arguments.h"
#include "cli/context.h"
#include "cli/findings.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/domain/cas/check.h"
#include "dolium/domain/cas/collect.h"
#include "dolium/domain/cas/forget.h"

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

void ShowChoice(const Context& context, const cas::KeepChoice& choice) {
  if (context.terminal.json()) {
    Json json;
    cas::AddText(json, "name", choice.version.name);
    json["sequence"] = choice.version.sequence;
    json["created"] = JsonTime(choice.version.created);
    json["reasons"] = choice.reasons;
    context.terminal.JsonLine(choice.is_kept() ? "keep" : "remove", json);
    return;
  }
  context.terminal.Line(fmt::format(
      "{} {}  {}{}", choice.is_kept() ? "keep  " : "remove", choice.version.reference(),
      FormatTime(choice.version.created),
      choice.is_kept() ? fmt::format("  {}", fmt::join(choice.reasons, ", ")) : ""));
}

Result<cas::ForgetReport> DoForget(const Context& context, const cas::CasStore& store) {
  cas::ForgetOptions options;
  options.policy = {.last = context.arguments.Number("keep-last", 0),
                    .daily = context.arguments.Number("keep-daily", 0),
                    .weekly = context.arguments.Number("keep-weekly", 0),
                    .monthly = context.arguments.Number("keep-monthly", 0),
                    .yearly = context.arguments.Number("keep-yearly", 0)};
  if (!options.policy.keeps_any()) {
    return InvalidArgument(
        "which versions to keep? give --keep-last, --keep-daily, --keep-weekly, "
        "--keep-monthly or --keep-yearly, of 1 or more");
  }
  DOLIUM_TRY(options.filter, FilterOf(context));
  options.names = context.arguments.positionals();
  options.dry_run = context.arguments.Has("dry-run");
  options.visit = [&](const cas::KeepChoice& choice) { ShowChoice(context, choice); };
  return cas::ForgetVersions(store, options);
}

Result<size_t> DoReindex(const Context& context) {
  DOLIUM_TRY(const std::string path, StorePath(context));
  DOLIUM_TRY(const cas::Layout layout, cas::OpenLayout(path));
  DOLIUM_TRY(const auto lease, cas::Lease::Take(layout));
  return cas::RebuildIndex(layout, lease->id());
}

}  // namespace

ExitStatus RunCasForget(Context& context) {
  const auto store = OpenStore(context);
  if (!store) return context.FailLocation(store.error());
  const auto report = DoForget(context, **store);
  if (!report) return context.Fail(report.error());
  if (context.arguments.Has("no-summary")) return ExitStatus::kGood;
  const bool is_dry = context.arguments.Has("dry-run");
  if (context.terminal.json()) {
    context.terminal.JsonLine(
        "forget",
        {{"dry_run", is_dry}, {"kept", report->kept}, {"removed", report->removed}});
  } else {
    context.terminal.Line(fmt::format(
        "{}: {} of {}", is_dry ? "would remove" : "removed", FormatCount(report->removed),
        CountOf(report->removed + report->kept, "version", "versions")));
  }
  return ExitStatus::kGood;
}

ExitStatus RunCasGc(Context& context) {
  const auto report = DoCollect(context);
  context.terminal.EndProgress();
  if (!report) return context.FailLocation(report.error());
  if (!report->not_repacked.empty()) {
    context.terminal.Report(
        IoError(fmt::format("no xorb was repacked: {}", report->not_repacked)));
  }
  if (context.terminal.json()) {
    context.terminal.JsonLine("gc", {{"dry_run", context.arguments.Has("dry-run")},
                                     {"xorbs", report->xorbs},
                                     {"removed_xorbs", report->removed_xorbs},
                                     {"removed_bytes", report->removed_bytes},
                                     {"repacked_xorbs", report->repacked_xorbs},
                                     {"not_repacked", report->not_repacked},
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
  const auto depth = context.check_depth();
  if (!depth) return context.Fail(depth.error().Within("cas verify"));
  const auto store = OpenStore(context);
  if (!store) return context.FailLocation(store.error());
  cas::CheckOptions options;
  options.deep = *depth != CheckDepth::kQuick;
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
                                     .unreadable = report->unreadable,
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
  return StatusOfErrors(report->errors, report->unreadable);
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
