#include "dolium/formats/shardpack/stream_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using testing::HasSubstr;

TEST(StreamReader, ReadsFromAPipe) {
  const auto samples = RandomSamples(1, 200);
  ShardWriterOptions options;
  options.encode.compression = Compression::kZstd;
  const std::string bytes = MakeShard(samples, options);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::jthread writer([&] {
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t sent =
          write(ends[1], bytes.data() + at, std::min<size_t>(777, bytes.size() - at));
      ASSERT_GT(sent, 0);
      at += static_cast<size_t>(sent);
    }
    close(ends[1]);
  });
  StreamReader reader(FileInput(ends[0]), {});
  for (const Sample& sample : samples) {
    const auto record = Must(reader.Next());
    ASSERT_TRUE(record);
    ExpectEqual(Must(record->Decode(reader.content_options())), sample);
  }
  EXPECT_FALSE(Must(reader.Next()));
  EXPECT_FALSE(Must(reader.Next()));
  EXPECT_TRUE(reader.is_done());
  EXPECT_EQ(reader.records(), 200U);
  close(ends[0]);
}

TEST(StreamReader, ReadsObjects) {
  const auto samples = RandomSamples(2, 50);
  StreamReader reader(Must(ObjectInput(InMemory(MakeShard(samples)))), {});
  for (const Sample& sample : samples) EXPECT_EQ(Must(reader.Next())->key(), sample.key);
  EXPECT_FALSE(Must(reader.Next()));
  EXPECT_EQ(ObjectInput({InMemory("").store, "absent"}).error().code,
            ErrorCode::kNotFound);
}

TEST(StreamReader, CollectsDictionariesFromTheFirstRecord) {
  const auto samples = ReadSamples(InMemory(TestFile("good/dictionary.shardpack")));
  StreamReader reader(Must(ObjectInput(InMemory(TestFile("good/dictionary.shardpack")))),
                      {});
  for (const Sample& sample : samples) {
    ExpectEqual(Must(Must(reader.Next())->Decode(reader.content_options())), sample);
  }
  EXPECT_FALSE(Must(reader.Next()));
}

TEST(StreamReader, TakesNoMoreMemoryThanComes) {
  // A header that claims 8 GiB, with nothing behind it: 64 MiB at most are taken for it.
  std::string bytes = Blocks({{.key = "k", .files = {{.name = "a"}}}});
  StoreLE(reinterpret_cast<std::byte*>(bytes.data()), uint64_t{8} << 30);
  const Streamed streamed = Stream(bytes);
  EXPECT_EQ(streamed.verdict, kind::kRecord);  // The checksum does not bear it out.
  EXPECT_EQ(streamed.count, 0U);
}

TEST(StreamReader, HasALimitForRecords) {
  const std::string bytes = MakeShard(
      {{.key = "k", .files = {{.name = "a", .data = Text(std::string(5000, 'x'))}}}});
  StreamReader reader(Must(ObjectInput(InMemory(bytes))), {.record_limit = 5000});
  const auto record = reader.Next();
  EXPECT_EQ(KindOf(record), kind::kLimit);
  EXPECT_THAT(record.error().message, HasSubstr("record 0 at 0: 5"));
  EXPECT_TRUE(reader.is_done());
}

TEST(StreamReader, GoesOnBehindARecordThatItDoesNotUnderstand) {
  const Streamed streamed = Stream(TestFile("bad/record_critical.shardpack"));
  EXPECT_EQ(streamed.verdict, "complete");
  EXPECT_EQ(streamed.count, 2U);
  EXPECT_EQ(streamed.records.size(), 1U);
  ASSERT_EQ(streamed.errors.size(), 1U);
  EXPECT_EQ(streamed.errors[0].kind, kind::kUnsupportedFeature);
}

TEST(StreamReader, SaysWhatIsNoShard) {
  EXPECT_EQ(Stream("").verdict, kind::kIncomplete);
  EXPECT_EQ(Stream("some text").verdict, kind::kNotShardPack);
  EXPECT_EQ(Stream("some longer text, more than sixteen bytes").verdict,
            kind::kNotShardPack);
  EXPECT_EQ(Stream(std::string(1000, '\0')).verdict, kind::kNotShardPack);
}

TEST(StreamReader, ProvesThatALongTailIsComplete) {
  // Sections of more than what is read at once.
  std::vector<Sample> samples;
  for (int i = 0; i < 30'000; ++i) {
    samples.push_back({.key = std::to_string(i), .files = {{.name = "a"}}});
  }
  ShardWriterOptions options;
  options.tail.entry_index = Wanted::kYes;
  const std::string bytes = MakeShard(samples, options);
  EXPECT_EQ(Stream(bytes).verdict, "complete");
  EXPECT_EQ(Stream(bytes.substr(0, bytes.size() - 1)).verdict, kind::kIncomplete);
  EXPECT_EQ(Stream(bytes + "x").verdict, kind::kTrailingData);
  EXPECT_EQ(Stream(bytes + std::string(200'000, 'x')).verdict, kind::kTrailingData);
  EXPECT_EQ(Stream(bytes + bytes).verdict, kind::kTrailingData);
}

}  // namespace
}  // namespace dolium::shardpack
