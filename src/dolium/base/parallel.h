// Threads for blocking work: calls in the interfaces block, and ops add threads here.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

#include "dolium/base/result.h"

namespace dolium {

// The number of threads for `jobs` (0: one per core) over `tasks` tasks; at least 1, at
// most kMaxThreads (start_thread.h).
size_t ThreadCount(size_t jobs, size_t tasks);

// Calls body(0) ... body(count - 1) on up to `jobs` threads (0: one per core) and waits.
// Indexes are handed out in ascending order. The first error stops the handing out, and
// is returned; so does `stop`, as kCancelled. Waits of the body follow the stop request
// that those of the caller follow (stop.h). An exception stops it as well, and is
// thrown again here. With one thread, runs on the caller's; so does all of it if the
// system has no thread to give.
Result<void> ParallelFor(size_t count, size_t jobs,
                         const std::function<Result<void>(size_t)>& body,
                         std::stop_token stop = {});

}  // namespace dolium
