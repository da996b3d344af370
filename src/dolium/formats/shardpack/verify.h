// VerifyShard: every byte of a shard looked at, and every promise of its tail.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/container.h"
#include "dolium/container/progress.h"
#include "dolium/formats/shardpack/layout.h"

namespace dolium::shardpack {

struct VerifyOptions {
  bool contents = true;  // false: headers only
  uint64_t raw_limit = kDefaultRawLimit;
  uint64_t ratio_limit = kDefaultRatioLimit;
  size_t jobs = 0;
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

struct VerifySummary {
  uint64_t records = 0;
  uint64_t entries = 0;
  uint64_t bytes = 0;  // of the file
  uint64_t errors = 0;
  uint64_t warnings = 0;
};

// Reports to `visitor` each thing that is wrong (one call at a time), and goes on behind
// it. A shard whose index is lost is walked front to back. The error is for what prevents
// looking: the object is not there, or cannot be read.
Result<VerifySummary> VerifyShard(const Location& location, const VerifyOptions& options,
                                  const FindingVisitor& visitor);

}  // namespace dolium::shardpack
