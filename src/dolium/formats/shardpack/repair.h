// RepairShard: a good shard of what can be read of a damaged or unfinished one.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/container.h"
#include "dolium/formats/shardpack/headers.h"
#include "dolium/formats/shardpack/shard_writer.h"

namespace dolium::shardpack {

struct RepairOptions {
  Check check = Check::kFull;  // kHeaders: contents are taken as they are
  bool force = false;          // replace the target, which may be the source
  std::stop_token stop = {};
};

struct RepairReport {
  ShardSummary written;
  bool index_was_good = false;
  // Found, and not good; and those that a tail counts and that were not found.
  uint64_t records_lost = 0;
  // In which there was no record that could be taken over. Tails do not count.
  uint64_t bytes_skipped = 0;
};

// Blocks are copied as they are. With a good index, only bad records are left out.
// Without, or with one that is of something else (shards that were joined, bytes missing
// before it), records are looked for in all of the bytes (record_finder.h): a ShardPack
// inside another one is not mistaken for its records. What is lost is reported to
// `visitor`. kCorrupt (kind kNotShardPack) if there is nothing to be had.
Result<RepairReport> RepairShard(const Location& source, const Location& target,
                                 const RepairOptions& options,
                                 const FindingVisitor& visitor);

}  // namespace dolium::shardpack
