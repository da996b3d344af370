#include "dolium/formats/neuroglancer/chooser.h"

#include <gtest/gtest.h>

namespace dolium::neuroglancer {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(ChooseSharding, PutsASmallSetIntoOneMinishard) {
  const ShardingSpec spec = ChooseSharding({.hash = ShardHash::kMurmur3},
                                           {.entries = 1000, .bytes = 1000000}, kGiB);
  EXPECT_EQ(spec.shard_bits, 0U);
  EXPECT_EQ(spec.minishard_bits, 0U);
  EXPECT_EQ(spec.preshift_bits, 0U);
}

TEST(ChooseSharding, KeepsShardsAtOrBelowTheSizeThatIsAsked) {
  for (const uint64_t bytes : {kGiB - 1, kGiB, kGiB + 1, 3 * kGiB, 1000 * kGiB}) {
    const ShardingSpec spec = ChooseSharding(
        {.hash = ShardHash::kMurmur3}, {.entries = 100000000, .bytes = bytes}, kGiB);
    EXPECT_LE(bytes >> spec.shard_bits, kGiB) << bytes;
    if (spec.shard_bits > 0) {
      EXPECT_GE(bytes >> (spec.shard_bits - 1), kGiB) << bytes;
    }
  }
}

TEST(ChooseSharding, KeepsMinishardsAtAThousandEntriesOrSo) {
  for (const uint64_t entries : {1025U, 5000U, 1000000U, 4000000U}) {
    const ShardingSpec spec = ChooseSharding({.hash = ShardHash::kMurmur3},
                                             {.entries = entries, .bytes = kGiB}, kGiB);
    EXPECT_LE(entries >> spec.minishard_bits, 1024U) << entries;
    EXPECT_GT(entries >> spec.minishard_bits, 400U) << entries;
  }
}

TEST(ChooseSharding, BoundsTheShardIndex) {
  const ShardingSpec spec = ChooseSharding(
      {.hash = ShardHash::kMurmur3}, {.entries = uint64_t{1} << 40, .bytes = kGiB}, kGiB);
  EXPECT_EQ(spec.minishard_bits, 12U);
}

TEST(ChooseSharding, SpreadsIdentityOverTheIdsThatOccur) {
  const ShardingSpec spec = ChooseSharding(
      {.hash = ShardHash::kIdentity},
      {.entries = 1 << 20, .bytes = 64 * kGiB, .largest_id = (1 << 20) - 1}, kGiB);
  EXPECT_EQ(spec.shard_bits, 6U);
  EXPECT_EQ(spec.minishard_bits, 4U);
  EXPECT_EQ(spec.preshift_bits, 10U) << "20 bits in all, so that every shard is used";
}

TEST(ChooseSharding, NeverUsesMoreBitsThanIdentityIdsHave) {
  const ShardingSpec spec =
      ChooseSharding({.hash = ShardHash::kIdentity},
                     {.entries = 8, .bytes = 64 * kGiB, .largest_id = 7}, kGiB);
  EXPECT_EQ(spec.shard_bits + spec.minishard_bits + spec.preshift_bits, 3U);
  EXPECT_TRUE(spec.Validate());
}

TEST(ChooseSharding, MakesNoMoreShardsThanEntries) {
  const ShardingSpec spec = ChooseSharding({.hash = ShardHash::kMurmur3},
                                           {.entries = 4, .bytes = 64 * kGiB}, kGiB);
  EXPECT_EQ(spec.shard_bits, 2U);
}

}  // namespace
}  // namespace dolium::neuroglancer
