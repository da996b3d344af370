// pack verify, repair.
#include <unistd.h>

#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/findings.h"
#include "cli/pack/pack_arguments.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/domain/dataset/set_reference.h"
#include "dolium/formats/shardpack/repair.h"
#include "dolium/formats/shardpack/verify.h"
#include "dolium/ops/pack/pack_catalog.h"
#include "dolium/ops/pack/pack_verify.h"

namespace dolium::cli {
namespace {

using shardpack::VerifySummary;

std::string Count(uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", FormatCount(number), number == 1 ? one : many);
}

ExitStatus ConcludePack(const Context& context, const std::string& name,
                        const VerifySummary& summary) {
  const bool is_bad =
      summary.errors > 0 || (context.arguments.Has("strict") && summary.warnings > 0);
  const ExitStatus status = is_bad ? ExitStatus::kBad : ExitStatus::kGood;
  if (context.arguments.Has("no-summary")) return status;
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary",
                              SummaryMembers({.location = name,
                                              .is_good = !is_bad,
                                              .objects = 1,
                                              .entries = summary.entries,
                                              .bytes_read = summary.bytes,
                                              .errors = summary.errors,
                                              .warnings = summary.warnings,
                                              .counts = {{"records", summary.records}}}));
    return status;
  }
  context.terminal.Line(
      fmt::format("{}: {}: {}, {}, {}, {}, {}", name, is_bad ? "bad" : "good",
                  Count(summary.records, "record", "records"),
                  Count(summary.entries, "entry", "entries"), FormatSize(summary.bytes),
                  Count(summary.errors, "error", "errors"),
                  Count(summary.warnings, "warning", "warnings")));
  return status;
}

shardpack::VerifyOptions OptionsOf(const Context& context) {
  shardpack::VerifyOptions options;
  options.contents = !context.arguments.Has("quick");
  options.jobs = context.jobs();
  options.stop = context.stop;
  return options;
}

ExitStatus VerifyOne(
    Context& context, const std::string& name,
    const std::function<Result<VerifySummary>(const shardpack::VerifyOptions&,
                                              const FindingVisitor&)>& verify) {
  shardpack::VerifyOptions options = OptionsOf(context);
  options.progress = context.terminal.StartProgress("verify");
  FindingPrinter findings(context, FindingPrinter::Output::kResults);
  const auto summary =
      verify(options, [&](const Finding& finding) { findings.Add(finding); });
  context.terminal.EndProgress();
  findings.Finish();
  if (!summary) return context.FailLocation(summary.error());
  return ConcludePack(context, name, *summary);
}

ExitStatus VerifyReference(Context& context, const std::string& reference) {
  if (reference == "-") {
    return VerifyOne(context, "-", [](const auto& options, const auto& visitor) {
      return VerifyStream(shardpack::FileInput(STDIN_FILENO), "-", options, visitor);
    });
  }
  const auto shards = dataset::ResolveSet(reference);
  if (!shards) return context.FailLocation(shards.error());
  ExitStatus status = ExitStatus::kGood;
  for (const dataset::ShardReference& shard : *shards) {
    status =
        Worse(status, VerifyOne(context, shard.location.Describe(),
                                [&](const auto& options, const auto& visitor) {
                                  return VerifyShard(shard.location, options, visitor);
                                }));
    if (status == ExitStatus::kStopped || !context.terminal.ok()) break;
  }
  return status;
}

// The catalog that a set is named by, or that lies in its folder, against its shards.
ExitStatus VerifyCatalog(Context& context, const std::string& reference) {
  // Of patterns and lists, catalogs are not known.
  const auto set = ParseLocation(reference);
  const auto catalog =
      set ? dataset::FindCatalog(*set) : Result<std::optional<Location>>(std::nullopt);
  if (!catalog) return context.FailLocation(catalog.error());
  if (!*catalog) return ExitStatus::kGood;
  FindingPrinter findings(context, FindingPrinter::Output::kResults);
  const auto report =
      dataset::CheckCatalog(**catalog, {.jobs = context.jobs(), .stop = context.stop},
                            [&](const Finding& finding) { findings.Add(finding); });
  findings.Finish();
  if (!report) return context.FailLocation(report.error());
  const std::string name = (*catalog)->Describe();
  const bool is_good = report->errors == 0;
  if (context.arguments.Has("no-summary")) {
    return StatusOfErrors(report->errors, report->unreadable);
  }
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary",
                              SummaryMembers({.location = name,
                                              .is_good = is_good,
                                              .objects = report->objects,
                                              .errors = report->errors,
                                              .unreadable = report->unreadable}));
  } else {
    context.terminal.Line(fmt::format("{}: {}: {}, {}", name, is_good ? "good" : "bad",
                                      Count(report->objects, "shard", "shards"),
                                      Count(report->errors, "error", "errors")));
  }
  return StatusOfErrors(report->errors, report->unreadable);
}

