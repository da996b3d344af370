// VerifyShard, VerifyStream: every byte of a shard looked at, and every promise of its
// tail.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/container.h"
#include "dolium/container/progress.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/stream_reader.h"

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

// The same for a shard that comes front to back, from a pipe: goes as far as records do,
// and finds in the tail what VerifyShard does. Without a finding, the shard is complete.
// Holds one record and 16 bytes of each; a large tail is kept in a temporary file. `name`
// is for findings.
Result<VerifySummary> VerifyStream(std::unique_ptr<ByteInput> input,
                                   const std::string& name, const VerifyOptions& options,
                                   const FindingVisitor& visitor);

}  // namespace dolium::shardpack
