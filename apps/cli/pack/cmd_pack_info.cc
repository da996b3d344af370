#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/pack/pack_arguments.h"
#include "cli/pack/pack_input.h"
#include "cli/terminal/size.h"
#include "cli/terminal/table.h"
#include "cli/verbs.h"
#include "dolium/ops/pack/pack_info.h"

namespace dolium::cli {
namespace {

using dataset::ColumnFacts;
using dataset::PackFacts;
using dataset::SectionFacts;
using dataset::ShardFacts;

template <typename T>
Json ValueOrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json ColumnJson(const ColumnFacts& column, bool is_counted) {
  Json json = {{"name", column.name}, {"content_type", column.content_type}};
  if (!is_counted) return json;
  json["entries"] = column.entries;
  json["raw_bytes"] = column.raw_bytes;
  json["stored_bytes"] = column.stored_bytes;
  json["codecs"] = column.codecs;
  return json;
}

Json ShardJson(const ShardFacts& shard) {
  Json json = {{"shard", shard.shard},
               {"version", shard.version},
               {"size", shard.size},
               {"records", shard.records},
               {"index_offset", shard.index_offset},
               {"alignment", shard.alignment},
               {"dictionaries", shard.has_dictionaries},
               {"stat", Json()},
               {"sections", Json::array()},
               {"metadata", shard.metadata}};
  if (shard.stat) {
    const shardpack::Stat& stat = *shard.stat;
    json["stat"] = {{"entries", stat.entries},
                    {"raw_bytes", stat.raw_bytes},
                    {"stored_bytes", stat.stored_bytes},
                    {"smallest_record", stat.min_record},
                    {"largest_record", stat.max_record},
                    {"largest_entry", stat.largest_raw},
                    {"keys_digest", fmt::format("{:016x}", stat.keys_digest)},
                    {"keys_unique", stat.keys_unique},
                    {"keys_ascending", stat.keys_ascending},
                    {"all_plain", stat.all_plain},
                    {"regular", stat.is_regular},
                    {"parts", stat.has_parts}};
  }
  for (const SectionFacts& section : shard.sections) {
    json["sections"].push_back({{"tag", section.tag},
                                {"stored_size", section.stored_size},
                                {"raw_size", section.raw_size}});
  }
  return json;
}

void PrintJson(const Context& context, const PackFacts& facts, bool is_counted) {
  Json json = {{"records", facts.records},
               {"entries", ValueOrNull(facts.entries)},
               {"raw_bytes", ValueOrNull(facts.raw_bytes)},
               {"stored_bytes", ValueOrNull(facts.stored_bytes)},
               {"size", facts.size},
               {"columns", Json::array()},
               {"shards", Json::array()}};
  for (const ColumnFacts& column : facts.columns) {
    json["columns"].push_back(ColumnJson(column, is_counted));
  }
  for (const ShardFacts& shard : facts.shards) json["shards"].push_back(ShardJson(shard));
  context.terminal.JsonLine("pack", json);
}

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : ToLine(value);
}

std::string KeysText(const shardpack::Stat& stat) {
  return fmt::format("{}, {}", stat.keys_unique ? "unique" : "not known to be unique",
                     stat.keys_ascending ? "ascending" : "not ascending");
}

// What the shards have in common, "different" where they do not.
class Common {
 public:
  void Add(const std::string& name, const std::string& value) {
    for (auto& [known, text] : rows_) {
      if (known != name) continue;
      if (text != value) text = "different";
      return;
    }
    rows_.emplace_back(name, value);
  }
  void Print(Table& table) const {
    for (const auto& [name, value] : rows_) table.Add({name, value});
  }

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

void PrintHead(const Context& context, const PackFacts& facts) {
  Table head({{}, {}}, [&](std::string_view line) { context.terminal.Line(line); });
  head.Add({"shards", FormatCount(facts.shards.size())});
  head.Add({"size", fmt::format("{} ({} bytes)", FormatSize(facts.size),
                                FormatCount(facts.size))});
  head.Add({"records", FormatCount(facts.records)});
  if (facts.entries) {
    head.Add({"entries", fmt::format("{}, {}, stored as {}", FormatCount(*facts.entries),
                                     FormatSize(*facts.raw_bytes),
                                     FormatSize(*facts.stored_bytes))});
  }
  Common common;
  for (const ShardFacts& shard : facts.shards) {
    common.Add("version", shard.version);
    common.Add("alignment", std::to_string(shard.alignment));
    if (shard.stat) common.Add("keys", KeysText(*shard.stat));
    std::string sections;
    for (const SectionFacts& section : shard.sections) {
      sections += fmt::format("{}{}", sections.empty() ? "" : " ", section.tag);
    }
    common.Add("sections", sections);
    if (shard.has_dictionaries) common.Add("dictionary", "yes");
    const auto own = shard.metadata.find("shardpack");
    if (own != shard.metadata.end() && own->is_object()) {
      for (const char* const name : {"compression", "level", "dataset", "writer"}) {
        if (own->contains(name)) common.Add(name, TextOf(own->at(name)));
      }
    }
    const auto user = shard.metadata.find("user");
    if (user != shard.metadata.end() && user->is_object()) {
      for (const auto& [name, value] : user->items()) {
        common.Add("metadata " + name, TextOf(value));
      }
    }
  }
  common.Print(head);
  head.Finish();
}

void PrintColumns(const Context& context, const PackFacts& facts, bool is_counted) {
  if (facts.columns.empty()) return;
  const auto print = [&](std::string_view line) { context.terminal.Line(line); };
  print("");
  using enum Table::Align;
  std::vector<Table::Column> headings = {{"file"}, {"content type"}};
  if (is_counted) {
    headings.insert(
        headings.end(),
        {{"entries", kRight}, {"size", kRight}, {"stored", kRight}, {"compression"}});
  }
  Table table(headings, print);
  for (const ColumnFacts& column : facts.columns) {
    std::vector<std::string> row = {
        column.name, column.content_type.empty() ? "-" : column.content_type};
    if (is_counted) {
      std::string codecs;
      for (const auto& [codec, count] : column.codecs) {
        codecs +=
            fmt::format("{}{} {}", codecs.empty() ? "" : ", ", codec, FormatCount(count));
      }
      row.insert(row.end(),
                 {FormatCount(column.entries), std::to_string(column.raw_bytes),
                  std::to_string(column.stored_bytes), codecs});
    }
    table.Add(std::move(row));
  }
  table.Finish();
}

void PrintShards(const Context& context, const PackFacts& facts) {
  const auto print = [&](std::string_view line) { context.terminal.Line(line); };
  print("");
  using enum Table::Align;
  Table table({{"shard"},
               {"records", kRight},
               {"entries", kRight},
               {"size", kRight},
               {"largest record", kRight},
               {"created"}},
              print);
  for (const ShardFacts& shard : facts.shards) {
    std::string created = "-";
    const auto own = shard.metadata.find("shardpack");
    if (own != shard.metadata.end() && own->is_object() && own->contains("created")) {
      created = TextOf(own->at("created"));
    }
    table.Add({shard.shard, std::to_string(shard.records),
               shard.stat ? std::to_string(shard.stat->entries) : "-",
               std::to_string(shard.size),
               shard.stat ? std::to_string(shard.stat->max_record) : "-", created});
  }
  table.Finish();
}

Result<PackFacts> FactsOf(const std::vector<std::string>& references,
                          const dataset::PackInfoOptions& options) {
  DOLIUM_TRY(const PackInputs inputs, PackInputs::Open(references));
  auto facts = InfoOfPack(inputs.paths(), options);
  if (!facts) return inputs.Named(std::move(facts).error());
  for (ShardFacts& shard : facts->shards) shard.shard = inputs.Named(shard.shard);
  return facts;
}

// With `scan`, what only the headers of all records say too.
ExitStatus ShowPack(Context& context, bool scan) {
  dataset::PackInfoOptions options;
  options.scan = scan;
  options.jobs = context.jobs();
  options.stop = context.stop;
  if (scan) options.progress = context.terminal.StartProgress("stats");
  const auto facts = FactsOf(context.arguments.positionals(), options);
  context.terminal.EndProgress();
  if (!facts) return context.FailLocation(facts.error());
  if (context.terminal.json()) {
    PrintJson(context, *facts, scan);
    return ExitStatus::kGood;
  }
  PrintHead(context, *facts);
  PrintColumns(context, *facts, scan);
  if (context.arguments.Has("long")) PrintShards(context, *facts);
  return ExitStatus::kGood;
}

}  // namespace

ExitStatus RunPackInfo(Context& context) {
  return ShowPack(context, context.arguments.Has("scan"));
}

ExitStatus RunPackStats(Context& context) { return ShowPack(context, /*scan=*/true); }

}  // namespace dolium::cli
