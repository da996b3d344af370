// What repair finds of shards that were not finished.
#pragma once

#include <optional>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"

namespace dolium::dataset {

// What a writer of `shard` that was killed left behind, beside it or in the folder of its
// job: the newest of its temporaries, nullopt if there is none. kUnavailable if its
// writer lives. Local shards only.
Result<std::optional<Location>> FindAbandoned(const Location& shard);

}  // namespace dolium::dataset
