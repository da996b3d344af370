// Checking a shard for all that it can be wrong about.
#pragma once

#include "dolium/base/result.h"
#include "dolium/formats/xet/mdb_reader.h"

namespace dolium::xet {

// Everything that can be checked without the xorbs themselves: structure and sums; tables
// against records; terms of xorbs that are described here, and, unless the shard is
// keyed, their verification, the names of xorbs, and those of files all of whose xorbs
// are described (made without salt). The first contradiction is the error. Holds some
// bytes for each xorb.
Result<void> CheckShard(const ShardView& shard);

}  // namespace dolium::xet
