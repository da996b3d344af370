// What a user types for a set of shards, resolved to the shards, in order.
//
//   train-000000.shardpack             one shard
//   train-{000000..000973}.shardpack   brace notation (see shard_names.h)
//   data/train-*.shardpack             a pattern (see glob.h), in name order; local only
//   data                               a folder: its *.shardpack, in name order; local
//   only https://host/train-{00..99}.shardpack?token=x, gs://bucket/...
//   @shards, shards.txt                a list: one of the above per line, relative to the
//                                      list; empty lines and those that begin with # are
//                                      skipped
//   catalog.json                       a catalog (see catalog.h)
//
// A local name that exists is taken as it is, whatever characters it has. A list or
// catalog that was read over the network cannot name local files.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/catalog.h"

namespace dolium::dataset {

struct ShardReference {
  Location location;
  std::optional<CatalogShard> known = {};  // what a catalog says of it
};

// The shards of all references, one after another. Local shards are looked for, remote
// ones are not: only lists and catalogs are read. kNotFound names what matches nothing.
Result<std::vector<ShardReference>> ResolveSet(std::span<const std::string> references);
Result<std::vector<ShardReference>> ResolveSet(std::string_view reference);

}  // namespace dolium::dataset
