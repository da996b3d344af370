#include "dolium/base/lru_cache.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace dolium {
namespace {

using Words = LruCache<std::string, std::string>;

std::shared_ptr<const std::string> Word(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

TEST(LruCache, DropsTheLeastRecentlyUsedAloneWhenItIsFull) {
  Words cache(2);
  cache.Put("a", Word("1"));
  cache.Put("b", Word("2"));
  ASSERT_NE(cache.Get("a"), nullptr);
  cache.Put("c", Word("3"));
  EXPECT_EQ(cache.Get("b"), nullptr);
  ASSERT_NE(cache.Get("a"), nullptr);
  EXPECT_EQ(*cache.Get("a"), "1");
  EXPECT_EQ(*cache.Get("c"), "3");
}

TEST(LruCache, HoldsItsLimitOfCost) {
  Words cache(100, 10);
  for (const char* const key : {"a", "b", "c", "d"}) cache.Put(key, Word(key), 4);
  EXPECT_EQ(cache.cost(), 8U);
  EXPECT_EQ(cache.Get("b"), nullptr);
  EXPECT_NE(cache.Get("c"), nullptr);
  // One that is larger than all of it stays until the next comes.
  cache.Put("large", Word("x"), 50);
  EXPECT_NE(cache.Get("large"), nullptr);
  EXPECT_EQ(cache.cost(), 50U);
  cache.Put("e", Word("e"), 4);
  EXPECT_EQ(cache.Get("large"), nullptr);
  EXPECT_EQ(cache.cost(), 4U);
}

TEST(LruCache, ReplacesAndForgets) {
  Words cache(4, 100);
  cache.Put("a", Word("old"), 60);
  const auto held = cache.Get("a");
  cache.Put("a", Word("new"), 30);
  EXPECT_EQ(*held, "old");
  EXPECT_EQ(*cache.Get("a"), "new");
  EXPECT_EQ(cache.cost(), 30U);
  cache.Forget("a");
  cache.Forget("never");
  EXPECT_EQ(cache.Get("a"), nullptr);
  EXPECT_EQ(cache.cost(), 0U);
  cache.Put("b", Word("2"), 5);
  cache.Clear();
  EXPECT_EQ(cache.Get("b"), nullptr);
  EXPECT_EQ(cache.cost(), 0U);
}

TEST(LruCache, ServesManyThreads) {
  LruCache<uint64_t, uint64_t> cache(50);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&cache, thread] {
      for (uint64_t i = 0; i < 2000; ++i) {
        const uint64_t key = (i * 31 + thread) % 100;
        if (const auto value = cache.Get(key)) {
          ASSERT_EQ(*value, key * key);
        } else {
          cache.Put(key, std::make_shared<const uint64_t>(key * key), 1);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.cost(), 50U);
}

}  // namespace
}  // namespace dolium
