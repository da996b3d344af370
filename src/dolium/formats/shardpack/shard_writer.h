// ShardWriter: one shard, front to back. Records come encoded; it remembers what the tail
// needs, and writes the tail at the end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/bytes/store.h"
#include "dolium/formats/shardpack/encode.h"
#include "dolium/formats/shardpack/tail_builder.h"

namespace dolium::shardpack {

struct ShardWriterOptions {
  EncodeOptions encode;
  TailOptions tail;
  nlohmann::ordered_json user = nlohmann::ordered_json::object();  // `user` of META
  std::string dataset;        // its name; may be empty
  bool reproducible = false;  // equal input gives equal bytes: no time in META
  bool force = false;         // replace what is there
};

struct ShardSummary {
  Location location;
  uint64_t records = 0;
  uint64_t bytes = 0;  // of the file
  Stat stat;
};

// One thread at a time. Destroyed without Finish, it leaves nothing behind; killed, a
// temporary that RepairShard can make a shard of.
class ShardWriter {
 public:
  // kExists if the object is there and may not be replaced.
  static Result<std::unique_ptr<ShardWriter>> Create(const Location& location,
                                                     const ShardWriterOptions& options);

  Result<void> Append(const EncodedRecord& record);

  const Location& location() const { return location_; }
  uint64_t records() const { return tail_.record_count(); }
  uint64_t bytes() const { return tail_.index_offset(); }  // of the records so far

  // `number` of how many shards of a set this is, where known.
  Result<ShardSummary> Finish(std::optional<uint64_t> number = std::nullopt);

 private:
  ShardWriter(Location location, ShardWriterOptions options,
              std::unique_ptr<ObjectWriter> object)
      : location_(std::move(location)),
        options_(std::move(options)),
        object_(std::move(object)),
        tail_(options_.tail) {}

  std::string MetadataText(std::optional<uint64_t> number) const;

  Location location_;
  ShardWriterOptions options_;
  std::unique_ptr<ObjectWriter> object_;
  TailBuilder tail_;
};

// The names of compressions in metadata and on the command line: none, gzip, lz4, zstd.
std::string_view CompressionName(Compression compression);
Result<Compression> ParseCompression(std::string_view name);

}  // namespace dolium::shardpack
