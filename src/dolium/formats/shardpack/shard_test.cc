#include "dolium/formats/shardpack/shard.h"

#include <cstdlib>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/file_store.h"
#include "dolium/bytes/http_store.h"
#include "dolium/bytes/testing/http_test_server.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Sample Small(uint64_t i) {
  return {.key = fmt::format("key{}", i),
          .files = {{.name = "a.txt",
                     .content_type = "text/plain",
                     .data = Text(fmt::format("content {}", i))}}};
}
std::vector<Sample> SmallSamples(uint64_t count) {
  std::vector<Sample> samples;
  for (uint64_t i = 0; i < count; ++i) samples.push_back(Small(i));
  return samples;
}
std::string ContentOf(const Shard& shard, uint64_t number) {
  const Record record = Must(shard.Read(number));
  return std::string(AsText(Must(shard.Content(number, record, record.entries()[0]))));
}

TEST(Shard, ReadsRecordsByNumberOffsetAndKey) {
  const auto shard = Must(Shard::Open(InMemory(MakeShard(SmallSamples(100)))));
  EXPECT_EQ(shard->size(), 100U);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(ContentOf(*shard, i), fmt::format("content {}", i));
    EXPECT_EQ(shard->NumberAt(shard->offset(i)), i);
    EXPECT_EQ(shard->NumberAt(shard->offset(i) + 8), std::nullopt);
    EXPECT_EQ(Must(shard->Find(fmt::format("key{}", i))), i);
  }
  EXPECT_EQ(shard->NumberAt(shard->footer().index_offset), std::nullopt);
  EXPECT_EQ(Must(shard->Find("key100")), std::nullopt);
  EXPECT_EQ(shard->Read(100).error().message,
            "memory://test/a.shardpack: record 100, there are 100");
  EXPECT_EQ(shard->Read(UINT64_MAX).error().code, ErrorCode::kInvalidArgument);
}

TEST(Shard, MapsLocalFiles) {
  const TemporaryFolder folder;
  const auto store = Must(FileStore::Open(folder.path()));
  Must(store->Put("a.shardpack", AsBytes(MakeShard(SmallSamples(10))),
                  Precondition::None()));
  const auto shard = Must(Shard::Open({store, "a.shardpack"}));
  EXPECT_EQ(ContentOf(*shard, 3), "content 3");
  EXPECT_EQ(shard->generation(), Must(store->Stat("a.shardpack"))->generation);
  const Bytes all = Must(shard->ReadBytes({0, shard->footer().file_size}));
  const Record record = Must(shard->Read(3));
  EXPECT_EQ(record.block().data(), all.data() + shard->offset(3));
  EXPECT_EQ(Shard::Open({store, "b.shardpack"}).error().code, ErrorCode::kNotFound);
  Must(store->Put("empty.shardpack", {}, Precondition::None()));
  EXPECT_EQ(KindOf(Shard::Open({store, "empty.shardpack"})), kind::kNotShardPack);
}

TEST(Shard, ReadsManyAtOnceEachWithItsOwnResult) {
  std::string bytes = MakeShard(SmallSamples(10));
  bytes[bytes.find("key5")] = 'K';
  const auto shard = Must(Shard::Open(InMemory(bytes)));
  const auto& store = static_cast<const MemoryStore&>(*shard->location().store);
  const uint64_t before = store.reads();
  const auto records = shard->ReadMany(std::vector<uint64_t>{7, 5, 7, 0});
  EXPECT_EQ(store.reads() - before, 1U);
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(Must(records[0]).key(), "key7");
  EXPECT_THAT(records[1].error().message,
              HasSubstr("memory://test/a.shardpack: record 5: header has CRC-32C"));
  EXPECT_EQ(Must(records[2]).key(), "key7");
  EXPECT_EQ(Must(records[3]).key(), "key0");
  EXPECT_FALSE(shard->ReadMany(std::vector<uint64_t>{99})[0]);
}

TEST(Shard, GivesBlocksThatFollowOneAnother) {
  const std::string bytes = MakeShard(SmallSamples(10));
  const auto shard = Must(Shard::Open(InMemory(bytes)));
  EXPECT_EQ(AsText(Must(shard->ReadBlocks(2, 3))),
            bytes.substr(shard->offset(2), shard->offset(5) - shard->offset(2)));
  EXPECT_EQ(AsText(Must(shard->ReadBlocks(0, 10))),
            bytes.substr(0, shard->footer().index_offset));
  EXPECT_FALSE(shard->ReadBlocks(9, 2));
  EXPECT_FALSE(shard->ReadBlocks(10, 0));
}

