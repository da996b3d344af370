#include "dolium/formats/shardpack/tail_builder.h"

#include <map>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using testing::ElementsAre;

std::vector<std::string> TagsOf(const Shard& shard) {
  std::vector<std::string> tags;
  for (const Section& section : Must(shard.sections())) tags.emplace_back(section.name());
  return tags;
}

TEST(TailBuilder, MakesSectionsThatAgree) {
  ShardWriterOptions options;
  options.tail.keys = true;
  options.tail.entry_index = Wanted::kYes;
  const auto samples = RandomSamples(1, 200);
  const auto shard = Must(Shard::Open(InMemory(MakeShard(samples, options))));
  EXPECT_THAT(TagsOf(*shard), ElementsAre("ENTX", "KEYS", "KEYX", "STAT", "META"));
  const EntryIndex entries =
      Must(EntryIndex::Parse(*Must(shard->ReadSection("ENTX")), 200));
  const KeyIndex keys = Must(KeyIndex::FromBody(*Must(shard->ReadSection("KEYX")), 200));
  Must(VisitKeys(*Must(shard->ReadSection("KEYS")), 200, [&](uint64_t i, auto key) {
    EXPECT_EQ(key, samples[i].key);
    EXPECT_THAT(Must(keys.Candidates(HashKey(key))), testing::Contains(i));
  }));
  uint64_t count = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    const Record record = Must(shard->Read(i));
    const auto places = entries.EntriesOf(i);
    ASSERT_EQ(places.size(), record.entries().size());
    count += places.size();
    for (size_t j = 0; j < places.size(); ++j) {
      const EntryHeader& entry = record.entries()[j];
      const EntryColumn& column = entries.columns()[places[j].column];
      EXPECT_EQ(column.name, entry.name);
      EXPECT_EQ(column.content_type, entry.content_type);
      EXPECT_EQ(places[j].offset + places[j].length,
                shard->offset(i) + entry.content_end());
      // Each place begins with the entry's own header.
      const Bytes bytes = Must(shard->ReadBytes({places[j].offset, places[j].length}));
      EXPECT_EQ(Must(ParseEntryHeader(bytes, 0, 3, Check::kHeaders, false)).name,
                entry.name);
    }
  }
  EXPECT_EQ(shard->stat()->entries, count);
}

TEST(TailBuilder, WritesWhatIsWanted) {
  ShardWriterOptions options;
  options.tail = {.stat = false, .key_index = false, .metadata = false};
  const std::string bytes = MakeShard(RandomSamples(1, 3), options);
  EXPECT_THAT(TagsOf(*Must(Shard::Open(InMemory(bytes)))), ElementsAre());
}

TEST(TailBuilder, AddsAnEntryIndexWhereRecordsAreLarge) {
  const auto tags = [](size_t size) {
    const Sample sample{.key = "k",
                        .files = {{.name = "a", .data = Text(std::string(size, 'x'))}}};
    return TagsOf(*Must(Shard::Open(InMemory(MakeShard({sample})))));
  };
  EXPECT_THAT(tags(60'000), ElementsAre("KEYX", "STAT", "META"));
  EXPECT_THAT(tags(70'000), ElementsAre("ENTX", "KEYX", "STAT", "META"));
}

Stat StatOf(const std::vector<Sample>& samples) {
  return *Must(Shard::Open(InMemory(MakeShard(samples))))->stat();
}
Sample Keyed(std::string key, std::string name = "a") {
  return {.key = std::move(key), .files = {{.name = std::move(name), .data = Text("x")}}};
}

TEST(TailBuilder, KnowsWhetherKeysAreUniqueAndAscend) {
  const auto flags = [](const std::vector<std::string>& keys) {
    std::vector<Sample> samples;
    for (const std::string& key : keys) samples.push_back(Keyed(key));
    const Stat stat = StatOf(samples);
    return std::pair(stat.keys_unique, stat.keys_ascending);
  };
  EXPECT_EQ(flags({}), std::pair(true, true));
  EXPECT_EQ(flags({"a", "b", "c"}), std::pair(true, true));
  EXPECT_EQ(flags({"a", "c", "b"}), std::pair(true, false));
  EXPECT_EQ(flags({"a", "a"}), std::pair(false, false));
}

TEST(TailBuilder, KnowsWhetherRecordsAreAlike) {
  EXPECT_TRUE(StatOf({Keyed("a"), Keyed("b")}).is_regular);
  EXPECT_FALSE(StatOf({Keyed("a"), Keyed("b", "other")}).is_regular);
  EXPECT_FALSE(StatOf({Keyed("a"), {.key = "b", .tombstone = true}}).is_regular);
  Sample more = Keyed("b");
  more.files.push_back({.name = "more"});
  EXPECT_FALSE(StatOf({Keyed("a"), more}).is_regular);
  EXPECT_FALSE(StatOf({more, Keyed("a")}).is_regular);
}

TEST(TailBuilder, DigestsKeysInTheirOrder) {
  const auto digest = [](const std::vector<Sample>& samples) {
    return StatOf(samples).keys_digest;
  };
  EXPECT_EQ(digest({Keyed("a"), Keyed("b")}), digest({Keyed("a", "x"), Keyed("b", "y")}));
  EXPECT_NE(digest({Keyed("a"), Keyed("b")}), digest({Keyed("b"), Keyed("a")}));
  EXPECT_NE(digest({Keyed("a"), Keyed("b")}), digest({Keyed("ab")}));
}

TEST(TailBuilder, GivesUpAnEntryIndexOfTooManyKinds) {
  std::vector<Sample> samples;
  for (int i = 0; i < 5000; ++i)
    samples.push_back(Keyed(std::to_string(i), std::to_string(i)));
  ShardWriterOptions options;
  options.tail.entry_index = Wanted::kYes;
  const std::string bytes = MakeShard(samples, options);
  EXPECT_THAT(TagsOf(*Must(Shard::Open(InMemory(bytes)))),
              ElementsAre("KEYX", "STAT", "META"));
}

}  // namespace
}  // namespace dolium::shardpack
