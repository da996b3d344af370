#include "dolium/bytes/generation_cache.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace dolium {
namespace {

using Cache = GenerationCache<std::string>;

const Generation kOne{"one"};
const Generation kTwo{"two"};

std::shared_ptr<const std::string> Text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

TEST(GenerationCache, GivesBackWhatWasPut) {
  Cache cache(100);
  EXPECT_EQ(cache.Get("a", 0, kOne), nullptr);
  cache.Put("a", 0, kOne, Text("zero"), 4);
  cache.Put("a", 1, kOne, Text("first"), 5);
  cache.Put("b", 0, kOne, Text("other"), 5);
  EXPECT_EQ(*cache.Get("a", 0, kOne), "zero");
  EXPECT_EQ(*cache.Get("a", 1, kOne), "first");
  EXPECT_EQ(*cache.Get("b", 0, kOne), "other");
  const Cache::Stats stats = cache.stats();
  EXPECT_EQ(stats.hits, 3U);
  EXPECT_EQ(stats.misses, 1U);
  EXPECT_EQ(stats.bytes, 14U);
}

TEST(GenerationCache, DropsAValueOfAnotherGeneration) {
  Cache cache(100);
  cache.Put("a", 0, kOne, Text("old"), 3);
  EXPECT_EQ(cache.Get("a", 0, kTwo), nullptr);
  EXPECT_EQ(cache.stats().bytes, 0U);
  EXPECT_EQ(cache.Get("a", 0, kOne), nullptr) << "it is gone, not just hidden";
}

TEST(GenerationCache, ReplacesAValueUnderTheSameKey) {
  Cache cache(100);
  cache.Put("a", 0, kOne, Text("old"), 60);
  cache.Put("a", 0, kTwo, Text("new"), 50);
  EXPECT_EQ(cache.stats().bytes, 50U);
  EXPECT_EQ(*cache.Get("a", 0, kTwo), "new");
}

TEST(GenerationCache, KeepsNothingWithoutAGeneration) {
  Cache cache(100);
  cache.Put("a", 0, Generation{}, Text("x"), 1);
  EXPECT_EQ(cache.Get("a", 0, Generation{}), nullptr);
  EXPECT_EQ(cache.stats().bytes, 0U);
}

TEST(GenerationCache, DropsTheLeastRecentlyUsedFirst) {
  Cache cache(100);
  for (uint64_t block = 0; block < 10; ++block)
    cache.Put("a", block, kOne, Text("x"), 10);
  ASSERT_NE(cache.Get("a", 0, kOne), nullptr);
  cache.Put("a", 10, kOne, Text("x"), 20);
  EXPECT_EQ(cache.Get("a", 1, kOne), nullptr);
  EXPECT_EQ(cache.Get("a", 2, kOne), nullptr);
  EXPECT_NE(cache.Get("a", 0, kOne), nullptr);
  for (uint64_t block = 3; block <= 10; ++block) {
    EXPECT_NE(cache.Get("a", block, kOne), nullptr) << block;
  }
  EXPECT_EQ(cache.stats().bytes, 100U);
}

TEST(GenerationCache, KeepsAValueAsLargeAsTheWholeButNoLarger) {
  Cache cache(100);
  cache.Put("a", 0, kOne, Text("small"), 10);
  cache.Put("a", 1, kOne, Text("too large"), 101);
  EXPECT_EQ(cache.Get("a", 1, kOne), nullptr);
  EXPECT_NE(cache.Get("a", 0, kOne), nullptr) << "nothing was dropped for it";
  cache.Put("a", 2, kOne, Text("large"), 100);
  EXPECT_EQ(*cache.Get("a", 2, kOne), "large");
  EXPECT_EQ(cache.Get("a", 0, kOne), nullptr);
  EXPECT_EQ(cache.stats().bytes, 100U);
}

TEST(GenerationCache, LetsHoldersKeepWhatItDropped) {
  Cache cache(100);
  cache.Put("a", 0, kOne, Text("kept"), 4);
  const auto value = cache.Get("a", 0, kOne);
  cache.Clear();
  EXPECT_EQ(cache.stats().bytes, 0U);
  EXPECT_EQ(cache.Get("a", 0, kOne), nullptr);
  EXPECT_EQ(*value, "kept");
}

TEST(GenerationCache, NeverMixesUpValuesUnderContention) {
  Cache cache(500);
  std::atomic<int> wrong = 0;
  std::atomic<int> hits = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        uint64_t state = t + 1;
        for (int i = 0; i < 5000; ++i) {
          state = state * 6364136223846793005U + 1442695040888963407U;
          const uint64_t block = (state >> 33) % 80;
          const Generation& generation = (state >> 50) % 8 == 0 ? kTwo : kOne;
          const std::string expected = generation.token + std::to_string(block);
          if (const auto value = cache.Get("object", block, generation)) {
            ++hits;
            wrong += *value != expected;
          } else {
            cache.Put("object", block, generation, Text(expected), 10);
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(hits, 1000);
  EXPECT_LE(cache.stats().bytes, 500U);
}

}  // namespace
}  // namespace dolium
