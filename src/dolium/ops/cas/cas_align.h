// Where the entries of a shard begin and end, so that chunks can end there too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/format.h"

namespace dolium {

// The boundaries of all entries that lie in the file at `path`, ascending, without its
// beginning. None if no format knows the file, or its index cannot be read: it is then
// cut by its contents alone. Whole files, as in a folder of them, have no boundaries
// within.
Result<std::vector<uint64_t>> EntryBoundaries(Formats formats, const std::string& path);

}  // namespace dolium
