#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <random>
#include <string>

#include <fmt/format.h>

#include "cli/context.h"
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

Json SummaryJson(const Location& location, const VerifyReport& report) {
  return {{"type", "summary"},
          {"location", location.Describe()},
          {"objects", report.objects},
          {"entries", report.entries},
          {"entries_read", report.entries_read},
          {"bytes_read", report.bytes_read},
          {"bytes_decoded", report.bytes_decoded},
          {"errors", report.errors},
          {"unreadable", report.unreadable},
          {"warnings", report.warnings}};
}

void ShowFinding(const Context& context, const Finding& finding) {
  const bool warning = finding.severity == Severity::kWarning;
  if (warning && context.arguments.Has("quiet")) return;
  if (context.terminal.json()) {
    Json json = {{"type", warning ? "warning" : "bad"}};
    json.update(Context::FindingMembers(finding));
    context.terminal.JsonLine(json);
  } else {
    context.terminal.Line(FindingLine(finding, warning ? "warning: " : ""));
  }
}

// Reports what was found, and returns the exit status that it means.
ExitStatus Conclude(const Context& context, const Location& location,
                    const VerifyReport& report) {
  const bool bad =
      report.errors > 0 || (context.arguments.Has("strict") && report.warnings > 0);
  if (!context.arguments.Has("no-summary")) {
    if (context.terminal.json()) {
      context.terminal.JsonLine(SummaryJson(location, report));
    } else {
      context.terminal.Line(SummaryLine(location, report, bad));
    }
  }
  // Data that could not be reached are not therefore bad.
  if (report.errors > 0 && report.errors == report.unreadable) {
    return ExitStatus::kUnreadable;
  }
  return bad ? ExitStatus::kBad : ExitStatus::kGood;
}

ExitStatus VerifyStandardInput(Context& context, bool is_quick) {
  if (const auto usable = context.CheckStreamOptions(); !usable) {
    return context.Fail(usable.error());
  }
  StreamRequest request{.check = true, .contents = !is_quick, .stop = context.stop};
  request.finding = [&](const Finding& finding) { ShowFinding(context, finding); };
  const auto report = ReadStream(STDIN_FILENO, request);
  if (!report) return context.Fail(report.error());
  if (!context.arguments.Has("no-summary")) {
    Json json = {{"type", "summary"}, {"location", kStandardInput}};
    std::string line =
        fmt::format("{}: {}", kStandardInput, report->errors > 0 ? "bad: " : "good: ");
    for (const auto& [one, many, number] : report->counts) {
      json[std::string(many)] = number;
      line += fmt::format("{} {}, ", FormatCount(number), number == 1 ? one : many);
    }
    json["errors"] = report->errors;
    line += fmt::format("{} {}", FormatCount(report->errors),
                        report->errors == 1 ? "error" : "errors");
    if (context.terminal.json()) {
      context.terminal.JsonLine(json);
    } else {
      context.terminal.Line(line);
    }
  }
  return report->errors > 0 ? ExitStatus::kBad : ExitStatus::kGood;
}

ExitStatus VerifyLocation(Context& context, const std::string& text, bool is_quick,
                          const Sample& sample, uint64_t seed) {
  if (text == kStandardInput) return VerifyStandardInput(context, is_quick);
  VerifyOptions options;
  options.quick = is_quick;
  options.report_missing = context.arguments.Has("strict");
  options.sample = sample.fraction;
  options.seed = seed;
  options.jobs = context.jobs();
  options.stop = context.stop;
  const auto source = context.OpenSource(text, /*allow_unfinished=*/true);
  if (!source) return context.FailLocation(source.error());
  if (sample.count && !options.quick) {
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
  const auto report = (*source)->Check(
      options, [&](const Finding& finding) { ShowFinding(context, finding); });
  context.terminal.EndProgress();
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
  const auto is_quick = context.is_quick();
  if (!is_quick) return context.Fail(is_quick.error().Within("verify"));
  ExitStatus status = ExitStatus::kGood;
  for (const std::string& location : context.arguments.positionals()) {
    status = Worse(status, VerifyLocation(context, location, *is_quick, sample, seed));
    if (status == ExitStatus::kStopped || !context.terminal.ok()) break;
  }
  return status;
}

}  // namespace dolium::cli
