// create, import: samples from elsewhere, packed into shards.
//
// A job whose parts, the shards, become known while it runs. Where the source can be read
// again, a rerun of the same request goes on behind the last shard that is complete.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/dataset/imports/options.h"
#include "dolium/domain/dataset/sample_source.h"
#include "dolium/formats/shardpack/pack_writer.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/plan.h"

namespace dolium::dataset {

// What a source is, for one that can be read again.
struct SourceName {
  std::string text;   // all that says which samples it has, and how they are read
  std::string state;  // another one if its samples may have changed
};

// Of what `source` reads, to which it is bound from then on.
Result<SourceName> NameSource(std::string_view kind, const std::string& path,
                              const ImportOptions& options, SampleSource& source);

struct CreateRequest {
  // The shard; with a limit on shards, the first of several, as ShardNamer takes it.
  std::string output;
  shardpack::PackOptions pack;  // `place` is set
  ProgressFunction progress = {};
  // nullopt: the source cannot be read twice, so that every run begins again.
  std::optional<SourceName> source = {};
  // For tests, as RunOptions has it.
  std::function<void(JobStep)> at_step = {};
};

// What was written.
struct PackReport {
  shardpack::PackSummary summary;
  // A shard that is not of this set, but would be taken for its next one.
  std::optional<std::string> leftover;
  uint64_t parts_done_before = 0;  // shards of an earlier run
  // An earlier run had been cut short, and its shards were of no use: the source cannot
  // be read twice, or has changed.
  bool began_again = false;
  // What was left out: damaged samples are errors (skip_damaged), other things warnings.
  std::vector<Finding> left_out = {};
  std::optional<GroupingChoice> grouping = {};  // of the source, if that was left open

  uint64_t damaged() const {
    return static_cast<uint64_t>(
        std::ranges::count(left_out, Severity::kError, &Finding::severity));
  }
};

// Only plans it: a stream. Any process can run it, by what its record says of the source.
// kUnsupported if that cannot be read twice.
Result<Plan> PlanCreate(SampleSource& source, const CreateRequest& request);

// Takes all samples that the source has. The shards appear when all are complete. If it
// fails, none of them does; if it is stopped, or runs out of room, those that are
// complete wait for a rerun. The source is read on a thread of its own, ahead of the
// encoding, within pack.memory.
Result<PackReport> CreatePack(SampleSource& source, const CreateRequest& request);

}  // namespace dolium::dataset
