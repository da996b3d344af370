#include "dolium/base/parallel.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dolium/base/start_thread.h"
#include "dolium/base/worker_pool.h"

namespace dolium {
namespace {

TEST(ThreadCount, IsBoundedByJobsAndTasks) {
  EXPECT_EQ(ThreadCount(4, 100), 4U);
  EXPECT_EQ(ThreadCount(4, 2), 2U);
  EXPECT_EQ(ThreadCount(4, 0), 1U);
  EXPECT_GE(ThreadCount(0, 1000), 1U);
  EXPECT_EQ(ThreadCount(100'000, 1'000'000), kMaxThreads);
}

// More calls than are made while a thread waits for the processor, however long it has
// to.
constexpr size_t kEndless = size_t{1} << 40;

TEST(ParallelFor, CallsEveryIndexOnce) {
  std::vector<std::atomic<int>> calls(1000);
  const auto result = ParallelFor(calls.size(), 4, [&](size_t i) -> Result<void> {
    ++calls[i];
    return {};
  });
  EXPECT_TRUE(result);
  EXPECT_TRUE(
      std::all_of(calls.begin(), calls.end(), [](const auto& n) { return n == 1; }));
}

TEST(ParallelFor, RunsOneJobInOrderOnTheCaller) {
  std::vector<size_t> order;
  std::set<std::thread::id> threads;
  ASSERT_TRUE(ParallelFor(5, 1, [&](size_t i) -> Result<void> {
    order.push_back(i);
    threads.insert(std::this_thread::get_id());
    return {};
  }));
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

TEST(ParallelFor, StopsAtTheFirstError) {
  std::atomic<size_t> calls = 0;
  const auto result = ParallelFor(kEndless, 3, [&](size_t i) -> Result<void> {
    ++calls;
    if (i == 10) return Corrupt("index 10 is bad");
    return {};
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "index 10 is bad");
  EXPECT_GE(calls, 11U);
  EXPECT_LT(calls, kEndless);
}

TEST(ParallelFor, StopsOnRequest) {
  std::stop_source stop;
  std::atomic<size_t> calls = 0;
  const auto result = ParallelFor(
      kEndless, 2,
      [&](size_t) -> Result<void> {
        if (++calls == 5) stop.request_stop();
        return {};
      },
      stop.get_token());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_LT(calls, kEndless);
}

TEST(ParallelFor, DoesNothingForNoTasks) {
  EXPECT_TRUE(
      ParallelFor(0, 4, [](size_t) -> Result<void> { return Corrupt("called"); }));
}

TEST(ParallelFor, LoopsWithinLoopsComeToAnEnd) {
  std::atomic<int> sum = 0;
  const auto outer = ParallelFor(20, 4, [&](size_t) {
    return ParallelFor(20, 4, [&](size_t) {
      return ParallelFor(5, 4, [&](size_t i) -> Result<void> {
        sum += static_cast<int>(i);
        return {};
      });
    });
  });
  EXPECT_TRUE(outer);
  EXPECT_EQ(sum, 20 * 20 * (0 + 1 + 2 + 3 + 4));
}

TEST(ParallelFor, ManyCallersShareTheHelpers) {
  std::atomic<int> calls = 0;
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        EXPECT_TRUE(ParallelFor(7, 3, [&](size_t) -> Result<void> {
          ++calls;
          return {};
        }));
      }
    });
  }
  callers.clear();
  EXPECT_EQ(calls, 8 * 200 * 7);
}

TEST(ParallelFor, ThrowsAgainWhatABodyThrows) {
  for (const size_t jobs : {size_t{1}, size_t{4}}) {
    for (int round = 0; round < 50; ++round) {
      std::atomic<int> calls = 0;
      const auto loop = [&] {
        std::ignore = ParallelFor(100, jobs, [&](size_t index) -> Result<void> {
          ++calls;
          if (index == 10) throw std::bad_alloc();
          return {};
        });
      };
      EXPECT_THROW(loop(), std::bad_alloc);
      EXPECT_GE(calls, 11);
    }
    // The helpers are as good as before.
    std::atomic<int> calls = 0;
    EXPECT_TRUE(ParallelFor(100, jobs, [&](size_t) -> Result<void> {
      ++calls;
      return {};
    }));
    EXPECT_EQ(calls, 100);
  }
}

TEST(ParallelFor, GivesHelpAfterAnyPause) {
  // Shorter and longer than helpers look out before they sleep.
  for (const int pause : {0, 10, 45, 50, 55, 200, 2000}) {
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> calls = 0;
      EXPECT_TRUE(ParallelFor(9, 3, [&](size_t) -> Result<void> {
        ++calls;
        return {};
      }));
      EXPECT_EQ(calls, 9);
      std::this_thread::sleep_for(std::chrono::microseconds(pause));
    }
  }
}

TEST(ParallelFor, WorksInAForkedProcess) {
  const auto count = [](size_t jobs) {
    std::atomic<int> calls = 0;
    const auto done = ParallelFor(50, jobs, [&](size_t) -> Result<void> {
      ++calls;
      return {};
    });
    return done ? calls.load() : -1;
  };
  ASSERT_EQ(count(3), 50);
  const pid_t child = fork();
  if (child == 0) _exit(count(3) == 50 ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// The exit status of a process that may start no thread, and runs `body`.
int RunWithoutThreads(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit one = {1, 1};
    constexpr uid_t kNobody = 65534;  // limits do not hold for root
    if (setrlimit(RLIMIT_NPROC, &one) != 0) _exit(2);
    if (geteuid() == 0 && setuid(kNobody) != 0) _exit(3);
    if (StartThread([] {})) _exit(4);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ParallelFor, DoesItAllOnTheCallerIfNoThreadCanBeStarted) {
  EXPECT_EQ(RunWithoutThreads([] {
              std::atomic<int> calls = 0;
              const auto done = ParallelFor(50, 100'000, [&](size_t) -> Result<void> {
                ++calls;
                return {};
              });
              return done && calls == 50;
            }),
            0);
}

TEST(WorkerPool, SaysThatNoThreadCanBeStarted) {
  EXPECT_EQ(RunWithoutThreads([] {
              WorkerPool pool(4);
              bool called = false;
              pool.Submit([&]() -> Result<void> {
                called = true;
                return {};
              });
              const auto done = pool.Wait();
              return !done && done.error().code == ErrorCode::kUnavailable && !called;
            }),
            0);
}

}  // namespace
}  // namespace dolium
