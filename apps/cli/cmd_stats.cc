#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/terminal/table.h"
#include "cli/verbs.h"
#include "dolium/ops/source/source.h"
#include "dolium/ops/source/stream.h"
#include "dolium/ops/stats.h"

namespace dolium::cli {
namespace {

constexpr size_t kHistogramWidth = 40;
constexpr std::pair<const char*, double> kQuantiles[] = {
    {"50%", 0.5}, {"90%", 0.9}, {"99%", 0.99}};

// The values of class i of a histogram, both ends included.
std::pair<uint64_t, uint64_t> ClassBounds(size_t i) {
  if (i == 0) return {0, 0};
  const uint64_t low = uint64_t{1} << (i - 1);
  return {low, low + (low - 1)};
}

Json DistributionJson(const Distribution& distribution) {
  Json json = {{"count", distribution.count}, {"sum", distribution.sum},
               {"min", distribution.min},     {"max", distribution.max},
               {"mean", distribution.mean()}, {"quantiles", Json::object()},
               {"histogram", Json::array()}};
  for (const auto& [name, q] : kQuantiles)
    json["quantiles"][name] = distribution.Quantile(q);
  for (size_t i = 0; i < distribution.histogram.size(); ++i) {
    if (distribution.histogram[i] == 0) continue;
    const auto [from, to] = ClassBounds(i);
    json["histogram"].push_back(
        {{"from", from}, {"to", to}, {"count", distribution.histogram[i]}});
  }
  return json;
}

void PrintJson(Context& context, const Location& location, const StatsReport& report,
               const Properties& own) {
  Json json = {{"location", location.Describe()},
               {"objects", report.objects},
               {"object_bytes", report.object_bytes},
               {"entries", report.stored_size.count},
               {"preceding_bytes", report.preceding_bytes},
               {"overhead_bytes", report.overhead_bytes()},
               {"damaged", report.damaged},
               {"stored_size", DistributionJson(report.stored_size)},
               {"entries_per_object", DistributionJson(report.entries_per_object)}};
  if (!own.empty()) json["format_counts"] = PropertiesJson(own);
  context.terminal.JsonLine("stats", json);
}

// One or more distributions, and the first of them, of sizes, as a histogram.
using NamedDistribution = std::pair<const char*, const Distribution*>;
void PrintSpread(Context& context, std::initializer_list<NamedDistribution> all) {
  using enum Table::Align;
  const auto line = [&](std::string_view text) { context.terminal.Line(text); };
  line("");
  Table spread({{"", kLeft},
                {"smallest", kRight},
                {"mean", kRight},
                {"50%", kRight},
                {"90%", kRight},
                {"99%", kRight},
                {"largest", kRight}},
               line);
  for (const auto& [name, values] : all) {
    spread.Add({name, FormatCount(values->min), fmt::format("{:.1f}", values->mean()),
                FormatCount(values->Quantile(kQuantiles[0].second)),
                FormatCount(values->Quantile(kQuantiles[1].second)),
                FormatCount(values->Quantile(kQuantiles[2].second)),
                FormatCount(values->max)});
  }
  spread.Finish();

  line("");
  const auto& [name, sizes] = *all.begin();
  Table histogram({{name, kRight}, {"entries", kRight}, {"", kLeft}}, line);
  const auto& counts = sizes->histogram;
  const uint64_t most = *std::max_element(counts.begin(), counts.end());
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const auto [from, to] = ClassBounds(i);
    const double part = static_cast<double>(counts[i]) / static_cast<double>(most);
    const auto bar = std::max<size_t>(1, static_cast<size_t>(part * kHistogramWidth));
    histogram.Add({from == to
                       ? FormatCount(from)
                       : fmt::format("{} - {}", FormatCount(from), FormatCount(to)),
                   FormatCount(counts[i]), std::string(bar, '#')});
  }
  histogram.Finish();
}

void PrintTables(Context& context, const StatsReport& report, const Properties& own) {
  using enum Table::Align;
  const auto line = [&](std::string_view text) { context.terminal.Line(text); };

  Table totals({{"", kLeft}, {"", kRight}, {"", kLeft}}, line);
  const auto bytes = [&](const char* name, uint64_t size) {
    totals.Add({name, FormatCount(size), fmt::format("bytes ({})", FormatSize(size))});
  };
  totals.Add({"objects", FormatCount(report.objects), ""});
  totals.Add({"entries", FormatCount(report.stored_size.count), ""});
  bytes("size of objects", report.object_bytes);
  bytes("size of entries", report.stored_size.sum);
  if (report.preceding_bytes > 0) bytes("bytes before entries", report.preceding_bytes);
  bytes("indexes and gaps", report.overhead_bytes());
  if (report.damaged > 0) totals.Add({"damaged parts", FormatCount(report.damaged), ""});
  totals.Finish();
  if (!own.empty()) {
    line("");
    Table table({{"", kLeft}, {"", kLeft}}, line);
    for (const auto& [name, value] : own) table.Add({name, value.text()});
    table.Finish();
  }
  if (report.stored_size.count == 0) return;
  PrintSpread(context, {{"stored size", &report.stored_size},
                        {"entries per object", &report.entries_per_object}});
}

// Of standard input: what there is to count as it passes.
ExitStatus CountStream(Context& context) {
  Distribution sizes;
  const auto read = [&]() -> Result<StreamReport> {
    DOLIUM_TRY_VOID(context.CheckStreamOptions());
    StreamRequest request;
    request.stop = context.stop;
    request.entry = [&](std::string_view /*key*/, uint64_t size) {
      sizes.Add(size);
      return true;
    };
    return ReadStream(STDIN_FILENO, request);
  }();
  if (!read) return context.Fail(read.error());
  if (context.terminal.json()) {
    Json json = {{"location", kStandardInput},
                 {"entries", sizes.count},
                 {"size", DistributionJson(sizes)}};
    if (!read->properties.empty()) {
      json["format_counts"] = PropertiesJson(read->properties);
    }
    context.terminal.JsonLine("stats", json);
    return ExitStatus::kGood;
  }
  using enum Table::Align;
  const auto line = [&](std::string_view text) { context.terminal.Line(text); };
  Table totals({{"", kLeft}, {"", kRight}, {"", kLeft}}, line);
  totals.Add({"entries", FormatCount(sizes.count), ""});
  totals.Add({"size of entries", FormatCount(sizes.sum),
              fmt::format("bytes ({})", FormatSize(sizes.sum))});
  totals.Finish();
  line("");
  Table own({{"", kLeft}, {"", kLeft}}, line);
  for (const auto& [name, value] : read->properties) own.Add({name, value.text()});
  own.Finish();
  if (sizes.count > 0) PrintSpread(context, {{"size", &sizes}});
  return ExitStatus::kGood;
}

}  // namespace

ExitStatus RunStats(Context& context) {
  if (context.arguments[0] == kStandardInput) return CountStream(context);
  const auto source = context.OpenSource(context.arguments[0]);
  if (!source) return context.FailLocation(source.error());
  const auto report =
      (*source)->CountSizes({.jobs = context.jobs(),
                             .progress = context.terminal.StartProgress("stats"),
                             .stop = context.stop});
  context.terminal.EndProgress();
  if (!report) return context.FailLocation(report.error());
  const auto counts = (*source)->Statistics(context.stop);
  if (!counts) return context.FailLocation(counts.error());
  if (context.terminal.json()) {
    PrintJson(context, (*source)->location(), *report, *counts);
  } else {
    PrintTables(context, *report, *counts);
  }
  return report->damaged == 0 ? ExitStatus::kGood : ExitStatus::kBad;
}

}  // namespace dolium::cli
