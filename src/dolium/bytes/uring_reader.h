// Batches of file reads through io_uring.
#pragma once

#include <span>

#include "dolium/bytes/read_run.h"

namespace dolium {

// Reads what it can of `runs` from `fd`, many at a time, and advances them. Returns 0,
// the errno of a read that failed for good, or kFileEndedEarly. A 0 does not promise that
// all runs are done: where io_uring is missing, forbidden or refuses a read, they are
// left for the caller to finish by other means. Rings are pooled; any thread may call,
// also in a forked child.
int ReadWithUring(int fd, std::span<ReadRun> runs);

}  // namespace dolium
