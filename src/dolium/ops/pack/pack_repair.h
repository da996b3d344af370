// Repair of a shard, or of what is left of one that was not finished.
#pragma once

#include <optional>
#include <stop_token>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/container.h"
#include "dolium/formats/shardpack/repair.h"

namespace dolium::dataset {

// What a writer of `shard` that was killed left behind, beside it or in the folder of its
// job: the newest of its temporaries, nullopt if there is none. kUnavailable if its
// writer lives. Local shards only.
Result<std::optional<Location>> FindAbandoned(const Location& shard);

// What there is to be repaired of a shard.
struct RepairSource {
  Location location;
  bool is_abandoned = false;  // what a killed writer left; there is no shard
};

// kNotFound if there is neither.
Result<RepairSource> FindRepairSource(const Location& shard);

struct PackRepairOptions {
  bool quick = false;  // contents are taken as they are, unchecked
  bool force = false;  // replace the target, which may be the source
  std::stop_token stop = {};
};

// See shardpack::RepairShard().
Result<shardpack::RepairReport> RepairPack(const Location& source, const Location& target,
                                           const PackRepairOptions& options,
                                           const FindingVisitor& visitor);

}  // namespace dolium::dataset
