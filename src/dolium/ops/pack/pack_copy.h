// split, merge, reshard, subset, sort, shuffle, compact: samples of one set as another.
//
// Records are copied as they are, block by block: nothing is decoded. Only those that
// another shard cannot hold as they are (other alignment, a dictionary of their shard's
// own, several records made one by an overlay) are decoded and encoded again.
//
// A job: its parts, the shards, are known beforehand, and any process can make one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/formats/shardpack/shard_writer.h"
#include "dolium/ops/job/plan.h"
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
  // Encode all again as `shard.encode` says. Else files keep their compression, also
  // where they have to be encoded again.
  bool recode = false;
  shardpack::ShardWriterOptions shard = {};  // encode.align_log2 does not count
  size_t jobs = 0;
  uint64_t memory = uint64_t{256} << 20;  // of samples that are encoded again, or remote
  ProgressFunction progress = {};
  std::stop_token stop = {};
  // What any process opens the set by: `overlays` laid over the set of `references`.
  // None: it cannot be opened again, so that nothing is resumed and there are no tasks.
  std::vector<std::string> references = {};
  std::vector<std::string> overlays = {};
  // For tests, as RunOptions has it.
  std::function<void(JobStep)> at_step = {};
};

// Writes the samples of `order`, in that order. Shards are written by several threads;
// how many does not show in them. Contents are checked by their CRCs on the way. The
// shards appear when all are complete. If it fails, none of them does; if it is stopped,
// or runs out of room, those that are complete wait for a rerun. Fields of the source's
// metadata are kept where request.shard.user has no such field. kInvalidArgument if
// numbered shards would replace some of the source.
Result<PackReport> CopySamples(const SampleSet& set, std::span<const uint64_t> order,
                               const CopyRequest& request);

// Only plans it. kUnsupported without references.
Result<Plan> PlanCopy(const SampleSet& set, std::span<const uint64_t> order,
                      const CopyRequest& request);

}  // namespace dolium::dataset
