// split, merge, reshard, subset, sort, shuffle, compact: samples of one set as another.
//
// Records are copied as they are, block by block: nothing is decoded. Only those that
// another shard cannot hold as they are (other alignment, a dictionary of their shard's
// own, several records made one by an overlay) are decoded and encoded anew.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include <nlohmann/json.hpp>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/formats/shardpack/shard_writer.h"
#include "dolium/ops/pack/pack_create.h"

namespace dolium::dataset {

struct CopyRequest {
  // The shard; with a limit on shards, the first of several, as ShardNamer takes it.
  std::string output;
  // At most one of them; none: one shard. By size, a new shard begins before the record
  // that would make it larger, by the sizes that records had.
  uint64_t shard_bytes = 0;
  uint64_t shard_records = 0;               // samples in each
  uint64_t shards = 0;                      // in all, of about as many samples each
  std::optional<unsigned> align_log2 = {};  // nullopt: that of the source's first shard
  // Encode all anew as `shard.encode` says. Else files keep their compression, also where
  // they have to be encoded anew.
  bool recode = false;
  shardpack::ShardWriterOptions shard = {};  // encode.align_log2 does not count
  size_t jobs = 0;
  uint64_t memory = uint64_t{256} << 20;  // of samples that are encoded anew or far away
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

// Writes the samples of `order`, in that order. Shards are written by several threads;
// how many does not show in them. Contents are checked by their CRCs on the way. If it
// fails, the shards that are complete by then are removed again, unless they replaced
// others. Fields of the source's metadata are kept where request.shard.user has no such
// field. kInvalidArgument if numbered shards would replace some of the source.
Result<PackReport> CopySamples(const SampleSet& set, std::span<const uint64_t> order,
                               const CopyRequest& request);

}  // namespace dolium::dataset