TEST(Shard, FindsByKeyWithoutAKeyIndex) {
  for (const bool keys : {false, true}) {
    ShardWriterOptions options;
    options.tail.key_index = false;
    options.tail.keys = keys;
    auto samples = SmallSamples(2000);
    samples[7].metadata = {MetadataFormat::kOpaque, Text(std::string(9000, 'm'))};
    samples[1999].key = "key7";
    const auto shard = Must(Shard::Open(InMemory(MakeShard(samples, options))));
    EXPECT_EQ(Must(shard->Find("key1998")), 1998U);
    EXPECT_THAT(Must(shard->FindAll("key7")), ElementsAre(7, 1999));
    EXPECT_EQ(Must(shard->Find("nowhere")), std::nullopt);
    uint64_t visited = 0;
    Must(shard->VisitKeys([&](uint64_t number, std::string_view key) {
      EXPECT_EQ(key, samples[number].key);
      return ++visited < 1500;
    }));
    EXPECT_EQ(visited, 1500U);
  }
}

TEST(Shard, DoesNotNeedSectionsThatAreDamaged) {
  ShardWriterOptions options;
  options.tail.keys = true;
  const std::string good = MakeShard(SmallSamples(50), options);
  const auto sections = Must(Must(Shard::Open(InMemory(good)))->sections());
  for (const Section& section : sections) {
    SCOPED_TRACE(section.name());
    std::string bytes = good;
    bytes[section.range.offset] = static_cast<char>(bytes[section.range.offset] ^ 1);
    const auto shard = Must(Shard::Open(InMemory(bytes)));
    EXPECT_EQ(KindOf(shard->ReadSection(section.name())), kind::kSection);
    EXPECT_EQ(Must(shard->Find("key49")), 49U);
    EXPECT_EQ(ContentOf(*shard, 7), "content 7");
    EXPECT_EQ(shard->stat().has_value(), section.name() != "STAT");
    EXPECT_EQ(KindOf(shard->metadata()),
              section.name() == "META" ? kind::kSection : "ok");
  }
  // The directory as a whole.
  std::string bytes = good;
  bytes[bytes.size() - 64 - 40] = static_cast<char>(bytes[bytes.size() - 64 - 40] ^ 1);
  const auto shard = Must(Shard::Open(InMemory(bytes)));
  EXPECT_EQ(KindOf(shard->sections()), kind::kSection);
  EXPECT_EQ(Must(shard->Find("key49")), 49U);
}

TEST(Shard, HasMetadata) {
  ShardWriterOptions options;
  options.user = {{"creator", "MyName"}};
  options.dataset = "stereo";
  const auto shard = Must(Shard::Open(InMemory(MakeShard(SmallSamples(2), options))));
  const auto metadata = Must(shard->metadata());
  EXPECT_EQ(metadata["user"]["creator"], "MyName");
  EXPECT_EQ(metadata["shardpack"]["version"], "1.0");
  EXPECT_EQ(metadata["shardpack"]["dataset"], "stereo");
  EXPECT_EQ(metadata["shardpack"]["columns"].dump(),
            R"([{"name":"a.txt","content_type":"text/plain"}])");
  ASSERT_TRUE(shard->stat());
  EXPECT_TRUE(shard->stat()->keys_ascending);
  EXPECT_EQ(shard->stat()->entries, 2U);
}

TEST(Shard, FindsDictionariesAlsoWithoutTheirList) {
  const std::string good = TestFile("good/dictionary.shardpack");
  const auto shard = Must(Shard::Open(InMemory(good)));
  const Section* list = FindSection(*shard->sections(), "ZDIC");
  ASSERT_NE(list, nullptr);
  std::string bytes = good;
  bytes[list->range.offset] = static_cast<char>(bytes[list->range.offset] ^ 1);
  const auto damaged = ReadSamples(InMemory(bytes));
  const auto samples = ReadSamples(InMemory(good));
  ASSERT_EQ(damaged.size(), samples.size());
  for (size_t i = 0; i < samples.size(); ++i) ExpectEqual(damaged[i], samples[i]);
}

TEST(Shard, MayBeReadByManyThreads) {
  const auto shard = Must(Shard::Open(InMemory(TestFile("good/dictionary.shardpack"))));
  const auto samples = ReadSamples(shard->location());
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const ContentOptions contents = Must(shard->content_options());
      for (size_t i = 0; i < samples.size(); ++i) {
        EXPECT_EQ(Must(shard->Find(samples[i].key)), i);
        ExpectEqual(Must(Must(shard->Read(i)).Decode(contents)), samples[i]);
      }
    });
  }
}

