#include "dolium/bytes/coalesce.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CoalesceRanges, MergesAcrossGapsUpToTheLimit) {
  const ByteRange ranges[] = {{0, 10}, {20, 10}, {41, 10}};
  const auto groups = CoalesceRanges(ranges, /*max_gap=*/10, /*max_length=*/1000);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].covering, (ByteRange{0, 30}));
  EXPECT_THAT(groups[0].indices, ElementsAre(0, 1));
  EXPECT_EQ(groups[1].covering, (ByteRange{41, 10}));
  EXPECT_THAT(groups[1].indices, ElementsAre(2));
}

TEST(CoalesceRanges, TakesUnsortedOverlappingAndEqualRanges) {
  const ByteRange ranges[] = {{50, 10}, {0, 100}, {50, 10}, {90, 20}};
  const auto groups = CoalesceRanges(ranges, 0, 1000);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].covering, (ByteRange{0, 110}));
  EXPECT_THAT(groups[0].indices, ElementsAre(1, 0, 2, 3));
}

TEST(CoalesceRanges, KeepsGroupsWithinTheLength) {
  const ByteRange ranges[] = {{0, 40}, {40, 40}, {80, 40}};
  const auto groups = CoalesceRanges(ranges, 0, /*max_length=*/80);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].covering, (ByteRange{0, 80}));
  EXPECT_EQ(groups[1].covering, (ByteRange{80, 40}));
}

TEST(CoalesceRanges, LetsOneLongRangeStandAndTakesInWhatItContains) {
  const ByteRange ranges[] = {{0, 500}, {100, 10}, {495, 10}};
  const auto groups = CoalesceRanges(ranges, 0, /*max_length=*/80);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].covering, (ByteRange{0, 500}));
  EXPECT_THAT(groups[0].indices, ElementsAre(0, 1));
  EXPECT_EQ(groups[1].covering, (ByteRange{495, 10}));
}

TEST(CoalesceRanges, LeavesEmptyRangesOut) {
  const ByteRange ranges[] = {{5, 0}, {7, 1}, {1000, 0}};
  const auto groups = CoalesceRanges(ranges, 10, 80);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].covering, (ByteRange{7, 1}));
  EXPECT_THAT(groups[0].indices, ElementsAre(1));
  EXPECT_THAT(CoalesceRanges({}, 10, 80), IsEmpty());
}

TEST(CoalesceRanges, WorksAtTheEndOfTheNumberLine) {
  const ByteRange ranges[] = {{UINT64_MAX - 20, 5}, {UINT64_MAX - 10, 10}};
  const auto groups = CoalesceRanges(ranges, UINT64_MAX, UINT64_MAX);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].covering, (ByteRange{UINT64_MAX - 20, 20}));
}

TEST(CoalesceRanges, CoversEveryRangeExactlyOnceWhateverTheInput) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<ByteRange> ranges(random() % 50);
    for (ByteRange& range : ranges) range = {random() % 2000, 1 + random() % 100};
    const uint64_t max_gap = random() % 50;
    const uint64_t max_length = 1 + random() % 400;
    std::vector<int> seen(ranges.size());
    for (const RangeGroup& group : CoalesceRanges(ranges, max_gap, max_length)) {
      uint64_t longest = 0;
      for (const size_t index : group.indices) {
        ++seen[index];
        longest = std::max(longest, ranges[index].length);
        EXPECT_GE(ranges[index].offset, group.covering.offset);
        EXPECT_LE(ranges[index].end(), group.covering.end());
      }
      EXPECT_LE(group.covering.length, std::max(max_length, longest));
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1),
              static_cast<ptrdiff_t>(seen.size()));
  }
}

}  // namespace
}  // namespace dolium
