#include "dolium/formats/neuroglancer/sharded_writer.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/formats/neuroglancer/shard_index.h"
#include "dolium/formats/neuroglancer/testing/shards.h"

namespace dolium::neuroglancer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Every object of a set, by name.
std::map<std::string, std::string> Snapshot(const TestFolder& folder) {
  std::map<std::string, std::string> objects;
  for (const std::string& name : folder.Names()) objects[name] = folder.Get(name);
  return objects;
}

TEST(ShardedWriter, WritesTheFileThatTensorStoreWrites) {
  TestFolder folder;
  WriteChunks(folder.location, {.minishard_bits = 1},
              {{2, "\1\2\3\4"}, {8, "\6\7\10"}, {3, "\11\12"}});
  EXPECT_THAT(folder.Names(), ElementsAre("0.shard"));
  EXPECT_EQ(ToHex(AsBytes(folder.Get("0.shard"))),
            "0700000000000000370000000000000039000000000000005100000000000000010203040607"
            "08020000"
            "0000000000060000000000000000000000000000000000000000000000040000000000000003"
            "00000000"
            "000000090a030000000000000037000000000000000200000000000000");
}

TEST(ShardedWriter, ReadsBackWhatItWroteUnderAnySpec) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const ShardingSpec spec = RandomSpec(seed);
    const Chunks chunks = RandomChunks(seed, 60);
    TestFolder folder;
    WriteChunks(folder.location, spec, chunks);
    const ShardReader reader(folder.location, spec, 1 << 20);
    EXPECT_EQ(ReadChunks(reader, IdsOf(chunks)), chunks) << "seed " << seed;
  }
}

TEST(ShardedWriter, DependsOnTheChunksAlone) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    ShardingSpec spec = RandomSpec(seed);
    spec.preshift_bits = 0;
    const Chunks chunks = RandomChunks(seed, 300);
    TestFolder reference;
    WriteChunks(reference.location, spec, chunks, {.jobs = 1});
    const auto expected = Snapshot(reference);
    std::vector<std::pair<uint64_t, std::string>> order(chunks.begin(), chunks.end());
    std::ranges::shuffle(order, std::mt19937_64(seed));
    for (const uint64_t memory : {1, 200 << 10, 2 << 20}) {
      TestFolder folder;
      ShardedWriter writer(folder.location, spec, {.memory = memory, .jobs = 3});
      for (const auto& [id, value] : order) {
        ASSERT_TRUE(writer.AddChunk(id, AsBytes(value), {}, false));
      }
      ASSERT_TRUE(writer.Finish());
      EXPECT_EQ(Snapshot(folder), expected) << "seed " << seed << ", memory " << memory;
    }
  }
}

TEST(ShardedWriter, PutsPrecedingBytesRightBeforeTheValue) {
  const ShardingSpec spec{.minishard_bits = 1, .data_encoding = Encoding::kGzip};
  for (const uint64_t memory : {1, 1 << 20}) {
    TestFolder folder;
    ShardedWriter writer(folder.location, spec, {.memory = memory});
    const std::string large(40000, 'v');
    for (uint64_t id = 0; id < 8; ++id) {
      const std::string preceding = "fragments of " + std::to_string(id);
      ASSERT_TRUE(writer.AddChunk(id, AsBytes(large), AsBytes(preceding), false));
    }
    ASSERT_TRUE(writer.Finish());
    const std::string shard = folder.Get("0.shard");
    const ShardReader reader(folder.location, spec, 1 << 20);
    for (uint64_t id = 0; id < 8; ++id) {
      const std::string preceding = "fragments of " + std::to_string(id);
      const auto chunk = reader.Locate(id);
      ASSERT_TRUE(chunk && *chunk);
      EXPECT_EQ(shard.substr((*chunk)->range.offset - preceding.size(), preceding.size()),
                preceding);
      EXPECT_EQ(AsText(**reader.Get(id)), large);
    }
  }
}

TEST(ShardedWriter, TakesChunksThatAreEncodedAlready) {
  const ShardingSpec spec{.data_encoding = Encoding::kGzip};
  const auto gzip = Encode(CodecsOf(Encoding::kGzip), AsBytes("hello"));
  TestFolder folder;
  ShardedWriter writer(folder.location, spec, {});
  ASSERT_TRUE(writer.AddChunk(1, *gzip, {}, /*encoded=*/true));
  ASSERT_TRUE(writer.Finish());
  EXPECT_EQ(AsText(**ShardReader(folder.location, spec, 1 << 20).Get(1)), "hello");
}

TEST(ShardedWriter, RejectsAKeyGivenTwice) {
  for (const uint64_t memory : {1, 1 << 20}) {
    TestFolder folder;
    ShardedWriter writer(folder.location, {}, {.memory = memory});
    const std::string value(100000, 'x');
    Result<void> added;
    for (const uint64_t id : {5, 6, 7, 5}) {
      added = writer.AddChunk(id, AsBytes(value), {}, false);
      if (!added) break;
    }
    const auto finished = writer.Finish();
    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(finished.error().message,
              "memory://test/set/0.shard: chunk 5 is given twice");
  }
}

TEST(ShardedWriter, WritesNoShardForNoChunks) {
  TestFolder folder;
  WriteChunks(folder.location, {.minishard_bits = 2, .shard_bits = 4}, {});
  EXPECT_THAT(folder.Names(), ElementsAre());
}

TEST(ShardedWriter, RefusesAnIndexBeyondReason) {
  TestFolder folder;
  ShardedWriter writer(folder.location, {.minishard_bits = 32}, {});
  ASSERT_TRUE(writer.AddChunk(1, AsBytes("x"), {}, false));
  EXPECT_THAT(writer.Finish().error().message,
              HasSubstr("2^32 minishards cannot be written"));
}

TEST(ShardedWriter, StopsOnRequest) {
  std::stop_source stop;
  TestFolder folder;
  ShardedWriter writer(folder.location, {}, {.memory = 1, .stop = stop.get_token()});
  stop.request_stop();
  const std::string value(100000, 'x');
  EXPECT_EQ(writer.AddChunk(1, AsBytes(value), {}, false).error().code,
            ErrorCode::kCancelled);
}

TEST(ParseKey, TakesDecimalNumbersOnly) {
  EXPECT_EQ(*ParseKey("0"), 0U);
  EXPECT_EQ(*ParseKey("18446744073709551615"), ~uint64_t{0});
  for (const char* key :
       {"", " 1", "1 ", "-1", "+1", "0x1", "1.0", "18446744073709551616", "a"}) {
    const auto parsed = ParseKey(key);
    ASSERT_FALSE(parsed) << key;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace dolium::neuroglancer
