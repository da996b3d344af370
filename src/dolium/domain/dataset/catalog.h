// SetCatalog: what is known of the shards of a set, in one JSON file beside them.
//
// Optional, and always to be had again from the shards. One request for it spares a look
// at the tail of every shard: how many samples each has, how long it is and where its
// index begins.
//
//   {
//   "shardpack_catalog": 1,
//   "totals": {"shards": 2, "records": 40, "size": 81920},
//   "columns": [{"name": "left.jpg", "content_type": "image/jpeg"}],
//   "shards": [
//   {"path": "train-000000.shardpack", "size": 40960, "records": 20, "index_offset":
//   40000,
//    "footer_crc32c": "0de94707", "keys_digest": "6dac04b3b8f92c5d",
//    "min_key": "a/0001", "max_key": "a/0020"},
//   ...
//
// Checksums are hexadecimal text, since many JSON readers cannot hold 64-bit numbers.
// Members that are not known are skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"

namespace dolium::dataset {

struct CatalogShard {
  // Relative to the catalog's folder, `/`-separated; or an http, https or gs URL.
  std::string path;
  uint64_t size = 0;  // bytes of the file
  uint64_t records = 0;
  uint64_t index_offset = 0;
  uint32_t footer_crc32c = 0;
  std::optional<uint64_t> keys_digest = {};
  // Both or none: the first and last key of a shard whose keys ascend.
  std::optional<std::string> min_key = {};
  std::optional<std::string> max_key = {};

  friend bool operator==(const CatalogShard&, const CatalogShard&) = default;
};

// A file that every sample of the set has.
struct CatalogColumn {
  std::string name;
  std::string content_type = {};

  friend bool operator==(const CatalogColumn&, const CatalogColumn&) = default;
};

struct SetCatalog {
  std::vector<CatalogShard> shards = {};  // in the order of the set
  std::vector<CatalogColumn> columns = {};

  friend bool operator==(const SetCatalog&, const SetCatalog&) = default;
};

inline constexpr uint64_t kMaxCatalogBytes = uint64_t{256} << 20;

// kCorrupt if it is not a catalog or contradicts itself; kUnsupported if its version is
// newer. Paths are as in CatalogShard; numbers fit together: records and index fit the
// size of their shard, and sums fit the totals.
Result<SetCatalog> ParseCatalog(std::string_view text);

// The one text for a catalog, a line per shard. kInvalidArgument if ParseCatalog() would
// not take it back, which includes paths and keys that are not UTF-8.
Result<std::string> CatalogText(const SetCatalog& catalog);

}  // namespace dolium::dataset
