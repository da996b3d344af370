#include "dolium/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace dolium {

size_t ThreadCount(size_t jobs, size_t tasks) {
  if (jobs == 0) jobs = std::max(1U, std::thread::hardware_concurrency());
  return std::max<size_t>(1, std::min(jobs, tasks));
}

namespace {

// False if the system has no more threads to give; those that there are do the work then.
bool AddThread(std::vector<std::jthread>& threads, const std::function<void()>& work) {
  try {
    threads.emplace_back(work);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace

Result<void> ParallelFor(size_t count, size_t jobs,
                         const std::function<Result<void>(size_t)>& body,
                         std::stop_token stop) {
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::optional<Error> first;

  const auto work = [&] {
    while (!failed.load(std::memory_order_relaxed)) {
      const size_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) return;
      Result<void> result =
          stop.stop_requested() ? Result<void>(Cancelled()) : body(index);
      if (!result) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::move(result).error();
        failed = true;
      }
    }
  };

  const size_t threads = ThreadCount(jobs, count);
  {
    std::vector<std::jthread> helpers;
    helpers.reserve(threads - 1);
    for (size_t i = 1; i < threads && AddThread(helpers, work); ++i) {
    }
    work();
  }
  if (first) return *std::move(first);
  return {};
}

}  // namespace dolium