TEST(LooksLikeShard, SeesEitherEnd) {
  const std::string bytes = MakeShard(SmallSamples(3));
  EXPECT_TRUE(Must(LooksLikeShard(InMemory(bytes))));
  EXPECT_TRUE(Must(LooksLikeShard(InMemory(bytes.substr(0, 200)))));
  EXPECT_TRUE(Must(LooksLikeShard(InMemory(std::string(100, 'x') + bytes))));
  EXPECT_TRUE(Must(LooksLikeShard(InMemory(MakeShard({})))));
  EXPECT_FALSE(Must(LooksLikeShard(InMemory(std::string(1000, 'x')))));
  EXPECT_FALSE(Must(LooksLikeShard(InMemory(""))));
}

// A shard behind a server.
class RemoteShardTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("no_proxy", "*", 1);
    HttpOptions options;
    options.max_gap = 0;
    store_ = Must(HttpStore::Open(server_.origin(), "", options));
  }
  std::shared_ptr<const Shard> Open(const std::string& bytes, ShardOptions options = {}) {
    server_.Put("/a.shardpack", {bytes, "\"one\"", "", ""});
    return Must(Shard::Open({store_, "a.shardpack"}, options));
  }
  // The ranges that were asked for since it was last called.
  std::vector<std::string> Asked() {
    std::vector<std::string> ranges;
    const auto requests = server_.requests();
    for (size_t i = seen_; i < requests.size(); ++i) {
      ranges.push_back(requests[i].method + " " + requests[i].header("range"));
    }
    seen_ = requests.size();
    return ranges;
  }
  static std::string RangeText(ByteRange range) {
    return fmt::format("GET bytes={}-{}", range.offset, range.end() - 1);
  }

  HttpTestServer server_;
  std::shared_ptr<HttpStore> store_;
  size_t seen_ = 0;
};

TEST_F(RemoteShardTest, OpensWithOneRequestAndReadsARecordWithOne) {
  const auto shard = Open(MakeShard(SmallSamples(100)));
  EXPECT_THAT(Asked(), ElementsAre("GET bytes=-65536"));
  const Record record = Must(shard->Read(42));
  EXPECT_EQ(record.key(), "key42");
  // All of a small shard came with its end.
  EXPECT_THAT(Asked(), ElementsAre());
}

