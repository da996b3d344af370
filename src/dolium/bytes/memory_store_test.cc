#include "dolium/bytes/memory_store.h"

#include <gtest/gtest.h>

#include "dolium/bytes/testing/store_suite.h"

namespace dolium {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Memory, StoreSuite,
    testing::Values(MakeStoreCase("Heap",
                                  [] { return std::make_shared<MemoryStore>("test"); })),
    StoreCaseName);

TEST(MemoryStore, CountsReads) {
  MemoryStore store;
  ASSERT_TRUE(store.Put("one", AsBytes("0123456789"), Precondition::None()));
  EXPECT_EQ(store.reads(), 0U);
  const ByteRange ranges[] = {{0, 1}, {4, 2}, {9, 1}};
  ASSERT_TRUE(store.ReadRanges("one", ranges));
  EXPECT_EQ(store.reads(), 1U);
  EXPECT_EQ(store.slices(), 3U);
  ASSERT_TRUE(store.ReadWhole("one", 10));
  EXPECT_EQ(store.reads(), 2U);
  EXPECT_EQ(store.slices(), 3U);
}

TEST(MemoryStore, NamesItselfInMessages) {
  EXPECT_EQ(MemoryStore().Describe("a/b"), "memory://a/b");
  EXPECT_EQ(MemoryStore("bucket").Describe("a/b"), "memory://bucket/a/b");
}

TEST(MemoryStore, KeepsBytesThatWereReadWhenTheObjectIsReplaced) {
  MemoryStore store;
  ASSERT_TRUE(store.Put("one", AsBytes("old"), Precondition::None()));
  const auto old = store.ReadWhole("one", 10);
  ASSERT_TRUE(old);
  ASSERT_TRUE(store.Put("one", AsBytes("new"), Precondition::None()));
  EXPECT_EQ(AsText(old->bytes), "old");
}

}  // namespace
}  // namespace dolium
