// Shards as sets of files and xorbs: union and difference.
//
// Inputs are gone through once, side by side, in the order of their hashes, so that
// memory does not grow with them: they may be memory maps. Outputs are cut where they
// would exceed a size. An input that is not in order is kInvalidArgument; so is one with
// another key, and an output without footer in which some files have a verification and
// others none. Whether an input has expired is for the caller to ask.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "dolium/base/result.h"
#include "dolium/formats/xet/mdb_reader.h"
#include "dolium/formats/xet/mdb_writer.h"

namespace dolium::xet {

struct ShardSetOptions {
  ShardWriteOptions write = {};      // but for the key, which is that of the inputs
  uint64_t shard_limit = kMaxShard;  // bytes; a single block may exceed it
};

// Gives the place for the next output.
using NextSink = std::function<Result<ByteSink>()>;

// Writes all that is in any of `shards`; of what is in several, the first. Of a file that
// is in several, range hashes and SHA-256 may come from different ones, so that none is
// lost. Gives the number of shards written: at least one.
Result<size_t> UniteShards(std::span<const ShardView> shards,
                           const ShardSetOptions& options, const NextSink& next);

// Writes what is in `shard` and in none of `without`.
Result<size_t> SubtractShards(const ShardView& shard, std::span<const ShardView> without,
                              const ShardSetOptions& options, const NextSink& next);

}  // namespace dolium::xet
