// The index of a shard that has none, written beside it.
#pragma once

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/formats/dvid/shard.h"

namespace dolium::dvid {

// Goes through all messages of the shard and writes the CSV with their ranges, in the
// documented form, at once or not at all. False, and nothing is written, if the shard has
// an index of any form, and with `replace` only if that is at its own end. kCorrupt if
// the shard is damaged: `salvage` does not count, as no index can be of such a file.
Result<bool> WriteShardIndex(const Location& location, const ShardOptions& options,
                             bool replace);

}  // namespace dolium::dvid
