// Shards of volumes: which chunks each one holds, and how to choose their sizes.
//
// The key of a chunk is its Morton code, and with the identity hash a shard is a pattern
// of its bits: from the lowest, `preshift_bits` and `minishard_bits` run through the
// chunks of a shard, then `shard_bits` are the shard's number, and any bits above these
// run through chunks of the same shard again. If there are none above, every shard is a
// box of cells, which can be written by itself. With the murmur hash a shard's chunks are
// strewn over the volume and can only be found by trying all.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "dolium/base/result.h"
#include "dolium/domain/volume/morton.h"
#include "dolium/domain/volume/voxels.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::volume {

// The cells of a shard; empty if it has none. Nullopt if shards are not boxes of cells:
// with the murmur hash, or if the bits of `spec` are fewer than those of `morton`.
std::optional<Box> ShardCells(const neuroglancer::ShardingSpec& spec,
                              const MortonCode& morton, uint64_t shard);

// Visits, in ascending order, the shards that have at least one cell, until `visit`
// returns false. kUnsupported for the murmur hash.
Result<void> ForEachShard(const neuroglancer::ShardingSpec& spec,
                          const MortonCode& morton,
                          const std::function<bool(uint64_t shard)>& visit);

// Visits the codes of a shard's cells, in ascending order, until `visit` returns false.
// Whether the shard is a box or not, the time taken is that of its own cells, not of the
// grid's. kUnsupported for the murmur hash.
Result<void> ForEachCodeOfShard(const neuroglancer::ShardingSpec& spec,
                                const MortonCode& morton, uint64_t shard,
                                const std::function<bool(uint64_t code)>& visit);

// Bits for shards that are boxes of cells, with the identity hash and gzip for the
// minishard indexes. `chunk_bytes` is what a chunk takes as stored, on average.
//
// A shard has 2^w cells (fewer at the edges of the grid), w being the largest number with
// 2^w * chunk_bytes <= shard_bytes; preshift and minishard bits add up to w, about a
// thousand chunks to a minishard, as for every set that ChooseSharding() lays out; shard
// bits are the rest of the Morton code. So shards have at most the size wanted, and more
// than half of it if they are full.
//
// TensorStore instead takes the power of two nearest to the voxels wanted, uncompressed,
// with 512 chunks to a minishard, and gives up sharding if a shard would be one chunk.
// igneous takes the largest power of two of chunks that fits in 3.5 GB uncompressed, with
// up to 4,000 chunks to a minishard. All three end in boxes that the Morton code allows:
// x, y and z are doubled in turn until they reach the end of the grid.
neuroglancer::ShardingSpec ChooseVolumeSharding(const MortonCode& morton,
                                                uint64_t shard_bytes,
                                                uint64_t chunk_bytes,
                                                neuroglancer::Encoding data_encoding);

}  // namespace dolium::volume
