#include "python/src/interrupt.h"

#include <unistd.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "dolium/base/stop.h"
#include "dolium/bytes/default_cache.h"

namespace dolium::python {
namespace {

using std::chrono::steady_clock;

constexpr auto kBetweenSignalChecks = std::chrono::milliseconds(50);
constexpr auto kBetweenProgressCalls = std::chrono::milliseconds(50);

}  // namespace

bool IsMainThread() { return gettid() == getpid(); }

void RunInterruptible(const std::stop_source& stop, const std::function<void()>& work) {
  std::optional<nb::python_error> raised;
  std::exception_ptr failure;
  const auto cache = CurrentCache();  // If it is malformed, the work will say so.
  {
    const nb::gil_scoped_release release;
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    const std::jthread worker([&] {
      try {
        const StopScope waits(stop.get_token());
        std::optional<CacheScope> scope;
        if (cache && *cache) scope.emplace(**cache);
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      changed.notify_one();
    });
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, kBetweenSignalChecks, [&] { return done; })) {
      if (raised) continue;
      lock.unlock();
      {
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) {
          raised.emplace();
          stop.request_stop();
        }
      }
      lock.lock();
    }
  }
  if (raised) throw nb::python_error(*std::move(raised));
  if (failure) std::rethrow_exception(failure);
}

ProgressCall::ProgressCall(nb::object function, std::stop_source stop)
    : function_(std::move(function)), stop_(std::move(stop)) {}

ProgressFunction ProgressCall::function() {
  if (function_.is_none()) return {};
  return [this](const Progress& progress) { Report(progress); };
}

void ProgressCall::Report(const Progress& progress) {
  const auto now = steady_clock::now();
  const bool complete =
      progress.total_entries != 0 && progress.entries >= progress.total_entries;
  if (now - last_ < kBetweenProgressCalls && !complete) return;
  last_ = now;
  const nb::gil_scoped_acquire acquire;
  if (raised_) return;
  try {
    function_(progress.entries, progress.total_entries, progress.bytes);
  } catch (nb::python_error& error) {
    raised_.emplace(std::move(error));
    stop_.request_stop();
  }
}

void ProgressCall::Check() {
  if (!raised_) return;
  std::optional<nb::python_error> raised = std::move(raised_);
  raised_.reset();
  throw nb::python_error(*std::move(raised));
}

}  // namespace dolium::python
