// Collecting garbage: removing what no version needs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/cas/store.h"

namespace dolium::cas {

struct CollectOptions {
  // Things younger than this stay: a put that was killed can go on from them.
  std::chrono::seconds grace = std::chrono::hours(24);
  bool dry_run = false;  // count, but remove nothing
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

struct CollectReport {
  uint64_t xorbs = 0;  // that are there, before
  uint64_t removed_xorbs = 0;
  uint64_t removed_bytes = 0;
  uint64_t kept_young = 0;  // xorbs that nothing needs, within the grace period
  uint64_t shards = 0;
  uint64_t removed_shards = 0;
  uint64_t rewritten_shards = 0;
};

// Marks from all versions and from the leases of living processes, then removes the rest.
// May run beside puts and gets, which wait for a moment while things are removed. Killed,
// it leaves a store that is whole, with garbage in it. A version, manifest or shard that
// is damaged is an error, and so is a file of a version that cannot be read as far as the
// footers of xorbs say; then nothing is removed: what it needs is not known.
Result<CollectReport> CollectGarbage(const CasStore& store,
                                     const CollectOptions& options);

}  // namespace dolium::cas
