// verify and repair of shards, from wherever they come.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/container.h"
#include "dolium/formats/shardpack/stream_reader.h"
#include "dolium/formats/shardpack/verify.h"

namespace dolium::dataset {

// The same as VerifyShard for a shard that comes front to back, from a pipe. Goes as far
// as records do; without a finding, the shard was complete. `name` is for findings.
Result<shardpack::VerifySummary> VerifyStream(std::unique_ptr<shardpack::ByteInput> input,
                                              const std::string& name,
                                              const shardpack::VerifyOptions& options,
                                              const FindingVisitor& visitor);

// What a writer of `shard` that was killed left behind, beside it or in the folder of its
// job: the newest of its temporaries, nullopt if there is none. kUnavailable if its
// writer lives. Local shards only.
Result<std::optional<Location>> FindAbandoned(const Location& shard);

}  // namespace dolium::dataset