struct RepairLocations {
  Location source;
  Location target;
  bool is_salvage = false;  // the source is what a killed writer left
};

Result<RepairLocations> LocationsOf(const Context& context) {
  RepairLocations locations;
  DOLIUM_TRY(const Location shard, ParseLocation(context.arguments[0]));
  locations.source = locations.target = shard;
  if (const auto output = context.arguments.Get("output")) {
    DOLIUM_TRY(locations.target, ParseLocation(*output));
  }
  DOLIUM_TRY(const auto there, shard.store->Stat(shard.path));
  if (!there) {
    DOLIUM_TRY(const auto abandoned, dataset::FindAbandoned(shard));
    if (!abandoned) {
      return NotFound(fmt::format("{}: no such file, and no temporary of a writer of it",
                                  shard.Describe()));
    }
    locations.source = *abandoned;
    locations.is_salvage = true;
  } else if (!context.arguments.Has("output") && !context.arguments.Has("force")) {
    return Exists(fmt::format(
        "{}: is not replaced without --force; or name another shard: --output <shard>",
        shard.Describe()));
  }
  return locations;
}

void ShowRepair(const Context& context, const RepairLocations& locations,
                const shardpack::RepairReport& report) {
  if (context.arguments.Has("no-summary")) return;
  const std::string source = locations.source.Describe();
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary", {{"shard", report.written.location.Describe()},
                                          {"source", source},
                                          {"records", report.written.records},
                                          {"bytes", report.written.bytes},
                                          {"index_was_good", report.index_was_good},
                                          {"records_lost", report.records_lost},
                                          {"bytes_skipped", report.bytes_skipped}});
    return;
  }
  context.terminal.Line(fmt::format(
      "{}: {}, {}; lost {} and {}{}", report.written.location.Describe(),
      Count(report.written.records, "record", "records"),
      FormatSize(report.written.bytes), Count(report.records_lost, "record", "records"),
      FormatSize(report.bytes_skipped),
      locations.is_salvage ? fmt::format("; from {}, which is of no use any more", source)
                           : ""));
}

}  // namespace

ExitStatus RunPackVerify(Context& context) {
  const auto depth = context.check_depth();
  if (!depth) return context.Fail(depth.error().Within("pack verify"));
  ExitStatus status = ExitStatus::kGood;
  for (const std::string& reference : context.arguments.positionals()) {
    status = Worse(status, VerifyReference(context, reference));
    if (*depth == CheckDepth::kDeep) {
      status = Worse(status, VerifyCatalog(context, reference));
    }
    if (status == ExitStatus::kStopped || !context.terminal.ok()) break;
  }
  return status;
}

ExitStatus RunPackRepair(Context& context) {
  const auto locations = LocationsOf(context);
  if (!locations) return context.FailLocation(locations.error());
  shardpack::RepairOptions options;
  options.check = context.arguments.Has("quick") ? shardpack::Check::kHeaders
                                                 : shardpack::Check::kFull;
  options.force = context.arguments.Has("force");
  options.stop = context.stop;
  FindingPrinter findings(context, FindingPrinter::Output::kResults);
  const auto report = RepairShard(locations->source, locations->target, options,
                                  [&](const Finding& finding) { findings.Add(finding); });
  findings.Finish();
  if (!report) return context.FailLocation(report.error());
  ShowRepair(context, *locations, *report);
  const bool is_whole = report->records_lost == 0 && report->bytes_skipped == 0;
  return is_whole ? ExitStatus::kGood : ExitStatus::kBad;
}

}  // namespace dolium::cli
