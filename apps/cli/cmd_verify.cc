#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <random>
#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/findings.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/ops/source/source.h"
#include "dolium/ops/source/stream.h"
#include "dolium/ops/verify.h"

namespace dolium::cli {
namespace {

// --sample: a number of entries, or a fraction of them.
struct Sample {
  std::optional<uint64_t> count;
  double fraction = 1;
};

Result<Sample> ParseSample(const std::string& text) {
  if (!text.ends_with('%')) {
    const auto count = ParseNumber(text);
    if (count && *count > 0) return Sample{.count = *count, .fraction = 1};
  } else {
    double percent = 0;
    const char* const end = text.data() + text.size() - 1;
    const auto [stop, error] = std::from_chars(text.data(), end, percent);
    if (error == std::errc() && stop == end && percent > 0 && percent <= 100) {
      return Sample{.count = std::nullopt, .fraction = percent / 100};
    }
  }
  return InvalidArgument(fmt::format(
      "verify: --sample: \"{}\" is neither a number of entries nor a part such as 5%",
      text));
}

std::string SummaryLine(const Location& location, const VerifyReport& report, bool bad) {
  const auto count = [](uint64_t number, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", FormatCount(number), number == 1 ? one : many);
  };
  return fmt::format("{}: {}: {} in {}, {} read ({}), {}, {}", location.Describe(),
                     bad ? "bad" : "good", count(report.entries, "entry", "entries"),
                     count(report.objects, "object", "objects"),
                     FormatCount(report.entries_read), FormatSize(report.bytes_read),
                     count(report.errors, "error", "errors"),
                     count(report.warnings, "warning", "warnings"));
}

Json SummaryJson(const Location& location, const VerifyReport& report, bool bad) {
  return SummaryMembers({.location = location.Describe(),
                         .is_good = !bad,
                         .objects = report.objects,
                         .entries = report.entries,
                         .bytes_read = report.bytes_read,
                         .errors = report.errors,
                         .unreadable = report.unreadable,
                         .warnings = report.warnings,
                         .counts = {{"entries_read", report.entries_read},
                                    {"bytes_decoded", report.bytes_decoded}}});
}

// Reports what was found, and returns the exit status that it means.
ExitStatus Conclude(const Context& context, const Location& location,
                    const VerifyReport& report) {
  const bool bad =
      report.errors > 0 || (context.arguments.Has("strict") && report.warnings > 0);
  if (!context.arguments.Has("no-summary")) {
    if (context.terminal.json()) {
      context.terminal.JsonLine("summary", SummaryJson(location, report, bad));
    } else {
      context.terminal.Line(SummaryLine(location, report, bad));
    }
  }
  if (report.errors > 0) return StatusOfErrors(report.errors, report.unreadable);
  return bad ? ExitStatus::kBad : ExitStatus::kGood;
}

ExitStatus VerifyStandardInput(Context& context, CheckDepth depth) {
  if (const auto usable = context.CheckStreamOptions(); !usable) {
    return context.Fail(usable.error());
  }
  StreamRequest request{
      .check = true, .contents = depth != CheckDepth::kQuick, .stop = context.stop};
  FindingPrinter findings(context, FindingPrinter::Output::kResults);
  request.finding = [&](const Finding& finding) { findings.Add(finding); };
  const auto report = ReadStream(STDIN_FILENO, request);
  findings.Finish();
  if (!report) return context.Fail(report.error());
  if (!context.arguments.Has("no-summary")) {
    CheckSummary summary{.location = std::string(kStandardInput),
                         .is_good = report->errors == 0,
                         .objects = 1,
                         .errors = report->errors};
    std::string line =
        fmt::format("{}: {}", kStandardInput, summary.is_good ? "good: " : "bad: ");
    for (const auto& [one, many, number] : report->counts) {
      summary.counts[std::string(many)] = number;
      if (summary.entries == 0) summary.entries = number;
      line += fmt::format("{} {}, ", FormatCount(number), number == 1 ? one : many);
    }
    line += fmt::format("{} {}", FormatCount(report->errors),
                        report->errors == 1 ? "error" : "errors");
    if (context.terminal.json()) {
      context.terminal.JsonLine("summary", SummaryMembers(summary));
    } else {
      context.terminal.Line(line);
    }
  }
  return report->errors > 0 ? ExitStatus::kBad : ExitStatus::kGood;
}

ExitStatus VerifyLocation(Context& context, const std::string& text, CheckDepth depth,
                          const Sample& sample, uint64_t seed) {
  if (text == kStandardInput) return VerifyStandardInput(context, depth);
  VerifyOptions options;
  options.depth = depth;
  options.report_missing = context.arguments.Has("strict");
  options.sample = sample.fraction;
  options.seed = seed;
  options.jobs = context.jobs();
  options.stop = context.stop;
  const auto source = context.OpenSource(text, /*allow_unfinished=*/true);
  if (!source) return context.FailLocation(source.error());
  if (sample.count && depth != CheckDepth::kQuick) {
    const auto entries =
        (*source)->CountEntries({.jobs = options.jobs,
                                 .progress = context.terminal.StartProgress("count"),
                                 .stop = context.stop});
    if (!entries) return context.FailLocation(entries.error());
    options.sample =
        std::min(1.0, static_cast<double>(*sample.count) /
                          static_cast<double>(std::max<uint64_t>(*entries, 1)));
  }
  options.progress = context.terminal.StartProgress("verify");
  FindingPrinter findings(context, FindingPrinter::Output::kResults);
  const auto report =
      (*source)->Check(options, [&](const Finding& finding) { findings.Add(finding); });
  context.terminal.EndProgress();
  findings.Finish();
  if (!report) return context.FailLocation(report.error());
  return Conclude(context, (*source)->location(), *report);
}

}  // namespace

ExitStatus RunVerify(Context& context) {
  Sample sample;
  if (const auto text = context.arguments.Get("sample")) {
    const auto parsed = ParseSample(*text);
    if (!parsed) return context.Fail(parsed.error());
    sample = *parsed;
  }
  const uint64_t seed = context.arguments.Has("seed")
                            ? context.arguments.Number("seed", 0)
                            : std::random_device()();
  const auto depth = context.check_depth();
  if (!depth) return context.Fail(depth.error().Within("verify"));
  ExitStatus status = ExitStatus::kGood;
  for (const std::string& location : context.arguments.positionals()) {
    status = Worse(status, VerifyLocation(context, location, *depth, sample, seed));
    if (status == ExitStatus::kStopped || !context.terminal.ok()) break;
  }
  return status;
}

}  // namespace dolium::cli
