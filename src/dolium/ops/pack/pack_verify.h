// The check of one shard, as every other verify reports.
#pragma once

#include <cstdint>
#include <string>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/container.h"
#include "dolium/ops/verify.h"

namespace dolium::dataset {

// Entries are the files of samples; bytes_read is the size of the shard.
struct PackVerifyReport {
  VerifyReport report;
  uint64_t records = 0;
};

// Every byte, and all that the tail says of the records; with CheckDepth::kQuick no
// contents are decoded. There is nothing more to do for kDeep, and no sample is taken.
Result<PackVerifyReport> VerifyPackShard(const Location& shard,
                                         const VerifyOptions& options,
                                         const FindingVisitor& visitor);
// The same for a shard that comes from a pipe, `fd`, which stays the caller's. `name` is
// for findings.
Result<PackVerifyReport> VerifyPackStream(int fd, const std::string& name,
                                          const VerifyOptions& options,
                                          const FindingVisitor& visitor);

}  // namespace dolium::dataset
