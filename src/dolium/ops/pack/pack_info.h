// info: what the shards of a set say of themselves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/formats/shardpack/sections.h"

namespace dolium::dataset {

struct SectionFacts {
  std::string tag;
  uint64_t stored_size = 0;
  uint64_t raw_size = 0;
};

struct ShardFacts {
  std::string shard;
  uint64_t size = 0;  // of the file
  uint64_t records = 0;
  uint64_t index_offset = 0;
  uint64_t alignment = 8;
  std::string version;
  bool has_dictionaries = false;
  std::optional<shardpack::Stat> stat;  // nullopt if there is none, or it is damaged
  std::vector<SectionFacts> sections;
  nlohmann::ordered_json metadata;  // META; empty if there is none
};

// Files of one name and content type.
struct ColumnFacts {
  std::string name;
  std::string content_type;
  // Where all headers were read:
  uint64_t entries = 0;
  uint64_t raw_bytes = 0;
  uint64_t stored_bytes = 0;
  std::map<std::string, uint64_t> codecs = {};  // how many entries have which
};

struct PackFacts {
  std::vector<ShardFacts> shards;
  uint64_t size = 0;
  uint64_t records = 0;
  // Sums of what the shards say; nullopt if one does not.
  std::optional<uint64_t> entries;
  std::optional<uint64_t> raw_bytes;
  std::optional<uint64_t> stored_bytes;
  // Files that every record has, as far as the tails say; or all there are, with `scan`.
  std::vector<ColumnFacts> columns;
};

struct PackInfoOptions {
  bool scan = false;  // read the headers of all records
  size_t jobs = 0;
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

// Reads the tails of shards, many at once. kCorrupt for a damaged record only with
// `scan`.
Result<PackFacts> InfoOfPack(std::span<const std::string> references,
                             const PackInfoOptions& options);

}  // namespace dolium::dataset
