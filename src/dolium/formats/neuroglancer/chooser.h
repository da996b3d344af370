// Choosing preshift, minishard and shard bits from counts and sizes.
//
// docs/formats/neuroglancer.md explains the rules, and what TensorStore, cloud-volume and
// igneous choose instead.
#pragma once

#include <cstdint>

#include "dolium/base/result.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::neuroglancer {

struct SetSize {
  uint64_t entries = 0;
  uint64_t bytes = 0;       // of all values, as stored
  uint64_t largest_id = 0;  // for the identity hash, which keeps ranges of ids together
};

inline constexpr uint64_t kDefaultShardBytes = uint64_t{1} << 30;

// Bits so that a shard takes about `shard_bytes` (within a factor of two, if the hash
// spreads evenly) and a minishard about a thousand entries. The other members come from
// `base`.
ShardingSpec ChooseSharding(const ShardingSpec& base, const SetSize& size,
                            uint64_t shard_bytes);

}  // namespace dolium::neuroglancer
