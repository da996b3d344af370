// create: samples from elsewhere, packed into shards.
#pragma once

#include <optional>
#include <string>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/dataset/sample_source.h"
#include "dolium/formats/shardpack/pack_writer.h"

namespace dolium::dataset {

struct CreateRequest {
  // The shard; with a limit on shards, the first of several, as ShardNamer takes it.
  std::string output;
  shardpack::PackOptions pack;  // `place` is set
  ProgressFunction progress = {};
};

// What was written.
struct PackReport {
  shardpack::PackSummary summary;
  // A shard that is not of this set, but would be taken for its next one.
  std::optional<std::string> leftover;
};

// Takes all samples that the source has. If that fails, the shards that are complete by
// then are removed again, unless they replaced others (pack.shard.force). The source is
// read on a thread of its own, ahead of the encoding, within pack.memory.
Result<PackReport> CreatePack(SampleSource& source, const CreateRequest& request);

}  // namespace dolium::dataset
