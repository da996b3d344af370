#include "dolium/base/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>

#include "dolium/base/start_thread.h"
#include "dolium/base/stop.h"

namespace dolium {

size_t ThreadCount(size_t jobs, size_t tasks) {
  // Asked once: to answer, the system may open and read files.
  static const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  if (jobs == 0) jobs = cores;
  return std::max<size_t>(1, std::min({jobs, tasks, kMaxThreads}));
}

namespace {

// How long a helper waits for more to do before it goes.
constexpr auto kPatience = std::chrono::seconds(5);
// How long a thread looks for what it waits for before it sleeps. To be woken takes about
// as long, and many loops one after another have less to do than that.
constexpr auto kLookout = std::chrono::microseconds(50);
constexpr int kLooksPerTime = 32;  // the clock is not read more often

// Whether `is_there` came true within kLookout.
template <typename Condition>
bool LookOutFor(const Condition& is_there) {
  const auto end = std::chrono::steady_clock::now() + kLookout;
  do {
    for (int i = 0; i < kLooksPerTime; ++i) {
      if (is_there()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// Threads that help others with their loops: starting one for each loop would cost more
// than small loops take. Whoever posts a loop works on it himself, and waits for those
// helpers only that have begun. So loops within loops come to an end, however many
// helpers there are.
class Crew {
 public:
  // A loop that wants help. Lives on the stack of whoever posted it.
  struct Loop {
    const std::function<void()>& work;
    size_t wanted = 0;               // helpers that may still begin
    std::atomic<size_t> active = 0;  // helpers at work
  };

  // The one of this process. A forked child has none of its parent's threads, and makes a
  // crew of its own; those of other processes are never freed.
  static Crew& Get() {
    Crew* crew = current.load(std::memory_order_acquire);
    if (crew != nullptr) return *crew;
    static const int registered =
        pthread_atfork(nullptr, nullptr, [] { current.store(nullptr); });
    std::ignore = registered;
    auto* const made = new Crew;
    if (current.compare_exchange_strong(crew, made)) return *made;
    delete made;
    return *crew;
  }

  void Post(Loop& loop) {
    const std::lock_guard lock(mutex_);
    loops_.push_back(&loop);
    posted_.store(loops_.size(), std::memory_order_relaxed);
    for (size_t i = looking_; i < loop.wanted; ++i) {
      if (i < looking_ + idle_) {
        changed_.notify_one();
      } else if (!AddThread()) {
        break;
      }
    }
  }

  // Takes the loop back; waits for helpers that are at work on it.
  void Withdraw(Loop& loop) {
    std::unique_lock lock(mutex_);
    loop.wanted = 0;
    std::erase(loops_, &loop);
    posted_.store(loops_.size(), std::memory_order_relaxed);
    if (loop.active == 0) return;
    lock.unlock();
    if (LookOutFor([&] { return loop.active == 0; })) return;
    lock.lock();
    done_.wait(lock, [&] { return loop.active == 0; });
  }

 private:
  // False if the system has no more threads to give; those that there are do the work.
  bool AddThread() {
    auto helper = StartThread([this] { Help(); });
    if (helper) helper->detach();
    return helper.has_value();
  }

  void Help() {
    std::unique_lock lock(mutex_);
    while (WaitForLoop(lock)) {
      Loop& loop = *loops_.front();
      ++loop.active;
      if (--loop.wanted == 0) {
        loops_.pop_front();
        posted_.store(loops_.size(), std::memory_order_relaxed);
      }
      lock.unlock();
      loop.work();
      lock.lock();
      // The loop is gone once its owner sees 0.
      if (--loop.active == 0) done_.notify_all();
    }
  }

  // Whether there is one that wants help.
  bool WaitForLoop(std::unique_lock<std::mutex>& lock) {
    if (loops_.empty()) {
      ++looking_;
      lock.unlock();
      LookOutFor([&] { return posted_.load(std::memory_order_relaxed) > 0; });
      lock.lock();
      --looking_;
    }
    ++idle_;
    const bool has_work =
        changed_.wait_for(lock, kPatience, [&] { return !loops_.empty(); });
    --idle_;
    return has_work;
  }

  static inline std::atomic<Crew*> current = nullptr;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable done_;
  std::deque<Loop*> loops_;         // that want help
  std::atomic<size_t> posted_ = 0;  // how many those are
  size_t looking_ = 0;              // helpers that look out for one
  size_t idle_ = 0;                 // helpers that sleep
};

}  // namespace

Result<void> ParallelFor(size_t count, size_t jobs,
                         const std::function<Result<void>(size_t)>& body,
                         std::stop_token stop) {
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::optional<Error> first;
  std::exception_ptr thrown;

  const auto run = [&] {
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
  // Of the caller, for the waits of helpers.
  const std::stop_token waits = threads > 1 ? CurrentStop() : std::stop_token();
  // No exception may leave it: others still work on the loop.
  const std::function<void()> work = [&] {
    try {
      std::optional<StopScope> scope;
      if (threads > 1) scope.emplace(waits);
      run();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
      failed = true;
    }
  };

  if (threads == 1) {
    work();
  } else {
    Crew& crew = Crew::Get();
    Crew::Loop loop{.work = work, .wanted = threads - 1, .active = 0};
    crew.Post(loop);
    work();
    crew.Withdraw(loop);
  }
  if (thrown) std::rethrow_exception(thrown);
  if (first) return *std::move(first);
  return {};
}

}  // namespace dolium
