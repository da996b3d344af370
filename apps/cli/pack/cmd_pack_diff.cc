#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/pack/pack_arguments.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/ops/pack/pack_diff.h"

namespace dolium::cli {
namespace {

using dataset::Difference;

void ShowDifference(const Context& context, const Difference& difference) {
  const bool is_first = difference.kind == Difference::Kind::kOnlyInFirst;
  const bool is_second = difference.kind == Difference::Kind::kOnlyInSecond;
  if (context.terminal.json()) {
    Json json = {{"key", difference.key}};
    if (!difference.entry.empty()) json["entry"] = difference.entry;
    if (!difference.reason.empty()) json["reason"] = difference.reason;
    context.terminal.JsonLine(is_first    ? "only_in_first"
                              : is_second ? "only_in_second"
                                          : "changed",
                              json);
    return;
  }
  std::string line = fmt::format("{} {}",
                                 is_first    ? "-"
                                 : is_second ? "+"
                                             : "~",
                                 difference.key);
  if (!difference.entry.empty()) line += fmt::format(": {}", difference.entry);
  if (!difference.reason.empty()) line += fmt::format(": {}", difference.reason);
  context.terminal.Line(line);
}

void ShowSummary(const Context& context, const dataset::DiffSummary& summary) {
  if (context.arguments.Has("no-summary")) return;
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary", {{"equal", summary.equal},
                                          {"changed", summary.changed},
                                          {"only_in_first", summary.only_in_first},
                                          {"only_in_second", summary.only_in_second}});
    return;
  }
  context.terminal.Line(fmt::format(
      "{} equal, {} changed, {} only in the first, {} only in the second",
      FormatCount(summary.equal), FormatCount(summary.changed),
      FormatCount(summary.only_in_first), FormatCount(summary.only_in_second)));
}

}  // namespace

ExitStatus RunPackDiff(Context& context) {
  const auto first = OpenSet({context.arguments[0]});
  if (!first) return context.FailLocation(first.error());
  const auto second = OpenSet({context.arguments[1]});
  if (!second) return context.FailLocation(second.error());
  dataset::DiffOptions options;
  options.jobs = context.jobs();
  options.stop = context.stop;
  options.progress = context.terminal.StartProgress("diff");
  const bool is_quiet = context.arguments.Has("quiet");
  const auto summary =
      DiffSets(**first, **second, options, [&](const Difference& difference) {
        if (!is_quiet) ShowDifference(context, difference);
      });
  context.terminal.EndProgress();
  if (!summary) return context.Fail(summary.error());
  ShowSummary(context, *summary);
  return summary->is_equal() ? ExitStatus::kGood : ExitStatus::kBad;
}

}  // namespace dolium::cli
