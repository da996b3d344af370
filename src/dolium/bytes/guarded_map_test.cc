#include "dolium/bytes/guarded_map.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium {
namespace {

class GuardedMapTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, size_t size) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << std::string(size, 'x');
    return path;
  }
  static Bytes Map(const std::string& path, size_t size) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return MapFile(file.get(), size);
  }
  static size_t CountX(BytesView bytes) {
    return static_cast<size_t>(std::ranges::count(bytes, std::byte{'x'}));
  }

  const size_t page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const TemporaryFolder folder_;
};

TEST_F(GuardedMapTest, ShowsZerosOfWhatIsGoneAndSaysSo) {
  const std::string path = Write("a", 10 * page_ + 5);
  const std::string other = Write("b", 3 * page_);
  const Bytes map = Map(path, 10 * page_ + 5);
  const Bytes whole = Map(other, 3 * page_);
  EXPECT_EQ(CountX(map), 10 * page_ + 5);
  EXPECT_FALSE(HasLostBytes(map));
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(4 * page_)), 0);
  EXPECT_EQ(CountX(map), 4 * page_);
  EXPECT_TRUE(HasLostBytes(map));
  EXPECT_TRUE(HasLostBytes(map.Slice(0, 1)));
  EXPECT_FALSE(HasLostBytes(whole));
  EXPECT_FALSE(HasLostBytes(AsBytes("other bytes")));
  EXPECT_FALSE(HasLostBytes({}));
}

TEST_F(GuardedMapTest, ForgetsMapsThatAreGone) {
  const std::string path = Write("a", 2 * page_);
  for (int i = 0; i < 200; ++i) {
    const Bytes map = Map(path, 2 * page_);
    EXPECT_FALSE(HasLostBytes(map));
    if (i % 2 == 0) continue;
    ASSERT_EQ(truncate(path.c_str(), 0), 0);
    EXPECT_EQ(CountX(map), 0U);
    EXPECT_TRUE(HasLostBytes(map));
    Write("a", 2 * page_);
  }
  EXPECT_EQ(guarded_map_internal::maps_with_losses.load(), 0);
}

TEST_F(GuardedMapTest, ServesManyThreads) {
  constexpr size_t kPages = 16;
  std::vector<std::string> paths;
  std::vector<Bytes> maps;
  for (int i = 0; i < 100; ++i) {
    paths.push_back(Write(std::to_string(i), kPages * page_));
    maps.push_back(Map(paths.back(), kPages * page_));
    if (i >= 4) {
      ASSERT_EQ(truncate(paths.back().c_str(), 100), 0);
    }
  }
  std::vector<std::jthread> threads;
  std::atomic<size_t> lost = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (const Bytes& map : maps) {
        const size_t count = CountX(map);
        EXPECT_TRUE(count == kPages * page_ || count == 100U) << count;
        if (HasLostBytes(map)) ++lost;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(lost, 4 * 96U);
}

// Everything else is none of its business. In a child, which such a signal ends.
int SignalThatEnds(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status)) return -WEXITSTATUS(status);
  return WTERMSIG(status);
}

void TouchUnguarded(const std::string& path, size_t size) {
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  const auto* const at = static_cast<const volatile char*>(
      mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0));
  if (ftruncate(file.get(), 0) == 0) static_cast<void>(*at);
}

TEST_F(GuardedMapTest, LeavesOtherFaultsToWhoHadThemBefore) {
  const std::string path = Write("a", page_);
  const auto map_one = [&] { return Map(Write("b", page_), page_); };
  EXPECT_EQ(SignalThatEnds([&] {
              signal(SIGBUS, SIG_DFL);
              const Bytes map = map_one();
              TouchUnguarded(path, page_);
            }),
            SIGBUS);
  EXPECT_EQ(SignalThatEnds([&] {
              signal(SIGBUS, [](int) { _exit(7); });
              const Bytes map = map_one();
              TouchUnguarded(Write("a", page_), page_);
            }),
            -7);
  EXPECT_EQ(SignalThatEnds([&] {
              signal(SIGBUS, SIG_DFL);
              const Bytes map = map_one();
              raise(SIGBUS);
            }),
            SIGBUS);
}

TEST_F(GuardedMapTest, ComesBackWhereAnotherHandlerTookItsPlace) {
  const std::string path = Write("a", 2 * page_);
  EXPECT_EQ(SignalThatEnds([&] {
              const Bytes map = Map(path, 2 * page_);
              signal(SIGBUS, [](int) { _exit(7); });
              KeepMapGuard();
              if (truncate(path.c_str(), 0) != 0) _exit(8);
              _exit(CountX(map) == 0 && HasLostBytes(map) ? 9 : 10);
            }),
            -9);
}

}  // namespace
}  // namespace dolium
