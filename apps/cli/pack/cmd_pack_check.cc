// pack verify, repair.
#include <unistd.h>

#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/findings.h"
#include "cli/pack/pack_arguments.h"
#include "cli/pack/pack_input.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/domain/dataset/set_reference.h"
#include "dolium/ops/pack/pack_catalog.h"
#include "dolium/ops/pack/pack_repair.h"
#include "dolium/ops/pack/pack_verify.h"

namespace dolium::cli {
namespace {

using dataset::PackVerifyReport;

std::string Count(uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", FormatCount(number), number == 1 ? one : many);
}

ExitStatus ConcludePack(const Context& context, const std::string& name,
                        const PackVerifyReport& checked) {
  const VerifyReport& report = checked.report;
  const bool is_bad =
      report.errors > 0 || (context.arguments.Has("strict") && report.warnings > 0);
  const ExitStatus status = is_bad ? ExitStatus::kBad : ExitStatus::kGood;
  if (context.arguments.Has("no-summary")) return status;
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary",
                              SummaryMembers({.location = name,
                                              .is_good = !is_bad,
                                              .objects = 1,
                                              .entries = report.entries,
                                              .bytes_read = report.bytes_read,
                                              .errors = report.errors,
                                              .warnings = report.warnings,
                                              .counts = {{"records", checked.records}}}));
    return status;
  }
  context.terminal.Line(
      fmt::format("{}: {}: {}, {}, {}, {}, {}", name, is_bad ? "bad" : "good",
                  Count(checked.records, "record", "records"),
                  Count(report.entries, "entry", "entries"),
                  FormatSize(report.bytes_read), Count(report.errors, "error", "errors"),
                  Count(report.warnings, "warning", "warnings")));
  return status;
}

ExitStatus VerifyOne(Context& context, const std::string& name,
                     const std::function<Result<PackVerifyReport>(
                         const VerifyOptions&, const FindingVisitor&)>& verify) {
  VerifyOptions options{.jobs = context.jobs(), .stop = context.stop};
  if (context.arguments.Has("quick")) options.depth = CheckDepth::kQuick;
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
      return dataset::VerifyPackStream(STDIN_FILENO, "-", options, visitor);
    });
  }
  const auto shards = dataset::ResolveSet(reference);
  if (!shards) return context.FailLocation(shards.error());
  ExitStatus status = ExitStatus::kGood;
  for (const dataset::ShardReference& shard : *shards) {
    status = Worse(status, VerifyOne(context, shard.location.Describe(),
                                     [&](const auto& options, const auto& visitor) {
                                       return dataset::VerifyPackShard(shard.location,
                                                                       options, visitor);
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
  dataset::RepairSource source;
  Location target;
};

// Where the repaired shard goes: --output, or the place of the damaged one.
Result<PackTarget> RepairTarget(const Context& context) {
  const std::string& shard = context.arguments[0];
  DOLIUM_TRY(const auto output, context.arguments.Target(1));
  if (shard == "-" && !output) {
    return InvalidArgument("-: what it is repaired to has no name: give one");
  }
  return ShardTarget(context, output.value_or(shard));
}

Result<RepairLocations> LocationsOf(const Context& context, const PackTarget& target) {
  RepairLocations locations;
  DOLIUM_TRY(const std::string path, PackInput(context.arguments[0]));
  DOLIUM_TRY(const Location shard, ParseLocation(path));
  locations.source = {shard};
  DOLIUM_TRY(locations.target, ParseLocation(target.path()));
  if (context.arguments[0] == "-") return locations;
  DOLIUM_TRY(locations.source, dataset::FindRepairSource(shard));
  if (!locations.source.is_abandoned && target.path() == context.arguments[0] &&
      !context.arguments.Has("force")) {
    return Exists(fmt::format(
        "{}: is not replaced without --force; or name another shard: --output <shard>",
        shard.Describe()));
  }
  return locations;
}

void ShowRepair(const Context& context, const PackTarget& target,
                const RepairLocations& locations, const shardpack::RepairReport& report) {
  if (context.arguments.Has("no-summary")) return;
  const bool is_stream = context.arguments[0] == "-";
  const std::string source = is_stream ? "-" : locations.source.location.Describe();
  const std::string written = target.Named(report.written.location.Describe());
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary", {{"shard", written},
                                          {"source", source},
                                          {"records", report.written.records},
                                          {"bytes", report.written.bytes},
                                          {"index_was_good", report.index_was_good},
                                          {"records_lost", report.records_lost},
                                          {"bytes_skipped", report.bytes_skipped}});
    return;
  }
  context.terminal.Line(fmt::format(
      "{}: {}, {}; lost {} and {}{}", written,
      Count(report.written.records, "record", "records"),
      FormatSize(report.written.bytes), Count(report.records_lost, "record", "records"),
      FormatSize(report.bytes_skipped),
      locations.source.is_abandoned
          ? fmt::format("; from {}, which is of no use any more", source)
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
  const auto target = RepairTarget(context);
  if (!target) return context.FailLocation(target.error().Within("pack repair"));
  const auto locations = LocationsOf(context, *target);
  if (!locations) return context.FailLocation(locations.error());
  const dataset::PackRepairOptions options{.quick = context.arguments.Has("quick"),
                                           .force = context.arguments.Has("force"),
                                           .stop = context.stop};
  FindingPrinter findings(context, FindingPrinter::Output::kResults);
  const bool is_stream = context.arguments[0] == "-";
  const auto report = RepairPack(locations->source.location, locations->target, options,
                                 [&](Finding finding) {
                                   if (is_stream) finding.object = "-";
                                   findings.Add(finding);
                                 });
  findings.Finish();
  if (!report) return context.FailLocation(target->Named(report.error()));
  if (const auto sent = target->Send(context); !sent) return context.Fail(sent.error());
  ShowRepair(context, *target, *locations, *report);
  const bool is_whole = report->records_lost == 0 && report->bytes_skipped == 0;
  return is_whole ? ExitStatus::kGood : ExitStatus::kBad;
}

}  // namespace dolium::cli
