// cas ls, log, stats, diff.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cas/cas_arguments.h"
#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/terminal/table.h"
#include "cli/verbs.h"
#include "dolium/domain/cas/statistics.h"

namespace dolium::cli {
namespace {

using Align = Table::Align;

// A table that prints nothing, not even its headings, if it has no rows.
class Rows {
 public:
  Rows(const Context& context, std::vector<Table::Column> columns)
      : context_(context), columns_(std::move(columns)) {}

  void Add(std::vector<std::string> cells) {
    if (!table_) {
      table_.emplace(columns_,
                     [this](std::string_view line) { context_.terminal.Line(line); });
    }
    table_->Add(std::move(cells));
  }
  void Finish() {
    if (table_) table_->Finish();
  }

 private:
  const Context& context_;
  const std::vector<Table::Column> columns_;
  std::optional<Table> table_;
};

// As in the listing of a folder, but for the names and forms that all lines share: those
// of `ls` have the path as `key`.
Json EntryMembers(const cas::ManifestEntry& entry) {
  const Json listed = cas::EntryJson(entry);
  Json members;
  cas::AddText(members, "key", entry.path);
  for (const auto& [name, value] : listed.items()) {
    members[name == "type" ? "kind" : name] = value;
  }
  members["modified"] = JsonTime(entry.modified);
  return members;
}

Result<void> ListVersionEntries(const Context& context, const cas::CasStore& store,
                                const VersionPart& part) {
  const cas::Version& version = part.version;
  DOLIUM_TRY(const auto lease, store.TakeLease());
  DOLIUM_TRY_VOID(store.FindPart(version, part.path, *lease));
  const bool is_long = context.arguments.Has("long");
  Rows table(context,
             {{"key"}, {"size", Align::kRight}, {"modified"}, {"mode"}, {"hash"}});
  const auto show = [&](const cas::ManifestEntry& entry) -> Result<void> {
    if (context.terminal.json()) {
      context.terminal.JsonLine("entry", EntryMembers(entry));
    } else if (is_long) {
      const bool is_file = entry.type == cas::EntryType::kFile;
      const bool is_link = entry.type == cas::EntryType::kLink;
      const bool is_special = IsSpecial(entry.type);
      table.Add({is_link ? fmt::format("{} -> {}", entry.path, entry.target) : entry.path,
                 is_file ? std::to_string(entry.size) : "-", FormatTime(entry.modified),
                 is_link ? "link"
                 : is_special
                     ? fmt::format("{:04o} {}", entry.mode, EntryTypeName(entry.type))
                     : fmt::format("{:04o}", entry.mode),
                 is_file ? ToString(entry.hash) : ""});
    } else {
      context.terminal.Line(entry.path);
    }
    return {};
  };
  if (version.kind == cas::VersionKind::kFile) {
    DOLIUM_TRY_VOID(show(FileEntryOf(version)));
  } else {
    DOLIUM_TRY_VOID(
        store.VisitManifest(version, *lease, [&](const cas::ManifestEntry& entry) {
          std::string below = entry.path;
          return cas::MoveBelow(part.path, below) ? show(entry) : Result<void>();
        }));
  }
  table.Finish();
  return {};
}

Result<void> ListAllNames(const Context& context, const cas::CasStore& store) {
  DOLIUM_TRY(const auto names, cas::ListNames(store.layout()));
  Rows table(context, {{"name"},
                       {"versions", Align::kRight},
                       {"kind"},
                       {"size", Align::kRight},
                       {"created"}});
  for (const std::string& name : names) {
    DOLIUM_TRY(const auto files, cas::ListVersionFiles(store.layout(), name));
    if (files.empty()) continue;
    if (!context.terminal.json() && !context.arguments.Has("long")) {
      context.terminal.Line(name);
      continue;
    }
    DOLIUM_TRY(const auto latest,
               cas::ReadVersionFile(store.layout(), files.back(), name));
    if (context.terminal.json()) {
      Json json = {{"versions", files.size()}};
      json.update(VersionMembers(latest));
      context.terminal.JsonLine("name", json);
    } else {
      table.Add({name, FormatCount(files.size()),
                 std::string(VersionKindName(latest.kind)),
                 FormatSize(latest.totals.bytes), FormatTime(latest.created)});
    }
  }
  table.Finish();
  return {};
}

Result<void> ShowLog(const Context& context, const cas::CasStore& store) {
  std::vector<std::string> names;
  if (context.arguments.positionals().empty()) {
    DOLIUM_TRY(names, cas::ListNames(store.layout()));
  } else {
    names = context.arguments.positionals();
  }
  DOLIUM_TRY(const cas::VersionFilter filter, FilterOf(context));
  std::vector<cas::Version> versions;
  for (const std::string& name : names) {
    DOLIUM_TRY(const auto found, cas::ListVersions(store.layout(), name));
    if (found.empty()) {
      return NotFound(fmt::format("{}: no version of that name", name));
    }
    std::ranges::copy_if(
        found, std::back_inserter(versions),
        [&](const cas::Version& version) { return filter.Match(version); });
  }
  std::stable_sort(versions.begin(), versions.end(),
                   [](const auto& a, const auto& b) { return a.created < b.created; });
  const bool has_tags = std::ranges::any_of(
      versions, [](const cas::Version& version) { return !version.tags.empty(); });
  std::vector<Table::Column> columns = {{"version"},
                                        {"created"},
                                        {"files", Align::kRight},
                                        {"size", Align::kRight},
                                        {"new", Align::kRight},
                                        {"on disk", Align::kRight},
                                        {"aligned"}};
  if (has_tags) columns.push_back({"tags"});
  Rows table(context, std::move(columns));
  for (const cas::Version& version : versions) {
    if (context.terminal.json()) {
      context.terminal.JsonLine("version", VersionMembers(version));
      continue;
    }
    std::vector<std::string> cells = {version.reference(),
                                      FormatTime(version.created),
                                      FormatCount(version.totals.files),
                                      FormatSize(version.totals.bytes),
                                      FormatSize(version.totals.new_bytes),
                                      FormatSize(version.totals.stored_bytes),
                                      version.is_aligned ? "yes" : "no"};
    if (has_tags) cells.push_back(fmt::format("{}", fmt::join(version.tags, ",")));
    table.Add(std::move(cells));
  }
  table.Finish();
  return {};
}

Result<void> StatStore(const Context& context, const cas::CasStore& store) {
  DOLIUM_TRY(const auto counts, cas::CountStore(store));
  if (context.terminal.json()) {
    Json histogram = Json::object();
    for (size_t i = 0; i < counts.histogram.size(); ++i) {
      if (counts.histogram[i] > 0) {
        histogram[std::to_string(uint64_t{1} << i)] = counts.histogram[i];
      }
    }
    context.terminal.JsonLine("stats", {{"names", counts.names},
                                        {"versions", counts.versions},
                                        {"files", counts.files},
                                        {"bytes", counts.bytes},
                                        {"chunks", counts.chunks},
                                        {"raw_bytes", counts.raw_bytes},
                                        {"xorbs", counts.xorbs},
                                        {"stored_bytes", counts.stored_bytes},
                                        {"shards", counts.shards},
                                        {"shard_bytes", counts.shard_bytes},
                                        {"index_bytes", counts.index_bytes},
                                        {"dedup_ratio", counts.dedup_ratio()},
                                        {"compression_ratio", counts.compression_ratio()},
                                        {"histogram", histogram}});
    return {};
  }
  const auto line = [&](std::string_view name, const std::string& value) {
    context.terminal.Line(fmt::format("{:<14}{}", name, value));
  };
  line("versions", fmt::format("{} of {}", FormatCount(counts.versions),
                               CountOf(counts.names, "name", "names")));
  line("files",
       fmt::format("{}, {}", FormatCount(counts.files), FormatSize(counts.bytes)));
  line("chunks",
       fmt::format("{}, {}", FormatCount(counts.chunks), FormatSize(counts.raw_bytes)));
  line("xorbs",
       fmt::format("{}, {}", FormatCount(counts.xorbs), FormatSize(counts.stored_bytes)));
  line("shards",
       fmt::format("{}, {}", FormatCount(counts.shards), FormatSize(counts.shard_bytes)));
  line("index", FormatSize(counts.index_bytes));
  line("dedup ratio", fmt::format("{:.2f}", counts.dedup_ratio()));
  line("compression", fmt::format("{:.2f}", counts.compression_ratio()));
  uint64_t largest = 1;
  for (const uint64_t count : counts.histogram) largest = std::max(largest, count);
  constexpr uint64_t kBar = 40;
  for (size_t i = 0; i < counts.histogram.size(); ++i) {
    const uint64_t count = counts.histogram[i];
    if (count == 0) continue;
    line(fmt::format("  >= {}", uint64_t{1} << i),
         fmt::format("{:>12}  {}", FormatCount(count),
                     std::string((count * kBar + largest - 1) / largest, '#')));
  }
  return {};
}

Result<void> StatVersion(const Context& context, const cas::CasStore& store) {
  DOLIUM_TRY(const auto version, FindVersionOf(store, context.arguments[0]));
  DOLIUM_TRY(const auto counts, cas::CountVersion(store, version));
  const cas::PutTotals& totals = version.totals;
  if (context.terminal.json()) {
    Json json = VersionMembers(version);
    json["terms"] = counts.terms;
    json["xorbs"] = counts.xorbs;
    json["unique_bytes"] = counts.unique_bytes;
    context.terminal.JsonLine("version", json);
    return {};
  }
  const auto line = [&](std::string_view name, const std::string& value) {
    context.terminal.Line(fmt::format("{:<14}{}", name, value));
  };
  const auto share = [&](uint64_t part) {
    return totals.bytes == 0
               ? 0.0
               : 100.0 * static_cast<double>(part) / static_cast<double>(totals.bytes);
  };
  line("version", version.sequence == 0 ? version.name : version.reference());
  line("hash", ToString(version.hash));
  if (version.sequence != 0) line("created", FormatTime(version.created));
  line("files",
       fmt::format("{}, {}", FormatCount(totals.files), FormatSize(totals.bytes)));
  line("unique", fmt::format("{}, {:.1f} %", FormatSize(counts.unique_bytes),
                             share(counts.unique_bytes)));
  if (version.sequence != 0) {
    line("added",
         fmt::format("{} of {}, {}, {:.1f} %; {} on disk", FormatCount(totals.new_chunks),
                     CountOf(totals.chunks, "chunk", "chunks"),
                     FormatSize(totals.new_bytes), share(totals.new_bytes),
                     FormatSize(totals.stored_bytes)));
    line("aligned", version.is_aligned ? "yes" : "no");
  }
  line("terms", fmt::format("{} of {}", FormatCount(counts.terms),
                            CountOf(counts.xorbs, "xorb", "xorbs")));
  return {};
}

Json SumMembers(const cas::ChunkSums& sums) {
  return {{"chunks", sums.chunks},
          {"bytes", sums.bytes},
          {"new_chunks", sums.new_chunks},
          {"new_bytes", sums.new_bytes}};
}

Result<void> StatTwo(const Context& context, const cas::CasStore& store) {
  DOLIUM_TRY(const auto first, FindVersionOf(store, context.arguments[0]));
  DOLIUM_TRY(const auto second, FindVersionOf(store, context.arguments[1]));
  DOLIUM_TRY(const auto counts, cas::CompareChunks(store, first, second, context.stop));
  const auto name = [](const cas::Version& version) {
    return version.sequence == 0 ? version.name : version.reference();
  };
  const auto gain = counts.gain();
  if (context.terminal.json()) {
    Json json;
    cas::AddText(json, "first", name(first));
    cas::AddText(json, "second", name(second));
    json.update(SumMembers(counts.stored));
    if (counts.plain) {
      json["not_aligned"] = SumMembers(*counts.plain);
      json["gain"] = *gain;
    }
    context.terminal.JsonLine("comparison", json);
    return {};
  }
  const auto line = [&](std::string_view title, const std::string& value) {
    context.terminal.Line(fmt::format("{:<14}{}", title, value));
  };
  const auto show = [&](std::string_view title, const cas::ChunkSums& sums) {
    const double share = sums.bytes == 0 ? 0.0
                                         : 100.0 * static_cast<double>(sums.new_bytes) /
                                               static_cast<double>(sums.bytes);
    line(title, fmt::format("{} of {}, {} of {}, {:.1f} %", FormatCount(sums.new_chunks),
                            CountOf(sums.chunks, "chunk", "chunks"),
                            FormatSize(sums.new_bytes), FormatSize(sums.bytes), share));
  };
  line("versions", fmt::format("{}, {}", name(first), name(second)));
  show("new", counts.stored);
  if (counts.plain) {
    show("not aligned", *counts.plain);
    line("gain", fmt::format("{}{}", *gain < 0 ? "-" : "",
                             FormatSize(static_cast<uint64_t>(std::abs(*gain)))));
  }
  return {};
}

void ShowDifference(const Context& context, const cas::VersionDifference& difference) {
  using Kind = cas::VersionDifference::Kind;
  const bool is_removed = difference.kind == Kind::kRemoved;
  const bool is_added = difference.kind == Kind::kAdded;
  if (context.terminal.json()) {
    Json json;
    cas::AddText(json, "path", difference.path);
    if (!difference.reason.empty()) json["reason"] = difference.reason;
    context.terminal.JsonLine(is_removed ? "removed"
                              : is_added ? "added"
                                         : "changed",
                              json);
    return;
  }
  context.terminal.Line(fmt::format(
      "{} {}{}",
      is_removed ? "-"
      : is_added ? "+"
                 : "~",
      difference.path, difference.reason.empty() ? "" : ": " + difference.reason));
}

Result<cas::VersionDifferences> DoDiff(const Context& context,
                                       const cas::CasStore& store) {
  DOLIUM_TRY(const auto first, FindVersionOf(store, context.arguments[0]));
  DOLIUM_TRY(const auto second, FindVersionOf(store, context.arguments[1]));
  const bool is_quiet = context.arguments.Has("quiet");
  return cas::DiffVersions(store, first, second,
                           [&](const cas::VersionDifference& difference) {
                             if (!is_quiet) ShowDifference(context, difference);
                           });
}

ExitStatus Look(Context& context,
                const std::function<Result<void>(const cas::CasStore&)>& look) {
  const auto store = OpenStore(context);
  if (!store) return context.FailLocation(store.error());
  const auto done = look(**store);
  return done ? ExitStatus::kGood : context.Fail(done.error());
}

}  // namespace

ExitStatus RunCasLs(Context& context) {
  return Look(context, [&](const cas::CasStore& store) -> Result<void> {
    if (context.arguments.positionals().empty()) return ListAllNames(context, store);
    DOLIUM_TRY(const VersionPart part, FindPartOf(store, context.arguments[0]));
    return ListVersionEntries(context, store, part);
  });
}

ExitStatus RunCasLog(Context& context) {
  return Look(context,
              [&](const cas::CasStore& store) { return ShowLog(context, store); });
}

ExitStatus RunCasStats(Context& context) {
  return Look(context, [&](const cas::CasStore& store) {
    const size_t count = context.arguments.positionals().size();
    return count == 0   ? StatStore(context, store)
           : count == 1 ? StatVersion(context, store)
                        : StatTwo(context, store);
  });
}

ExitStatus RunCasDiff(Context& context) {
  const auto store = OpenStore(context);
  if (!store) return context.FailLocation(store.error());
  const auto sum = DoDiff(context, **store);
  if (!sum) return context.Fail(sum.error());
  if (!context.arguments.Has("no-summary")) {
    if (context.terminal.json()) {
      context.terminal.JsonLine("summary", {{"equal", sum->equal},
                                            {"changed", sum->changed},
                                            {"removed", sum->removed},
                                            {"added", sum->added}});
    } else {
      context.terminal.Line(
          fmt::format("{} equal, {} changed, {} only in the first, {} only in the second",
                      FormatCount(sum->equal), FormatCount(sum->changed),
                      FormatCount(sum->removed), FormatCount(sum->added)));
    }
  }
  return sum->is_equal() ? ExitStatus::kGood : ExitStatus::kBad;
}

}  // namespace dolium::cli