TEST_F(RemoteShardTest, ReadsExactlyTheBytesOfARecord) {
  std::vector<Sample> samples = SmallSamples(10);
  samples[5].files[0].data = Text(std::string(10'000, 'x'));
  const auto shard = Open(MakeShard(samples), {.tail_bytes = 2000});
  EXPECT_THAT(Asked(), ElementsAre("GET bytes=-2000"));
  Must(shard->Read(5));
  EXPECT_THAT(Asked(), ElementsAre(RangeText(shard->range(5))));
  EXPECT_EQ(Must(shard->Find("key0")), 0U);
  EXPECT_THAT(Asked(), ElementsAre(RangeText(shard->range(0))));
}

// A large file between two small ones.
std::vector<Sample> LargeSamples(uint64_t count) {
  std::vector<Sample> samples = SmallSamples(count);
  for (Sample& sample : samples) {
    sample.metadata = {MetadataFormat::kJson, Text("{}")};
    sample.files.push_back(
        {.name = "large", .data = Text(std::string(200'000, sample.key.back()))});
    sample.files.push_back({.name = "label", .data = Text(sample.key + "!")});
  }
  return samples;
}

std::string FileOf(const Shard& shard, uint64_t number, const Record& record,
                   std::string_view name) {
  const EntryHeader* const entry = record.Find(name);
  if (entry == nullptr) return "-";
  return std::string(AsText(Must(shard.Content(number, record, *entry))));
}

TEST_F(RemoteShardTest, ReadsSomeFilesWithoutTheOthersByTheEntryIndex) {
  for (const unsigned align : {3, 6, 12}) {
    ShardWriterOptions options;
    options.encode.align_log2 = align;
    const auto shard = Open(MakeShard(LargeSamples(10), options), {.tail_bytes = 2000});
    const std::vector<uint64_t> numbers = {7, 0, 3};
    Asked();
    uint64_t sent = store_->stats().bytes;
    const std::vector<std::string> names = {"label", "a.txt", "none"};
    const auto records = shard->ReadManyOf(numbers, names);
    EXPECT_EQ(Asked().size(), 6U);  // the front and the end of each
    EXPECT_LT(store_->stats().bytes - sent, 3U * (align == 12 ? 3 * 4096 : 400));
    for (size_t i = 0; i < numbers.size(); ++i) {
      const Record& record = Must(records[i]);
      EXPECT_EQ(record.key(), fmt::format("key{}", numbers[i]));
      EXPECT_EQ(AsText(record.metadata().bytes), "{}");
      EXPECT_EQ(FileOf(*shard, numbers[i], record, "label"),
                fmt::format("key{}!", numbers[i]));
      EXPECT_EQ(FileOf(*shard, numbers[i], record, "a.txt"),
                fmt::format("content {}", numbers[i]));
      EXPECT_EQ(record.entries().size(), 2U);
      EXPECT_FALSE(record.damage());
    }
    // No names: the header alone.
    sent = store_->stats().bytes;
    EXPECT_EQ(Must(shard->ReadManyOf(numbers, {})[2]).key(), "key3");
    EXPECT_LT(store_->stats().bytes - sent, 3U * 100);
    // Nothing is spared: whole records.
    const auto large = shard->ReadManyOf(numbers, std::vector<std::string>{"large"});
    EXPECT_EQ(Must(large[0]).entries().size(), 3U);
    EXPECT_EQ(FileOf(*shard, 7, *large[0], "large"), std::string(200'000, '7'));
  }
}

TEST_F(RemoteShardTest, ReadsWholeRecordsWhereTheEntryIndexIsNoHelp) {
  const std::vector<uint64_t> numbers = {0, 1};
  const std::vector<std::string> names = {"label"};
  const auto expect_whole = [&](const std::string& bytes) {
    const auto shard = Open(bytes, {.tail_bytes = 2000});
    const auto records = shard->ReadManyOf(numbers, names);
    EXPECT_EQ(Must(records[1]).entries().size(), 3U);
    EXPECT_EQ(FileOf(*shard, 1, *records[1], "label"), "key1!");
  };
  ShardWriterOptions without;
  without.tail.entry_index = Wanted::kNo;
  expect_whole(MakeShard(LargeSamples(4), without));

  const std::string good = MakeShard(LargeSamples(4));
  const auto shard = Must(Shard::Open(InMemory(good)));
  const Section* const section = FindSection(*shard->sections(), "ENTX");
  ASSERT_NE(section, nullptr);
  std::string damaged = good;
  damaged[section->range.offset + 8] ^= 1;
  expect_whole(damaged);

  // An index that is sound, but of another shard: names and places are not those.
  std::vector<Sample> others = LargeSamples(4);
  for (Sample& sample : others) sample.files[2].name = "LABEL";
  std::string other = MakeShard(others);
  const auto entries_at = [](const std::string& bytes) {
    const auto opened = Must(Shard::Open(InMemory(bytes)));
    return FindSection(*opened->sections(), "ENTX")->range.offset;
  };
  const uint64_t from = entries_at(good);
  ASSERT_EQ(entries_at(other), from);
  // The records of the one with the tail of the other.
  other.replace(from, std::string::npos, good.substr(from));
  const auto mixed = Open(other, {.tail_bytes = 2000});
  const auto records = mixed->ReadManyOf(numbers, names);
  EXPECT_EQ(Must(records[1]).entries().size(), 3U);
  EXPECT_EQ(FileOf(*mixed, 1, *records[1], "label"), "-");
}

TEST_F(RemoteShardTest, NamesDamageOfWhatItReadsByTheEntryIndex) {
  std::string bytes = MakeShard(LargeSamples(4));
  const auto shard = Must(Shard::Open(InMemory(bytes)));
  const Record record = Must(shard->Read(1));
  const uint64_t label = shard->offset(1) + record.entries()[2].content_at;
  bytes[label] ^= 1;
  bytes[shard->offset(2) + record.entries()[1].content_end() + 8] ^= 1;  // its header
  const auto remote = Open(bytes, {.tail_bytes = 2000});
  const auto records = remote->ReadManyOf(std::vector<uint64_t>{1, 2},
                                          std::vector<std::string>{"label", "a.txt"});
  const Record& first = Must(records[0]);
  EXPECT_EQ(first.entries().size(), 2U);
  EXPECT_THAT(remote->Content(1, first, *first.Find("label")).error().message,
              HasSubstr("a.shardpack: record 1: \"key1\": entry \"label\": content has"));
  EXPECT_EQ(FileOf(*remote, 1, first, "a.txt"), "content 1");
  const Record& second = Must(records[1]);
  ASSERT_TRUE(second.damage());
  EXPECT_THAT(second.damage()->message,
              HasSubstr("\"key2\": entry 2: header has CRC-32C"));
  EXPECT_EQ(FileOf(*remote, 2, second, "a.txt"), "content 2");
}

TEST_F(RemoteShardTest, TakesASecondRequestForTheFrontOfALargeIndex) {
  const auto shard = Open(MakeShard(SmallSamples(1000)), {.tail_bytes = 20'000});
  const ByteRange index = shard->footer().index();
  const uint64_t missing = shard->footer().file_size - 20'000 - index.offset;
  EXPECT_THAT(Asked(),
              ElementsAre("GET bytes=-20000", RangeText({index.offset, missing})));
  EXPECT_EQ(shard->size(), 1000U);
  EXPECT_EQ(ContentOf(*shard, 999), "content 999");
  EXPECT_EQ(ContentOf(*shard, 0), "content 0");
}

TEST_F(RemoteShardTest, FetchesTheIndexAloneWhenItIsLarge) {
  const auto shard = Open(MakeShard(SmallSamples(1000)), {.tail_bytes = 2000});
  EXPECT_THAT(Asked(),
              ElementsAre("GET bytes=-2000", RangeText(shard->footer().index())));
}

TEST_F(RemoteShardTest, FindsKeysInWindowsOfALargeRemoteIndex) {
  // Records of one size each, and an index of keys of more than its limit.
  constexpr uint64_t kCount = 30'000;
  TailBuilder tail({.entry_index = Wanted::kNo});
  std::string bytes;
  bytes.reserve(kCount * 104);
  for (uint64_t i = 0; i < kCount; ++i) {
    const EncodedRecord record = Must(EncodeRecord(Small(i), {}));
    for (const Bytes& segment : record.segments) bytes += AsText(segment);
    tail.Add(record);
  }
  bytes += AsText(tail.Build(3, "{}"));
  const auto shard = Open(bytes, {.tail_bytes = 40'000, .key_index_bytes = 200'000});
  EXPECT_EQ(Asked().size(), 2U);
  const uint64_t opened = store_->stats().bytes;
  Must(shard->Find("key5"));  // also reads the header of the section
  Asked();
  const uint64_t sent = store_->stats().bytes;
  EXPECT_LT(sent - opened, 100'000U);  // not the whole index
  uint64_t requests = 0;
  for (const uint64_t number : {0, 1, 13'333, 29'999}) {
    EXPECT_EQ(Must(shard->Find(fmt::format("key{}", number))), number);
    requests += Asked().size();
  }
  EXPECT_EQ(Must(shard->Find("not there")), std::nullopt);
  EXPECT_LE(requests, 4 * 4U);  // hashes, numbers, the record
  EXPECT_LT(store_->stats().bytes - sent, 200'000U);
}

TEST_F(RemoteShardTest, RefusesARecordOfAnotherGeneration) {
  std::vector<Sample> samples = SmallSamples(100);
  const auto shard = Open(MakeShard(samples), {.tail_bytes = 5000});
  samples[3].files[0].data = Text("changed");
  server_.Put("/a.shardpack", {MakeShard(samples), "\"two\"", "", ""});
  EXPECT_EQ(shard->Read(0).error().code, ErrorCode::kConflict);
}

TEST_F(RemoteShardTest, SaysWhatItIsNot) {
  server_.Put("/text", {std::string(5000, 'x'), "\"t\"", "", ""});
  EXPECT_EQ(KindOf(Shard::Open({store_, "text"}, {.tail_bytes = 100})),
            kind::kNotShardPack);
  const std::string bytes = MakeShard(SmallSamples(10));
  server_.Put("/cut", {bytes.substr(0, bytes.size() - 1), "\"c\"", "", ""});
  const auto cut = Shard::Open({store_, "cut"}, {.tail_bytes = 100});
  EXPECT_EQ(KindOf(cut), kind::kIncomplete);
  EXPECT_THAT(cut.error().message, HasSubstr("/cut: no index at the end"));
  const auto absent = Shard::Open({store_, "absent"});
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(absent.error().message.find(server_.origin()),
            absent.error().message.rfind(server_.origin()));
}

}  // namespace
}  // namespace dolium::shardpack
