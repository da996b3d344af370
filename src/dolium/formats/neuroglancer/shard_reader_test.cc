#include "dolium/formats/neuroglancer/shard_reader.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/formats/neuroglancer/testing/shards.h"

namespace dolium::neuroglancer {
namespace {

using testing::HasSubstr;

constexpr uint64_t kCache = 1 << 20;

TEST(ShardReader, NeedsThreeReadsColdAndOneWarm) {
  const ShardingSpec spec{.minishard_bits = 3,
                          .shard_bits = 2,
                          .minishard_index_encoding = Encoding::kGzip,
                          .data_encoding = Encoding::kGzip};
  const Chunks chunks = RandomChunks(1, 500);
  TestFolder folder;
  WriteChunks(folder.location, spec, chunks);
  const ShardReader reader(folder.location, spec, kCache);
  auto reads = [&, last = folder.store->reads()]() mutable {
    const uint64_t now = folder.store->reads();
    return now - std::exchange(last, now);
  };
  const uint64_t id = chunks.begin()->first;
  EXPECT_EQ(AsText(**reader.Get(id)), chunks.at(id));
  EXPECT_EQ(reads(), 3U);
  EXPECT_EQ(AsText(**reader.Get(id)), chunks.at(id));
  EXPECT_EQ(reads(), 1U);
}

TEST(ShardReader, FindsNothingInAbsentShardsAndEmptyMinishards) {
  const ShardingSpec spec{.minishard_bits = 2, .shard_bits = 2};
  TestFolder folder;
  WriteChunks(folder.location, spec, {{0, "zero"}});
  const ShardReader reader(folder.location, spec, kCache);
  EXPECT_EQ(*reader.Get(1), std::nullopt) << "an empty minishard";
  EXPECT_EQ(*reader.Get(4), std::nullopt) << "an absent shard";
  EXPECT_EQ(*reader.Get(16), std::nullopt) << "not listed";
  EXPECT_EQ(AsText(**reader.Get(0)), "zero");
}

TEST(ShardReader, TakesAZeroLengthValueAsPresent) {
  const ShardingSpec spec{};
  TestFolder folder;
  WriteChunks(folder.location, spec, {{3, ""}});
  const auto value = ShardReader(folder.location, spec, kCache).Get(3);
  ASSERT_TRUE(value && *value);
  EXPECT_TRUE((*value)->empty());
}

TEST(ShardReader, ReadsTheObsoletePair) {
  const ShardingSpec spec{.minishard_bits = 2, .shard_bits = 1};
  const Chunks chunks = RandomChunks(2, 50);
  TestFolder single;
  WriteChunks(single.location, spec, chunks);
  TestFolder pair;
  for (const std::string& name : single.Names()) {
    const std::string shard = single.Get(name);
    const std::string stem = name.substr(0, name.find('.'));
    pair.Put(stem + ".index", AsBytes(shard.substr(0, 64)));
    pair.Put(stem + ".data", AsBytes(shard.substr(64)));
  }
  const ShardReader reader(pair.location, spec, kCache);
  EXPECT_EQ(ReadChunks(reader, IdsOf(chunks)), chunks);
}

TEST(ShardReader, ReadsTheLayoutOfCloudVolume) {
  TestFolder folder;
  folder.Put(
      "0.shard",
      FromHex(
          "09000000000000003900000000000000390000000000000051000000000000000102030406"
          "0708090a02000000000000000600000000000000000000000000000000000000000000000400"
          "000000000000030000000000000003000000000000000700000000000000020000000000000"
          "0"));
  const ShardReader reader(folder.location, {.minishard_bits = 1}, kCache);
  EXPECT_EQ(ReadChunks(reader, {2, 8, 3}),
            (Chunks{{2, "\1\2\3\4"}, {8, "\6\7\10"}, {3, "\11\12"}}));
}

TEST(ShardReader, SeesAReplacedShard) {
  const ShardingSpec spec{.minishard_bits = 1};
  TestFolder folder;
  WriteChunks(folder.location, spec, {{1, "one"}, {2, "two"}});
  const ShardReader reader(folder.location, spec, kCache);
  EXPECT_EQ(AsText(**reader.Get(1)), "one");
  WriteChunks(folder.location, spec, {{1, "other, and longer"}, {3, "three"}});
  EXPECT_EQ(AsText(**reader.Get(1)), "other, and longer");
  EXPECT_EQ(AsText(**reader.Get(3)), "three");
  EXPECT_EQ(*reader.Get(2), std::nullopt);
}

TEST(ShardReader, ReportsAReplacementBetweenLocateAndRead) {
  TestFolder folder;
  WriteChunks(folder.location, {}, {{1, "one"}});
  const ShardReader reader(folder.location, {}, kCache);
  const auto chunk = reader.Locate(1);
  ASSERT_TRUE(chunk && *chunk);
  WriteChunks(folder.location, {}, {{1, "ONE"}});
  ByteVector into(3);
  EXPECT_EQ(reader.ReadChunk(**chunk, into).error().code, ErrorCode::kConflict);
}

TEST(ShardReader, ReadsEachChunkOfABatchFromItsOwnGeneration) {
  TestFolder folder;
  WriteChunks(folder.location, {}, {{1, "one"}, {2, "two"}});
  const ShardReader reader(folder.location, {}, kCache);
  const auto old = reader.Locate(1);
  ASSERT_TRUE(old && *old);
  WriteChunks(folder.location, {}, {{1, "1"}, {2, "2"}});
  reader.Forget(2);
  const auto fresh = reader.Locate(2);
  ASSERT_TRUE(fresh && *fresh);
  ByteVector first((*old)->range.length);
  ByteVector second((*fresh)->range.length);
  const ChunkRef chunks[] = {**fresh, **old};
  const MutableBytes into[] = {second, first};
  const auto read = reader.ReadChunks(chunks, into);
  ASSERT_FALSE(read) << "the old generation is gone";
  EXPECT_EQ(read.error().code, ErrorCode::kConflict);
}

TEST(ShardReader, GivesNoWrongBytesWhileShardsAreReplaced) {
  const ShardingSpec spec{.minishard_bits = 1, .data_encoding = Encoding::kGzip};
  TestFolder folder;
  const auto write = [&](char letter) {
    Chunks chunks;
    for (uint64_t id = 0; id < 20; ++id)
      chunks[id] = std::string(50 + id * (letter % 7), letter);
    WriteChunks(folder.location, spec, chunks);
  };
  write('a');
  const ShardReader reader(folder.location, spec, kCache);
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> readers;
  for (uint64_t t = 0; t < 4; ++t) {
    readers.emplace_back([&, t] {
      while (!done) {
        const auto value = reader.Get(t * 5);
        if (!value) {  // Replaced too often in a row: reported, not hidden.
          if (value.error().code != ErrorCode::kConflict) ++wrong;
          continue;
        }
        const std::string_view text = AsText(**value);
        const size_t size = 50 + t * 5 * (static_cast<unsigned char>(text[0]) % 7);
        if (text != std::string(size, text[0])) ++wrong;
      }
    });
  }
  for (int i = 0; i < 100; ++i) write(static_cast<char>('a' + i % 26));
  done = true;
  readers.clear();
  EXPECT_EQ(wrong, 0);
}

class DamagedShard : public testing::Test {
 protected:
  std::string ErrorOfGet(std::string_view hex, const ShardingSpec& spec = {}) {
    TestFolder folder;
    folder.Put("0.shard", FromHex(hex));
    const auto value = ShardReader(folder.location, spec, kCache).Get(1);
    if (value) return "";
    EXPECT_EQ(value.error().code, ErrorCode::kCorrupt);
    return value.error().message;
  }
};

TEST_F(DamagedShard, IsShorterThanItsIndex) {
  EXPECT_THAT(ErrorOfGet("010203"),
              HasSubstr("bytes [0, 16) end past the object (3 bytes)"));
}

TEST_F(DamagedShard, HasAMinishardThatEndsBeforeItBegins) {
  EXPECT_EQ(
      ErrorOfGet("0a000000000000000200000000000000"),
      "memory://test/set/0.shard: minishard 0: index ends at 2, before it begins at 10");
}

TEST_F(DamagedShard, HasAMinishardPastItsEnd) {
  EXPECT_THAT(
      ErrorOfGet("00000000000000003000000000000000"),
      HasSubstr("minishard 0: index bytes [16, 64) end past the object (16 bytes)"));
}

TEST_F(DamagedShard, HasAMinishardPastTheEndOfNumbers) {
  EXPECT_THAT(ErrorOfGet("0000000000000080ffffffffffffffff"), HasSubstr("past 2^64"));
}

TEST_F(DamagedShard, HasAnEmptyMinishardOutsideOfIt) {
  EXPECT_THAT(ErrorOfGet("ffffffffffffffffffffffffffffffff"), HasSubstr("past 2^64"));
  EXPECT_THAT(
      ErrorOfGet("01000000000000000100000000000000"),
      HasSubstr("minishard 0: index bytes [17, 17) end past the object (16 bytes)"));
}

TEST_F(DamagedShard, HasAMinishardIndexThatIsNoGzip) {
  EXPECT_THAT(ErrorOfGet("00000000000000000300000000000000616263",
                         {.minishard_index_encoding = Encoding::kGzip}),
              HasSubstr("minishard 0 index, bytes [16, 19): not a gzip stream"));
}

TEST_F(DamagedShard, HasAChunkOfAbsurdLength) {
  EXPECT_THAT(
      ErrorOfGet("00000000000000001800000000000000"
                 "010000000000000000000000000000000000000000000080"),
      HasSubstr("chunk 1: bytes at 16, 9223372036854775808 long, do not lie within the "
                "object (40 bytes); is the upload complete?"));
}

TEST(ShardReader, TakesAbsurdBitCountsWithoutAllocating) {
  TestFolder folder;
  folder.Put("0000000.shard", ByteVector(100));
  const ShardReader reader(folder.location, {.minishard_bits = 32, .shard_bits = 28},
                           kCache);
  const auto value = reader.Get(0);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace dolium::neuroglancer
