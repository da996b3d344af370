// Reading many ranges of one open file at once, as fast as the page cache or the disk
// allows.
#pragma once

#include <span>

#include "dolium/bytes/store.h"

namespace dolium {

// What ReadFileSlices returns when the file is shorter than a slice needs.
inline constexpr int kFileEndedEarly = -1;

// Fills every slice from `fd`: 0, the errno of a failed read, or kFileEndedEarly. On
// failure the buffers hold anything. One slice is one pread. Several are first taken from
// the page cache; what is not there goes to the disk as one deep io_uring batch, or,
// without io_uring, on threads. Slices that follow each other in the file and in `slices`
// are read in one call.
int ReadFileSlices(int fd, std::span<const ReadSlice> slices, bool use_io_uring);

}  // namespace dolium
