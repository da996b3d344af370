// WorkerPool: a few threads that do submitted work in order of submission.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "dolium/base/result.h"

namespace dolium {

// Any thread may submit and wait. The first error is kept; work submitted after it is
// dropped (destroyed without being called), so work must clean up in its destructor.
class WorkerPool {
 public:
  using Work = std::function<Result<void>()>;

  // With as many of the threads as the system gives, at most kMaxThreads. Without any,
  // the first error is kUnavailable.
  explicit WorkerPool(size_t threads);
  // Waits for what runs; drops what has not begun.
  ~WorkerPool();

  // Waits of the work follow the stop request that those of the caller follow (stop.h).
  void Submit(Work work);

  // Waits until all submitted work is done; returns the first error.
  Result<void> Wait();

  // The first error so far.
  Result<void> status() const;

 private:
  struct Submitted {
    Work work;
    std::stop_token stop;
  };

  void Run();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Submitted> queue_;
  size_t running_ = 0;
  bool stopping_ = false;
  std::optional<Error> first_error_;
  std::vector<std::jthread> threads_;
};

}  // namespace dolium
