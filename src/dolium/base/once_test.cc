#include "dolium/base/once.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace dolium {
namespace {

TEST(Once, LoadsWhenFirstAskedFor) {
  const Once<std::string> once;
  int loads = 0;
  const auto load = [&]() -> Result<std::string> {
    ++loads;
    return std::string("value");
  };
  const auto first = once.Get(load);
  const auto second = once.Get(load);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(**first, "value");
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(loads, 1);
}

TEST(Once, DoesNotKeepAnError) {
  const Once<int> once;
  const auto failed = once.Get([]() -> Result<int> { return IoError("not now"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "not now");
  const auto loaded = once.Get([]() -> Result<int> { return 3; });
  ASSERT_TRUE(loaded);
  EXPECT_EQ(**loaded, 3);
}

TEST(Once, GivesAllThreadsTheSameValue) {
  const Once<std::string> once;
  std::vector<const std::string*> seen(8);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < seen.size(); ++i) {
      threads.emplace_back([&, i] {
        const auto value =
            once.Get([&]() -> Result<std::string> { return std::to_string(i); });
        seen[i] = *value;
      });
    }
  }
  for (const std::string* value : seen) EXPECT_EQ(value, seen[0]);
}

}  // namespace
}  // namespace dolium
