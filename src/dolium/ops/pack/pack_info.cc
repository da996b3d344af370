#include "dolium/ops/pack/pack_info.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/domain/dataset/set_reference.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/ops/pack/pack_sample.h"

namespace dolium::dataset {
namespace {

using shardpack::EntryColumn;
using shardpack::EntryHeader;
using shardpack::Shard;

// Opening is waiting: more threads than cores.
constexpr size_t kInfoOpeners = 16;
constexpr uint64_t kRecordsAtOnce = 1024;

ShardFacts TailFacts(const Shard& shard) {
  const shardpack::Footer& footer = shard.footer();
  ShardFacts facts{
      .shard = shard.Describe(),
      .size = footer.file_size,
      .records = shard.size(),
      .index_offset = footer.index_offset,
      .alignment = uint64_t{1} << footer.align_log2,
      .version = fmt::format("{}.{}", shardpack::kVersionMajor, footer.minor),
      .has_dictionaries =
          (footer.features_optional & shardpack::kFeatureDictionaries) != 0,
      .stat = shard.stat(),
      .sections = {},
      .metadata = nlohmann::ordered_json::object()};
  if (shard.sections()) {
    for (const shardpack::Section& section : *shard.sections()) {
      facts.sections.push_back(
          {std::string(section.name()), section.range.length, section.raw_size});
    }
  }
  if (auto metadata = shard.metadata()) facts.metadata = *std::move(metadata);
  return facts;
}

// What META or ENTX say of the files that all records have.
std::vector<EntryColumn> ColumnsOf(const Shard& shard, const ShardFacts& facts) {
  std::vector<EntryColumn> columns;
  if (!facts.stat || !facts.stat->is_regular) return columns;
  const auto own = facts.metadata.find("shardpack");
  if (own != facts.metadata.end() && own->is_object() && own->contains("columns") &&
      own->at("columns").is_array()) {
    for (const auto& column : own->at("columns")) {
      const auto text = [&](const char* name) {
        return column.is_object() && column.contains(name) && column.at(name).is_string()
                   ? column.at(name).get<std::string>()
                   : std::string();
      };
      columns.push_back({text("name"), text("content_type")});
    }
    return columns;
  }
  const auto body = shard.ReadSection("ENTX");
  if (!body || !*body) return columns;
  const auto index = shardpack::EntryIndex::Parse(**body, shard.size());
  if (index) columns = index->columns();
  return columns;
}

// Counts what the headers of all records say.
class Scan {
 public:
  Scan(const std::vector<std::shared_ptr<const Shard>>& shards,
       const PackInfoOptions& options)
      : shards_(shards), options_(options) {
    for (size_t i = 0; i < shards.size(); ++i) {
      total_ += shards[i]->size();
      for (uint64_t begin = 0; begin < shards[i]->size(); begin += kRecordsAtOnce) {
        tasks_.push_back({i, begin});
      }
    }
  }

  Result<std::vector<ColumnFacts>> Run() {
    DOLIUM_TRY_VOID(ParallelFor(
        tasks_.size(), options_.jobs, [&](size_t i) { return Count(tasks_[i]); },
        options_.stop));
    std::vector<ColumnFacts> columns;
    for (auto& [name, column] : columns_) columns.push_back(std::move(column));
    return columns;
  }

 private:
  struct Task {
    size_t shard = 0;
    uint64_t begin = 0;
  };
  using Columns = std::map<std::pair<std::string, std::string>, ColumnFacts>;

  static ColumnFacts& Column(Columns& columns, std::string_view name,
                             std::string_view type) {
    auto [at, is_new] =
        columns.try_emplace(std::pair(std::string(name), std::string(type)));
    if (is_new) {
      at->second.name = name;
      at->second.content_type = type;
    }
    return at->second;
  }

  Result<void> Count(const Task& task) {
    const Shard& shard = *shards_[task.shard];
    std::vector<uint64_t> numbers;
    const uint64_t end = std::min(shard.size(), task.begin + kRecordsAtOnce);
    for (uint64_t i = task.begin; i < end; ++i) numbers.push_back(i);
    Columns counted;
    uint64_t bytes = 0;
    for (size_t i = 0; const auto& record : shard.ReadMany(numbers)) {
      if (!record) return record.error();
      if (record->damage()) {
        return record->damage()->Within(
            fmt::format("{}: record {}", shard.Describe(), numbers[i]));
      }
      ++i;
      bytes += record->block().size();
      for (const EntryHeader& entry : record->entries()) {
        if (entry.is_aux()) continue;
        ColumnFacts& column = Column(counted, entry.name, entry.content_type);
        // Of a file that is cut, the first segment counts.
        if (!entry.segment || entry.segment->offset == 0) ++column.entries;
        column.raw_bytes += entry.raw_size;
        column.stored_bytes += entry.stored_size;
        ++column.codecs[CodecName(entry.codec)];
      }
    }
    const std::scoped_lock lock(mutex_);
    for (const auto& [name, one] : counted) {
      ColumnFacts& column = Column(columns_, one.name, one.content_type);
      column.entries += one.entries;
      column.raw_bytes += one.raw_bytes;
      column.stored_bytes += one.stored_bytes;
      for (const auto& [codec, count] : one.codecs) column.codecs[codec] += count;
    }
    done_ += numbers.size();
    done_bytes_ += bytes;
    if (options_.progress) options_.progress({done_, total_, done_bytes_, 0});
    return {};
  }

  const std::vector<std::shared_ptr<const Shard>>& shards_;
  const PackInfoOptions& options_;
  std::vector<Task> tasks_;
  uint64_t total_ = 0;
  std::mutex mutex_;
  Columns columns_;
  uint64_t done_ = 0;
  uint64_t done_bytes_ = 0;
};

}  // namespace

Result<PackFacts> InfoOfPack(std::span<const std::string> references,
                             const PackInfoOptions& options) {
  DOLIUM_TRY(const auto found, ResolveSet(references));
  std::vector<std::shared_ptr<const Shard>> shards(found.size());
  PackFacts facts;
  facts.shards.resize(found.size());
  DOLIUM_TRY_VOID(ParallelFor(
      found.size(), std::max(kInfoOpeners, options.jobs),
      [&](size_t i) -> Result<void> {
        DOLIUM_TRY(shards[i],
                   Shard::Open(found[i].location, {.check = shardpack::Check::kHeaders}));
        facts.shards[i] = TailFacts(*shards[i]);
        return {};
      },
      options.stop));
  facts.entries = facts.raw_bytes = facts.stored_bytes = 0;
  for (const ShardFacts& shard : facts.shards) {
    facts.size += shard.size;
    facts.records += shard.records;
    if (!shard.stat || !facts.entries) {
      facts.entries = facts.raw_bytes = facts.stored_bytes = std::nullopt;
      continue;
    }
    *facts.entries += shard.stat->entries;
    *facts.raw_bytes += shard.stat->raw_bytes;
    *facts.stored_bytes += shard.stat->stored_bytes;
  }
  if (options.scan) {
    DOLIUM_TRY(facts.columns, Scan(shards, options).Run());
    return facts;
  }
  const std::vector<EntryColumn> columns = ColumnsOf(*shards[0], facts.shards[0]);
  for (size_t i = 1; i < shards.size(); ++i) {
    if (ColumnsOf(*shards[i], facts.shards[i]) != columns) return facts;
  }
  for (const EntryColumn& column : columns) {
    facts.columns.push_back({.name = column.name, .content_type = column.content_type});
  }
  return facts;
}

}  // namespace dolium::dataset
