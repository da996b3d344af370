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
  // Xorbs of whose bytes less than this percentage is needed are replaced by new ones
  // with what is needed; 0: never. Not in stores whose objects are not local.
  uint32_t repack_below = 50;
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

struct CollectReport {
  uint64_t xorbs = 0;  // that are there, before
  uint64_t removed_xorbs = 0;
  uint64_t removed_bytes = 0;
  uint64_t repacked_xorbs = 0;  // of those that were removed
  uint64_t copied_bytes = 0;    // of what was needed of them: new xorbs
  // Why none was repacked, if something was in the way, such as a full disk; empty:
  // nothing was.
  std::string not_repacked = {};
  uint64_t kept_young = 0;  // xorbs that nothing needs, within the grace period
  uint64_t shards = 0;
  uint64_t removed_shards = 0;
  uint64_t rewritten_shards = 0;

  // Negative if copies are all that was made.
  int64_t freed_bytes() const {
    return static_cast<int64_t>(removed_bytes - copied_bytes);
  }
};

// Marks from all versions and from the leases of living processes, then removes the rest.
// May run beside puts and gets, which wait for a moment while things are removed. Killed,
// it leaves a store that is whole, with garbage in it. A version, manifest or shard that
// is damaged is an error, and so is a file of a version that cannot be read as far as the
// footers of xorbs say; then nothing is removed: what it needs is not known.
Result<CollectReport> CollectGarbage(const CasStore& store,
                                     const CollectOptions& options);

}  // namespace dolium::cas
