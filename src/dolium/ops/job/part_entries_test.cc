#include "dolium/ops/job/part_entries.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/testing/must.h"

namespace dolium {
namespace {

class PartEntriesTest : public testing::Test {
 protected:
  // Entry i of `count` goes to part i % 2 and is i bytes long.
  void Plan(uint64_t count, uint64_t memory) {
    WorkListWriter writer(folder_, memory);
    const auto object = std::make_shared<const ObjectVersion>(ObjectVersion{"o", {"g"}});
    for (uint64_t i = 0; i < count; ++i) {
      Entry entry;
      entry.key = std::to_string(i);
      entry.extents.push_back({object, {0, i}, {}});
      Must(writer.Add(i % 2, entry));
    }
    const uint64_t lists = Must(writer.Finish()).lists;
    for (uint64_t i = 0; i < lists; ++i) {
      lists_.push_back(Must(WorkList::Open(WorkList::ObjectOf(folder_, i))));
    }
  }
  static std::vector<std::string> Keys(PartEntries& entries) {
    std::vector<std::string> keys;
    while (true) {
      const auto next = Must(entries.Next());
      if (next.empty()) return keys;
      for (const Entry& entry : next) keys.push_back(entry.key);
    }
  }

  const Location folder_{std::make_shared<MemoryStore>(), "plan"};
  std::vector<WorkList> lists_;
};

TEST_F(PartEntriesTest, GivesThoseOfAllListsAsOftenAsAsked) {
  Plan(9000, /*memory=*/uint64_t{64} << 10);
  ASSERT_GT(lists_.size(), 3U);
  PartEntries entries = Must(PartEntries::Find(lists_, 1));
  EXPECT_EQ(entries.count(), 4500U);
  EXPECT_EQ(entries.bytes(), 4500U * 4500U);
  std::vector<std::string> expected;
  for (uint64_t i = 1; i < 9000; i += 2) expected.push_back(std::to_string(i));
  EXPECT_EQ(Keys(entries), expected);
  EXPECT_TRUE(Keys(entries).empty());
  Must(entries.Rewind());
  EXPECT_FALSE(Must(entries.Next()).empty());
  Must(entries.Rewind());
  EXPECT_EQ(Keys(entries), expected);
}

TEST_F(PartEntriesTest, HasNoneOfAPartThatIsNotThere) {
  Plan(10, uint64_t{1} << 20);
  PartEntries entries = Must(PartEntries::Find(lists_, 2));
  EXPECT_EQ(entries.count(), 0U);
  EXPECT_TRUE(Keys(entries).empty());
}

}  // namespace
}  // namespace dolium
