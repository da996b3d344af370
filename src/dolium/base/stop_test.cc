#include "dolium/base/stop.h"

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "dolium/base/parallel.h"
#include "dolium/base/worker_pool.h"

namespace dolium {
namespace {

TEST(Stop, IsThatOfTheInnermostScope) {
  std::stop_source outer;
  std::stop_source inner;
  EXPECT_FALSE(CurrentStop().stop_possible());
  {
    const StopScope scope(outer.get_token());
    EXPECT_EQ(CurrentStop(), outer.get_token());
    {
      const StopScope within(inner.get_token());
      EXPECT_EQ(CurrentStop(), inner.get_token());
    }
    EXPECT_EQ(CurrentStop(), outer.get_token());
  }
  EXPECT_FALSE(CurrentStop().stop_possible());
}

TEST(Stop, GoesWithALoopToItsThreads) {
  const std::stop_source source;
  const StopScope scope(source.get_token());
  std::atomic<int> others = 0;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  // Two bodies meet, so that there are two threads.
  std::atomic<int> arrived = 0;
  const auto done = ParallelFor(2, 2, [&](size_t) -> Result<void> {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
    if (CurrentStop() != source.get_token()) ++others;
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    return {};
  });
  EXPECT_TRUE(done);
  EXPECT_EQ(others, 0);
  EXPECT_EQ(threads.size(), 2u);
}

TEST(Stop, GoesWithWorkToAPool) {
  WorkerPool pool(1);
  const std::stop_source source;
  std::stop_token seen;
  std::stop_token seen_later = source.get_token();
  {
    const StopScope scope(source.get_token());
    pool.Submit([&]() -> Result<void> {
      seen = CurrentStop();
      return {};
    });
  }
  pool.Submit([&]() -> Result<void> {
    seen_later = CurrentStop();
    return {};
  });
  ASSERT_TRUE(pool.Wait());
  EXPECT_EQ(seen, source.get_token());
  EXPECT_FALSE(seen_later.stop_possible());
}

}  // namespace
}  // namespace dolium
