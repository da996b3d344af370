// UpdateShard: changes chunks of one shard by rewriting it.
//
// A rewrite is compare-and-swap: the new shard is made from one generation of the old one
// and replaces only that generation. Whoever loses the race starts over from the new
// state, so a chunk that is made from what was there before loses nothing either.
// Untouched chunks are copied, by the kernel where it can.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/codec/codec.h"
#include "dolium/formats/neuroglancer/info.h"
#include "dolium/formats/neuroglancer/shard_reader.h"

namespace dolium::neuroglancer {

// What is there of a chunk before an update.
struct OldChunk {
  bool is_there = false;
  std::optional<Bytes> value;  // decoded; if it is there and was asked for
};

// What comes in its place. Not encoded yet.
struct NewChunk {
  ByteVector value;
  ByteVector preceding = {};
};

struct ChunkUpdate {
  uint64_t id = 0;
  // Nullopt removes the chunk. May be called from any thread; again, from the new state,
  // if somebody else was faster, unless it needs nothing.
  std::function<Result<std::optional<NewChunk>>(const OldChunk& old)> make;
  enum class Needs : uint8_t { kNothing, kPresence, kValue };
  Needs needs = Needs::kNothing;
};

struct UpdateOptions {
  size_t jobs = 1;  // threads that make and encode chunks
  uint64_t decode_limit = kDefaultDecodeLimit;
  // Called with how many bytes of the new shard are written; less again after a lost
  // race.
  std::function<void(uint64_t bytes)> progress = {};
  std::stop_token stop = {};
};

// The new chunks are in memory, encoded, while the shard is written. A shard that loses
// its last chunk is removed. Precondition: all ids belong to `shard`,
// and none comes twice.
Result<void> UpdateShard(const ShardReader& reader, Store& store, Kind kind,
                         uint64_t shard, std::span<const ChunkUpdate> updates,
                         const UpdateOptions& options);

}  // namespace dolium::neuroglancer
