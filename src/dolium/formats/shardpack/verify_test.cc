#include "dolium/formats/shardpack/verify.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Finding> Findings(const std::string& bytes, VerifyOptions options = {},
                              VerifySummary* summary = nullptr) {
  std::vector<Finding> findings;
  const auto result = Must(VerifyShard(InMemory(bytes), options,
                                       [&](const Finding& f) { findings.push_back(f); }));
  if (summary != nullptr) *summary = result;
  return findings;
}

TEST(VerifyShard, CountsWhatItLookedAt) {
  const auto samples = RandomSamples(1, 1000);
  const std::string bytes = MakeShard(samples);
  for (const size_t jobs : {1, 3}) {
    VerifySummary summary;
    Progress last;
    EXPECT_THAT(
        Findings(bytes, {.jobs = jobs, .progress = [&](const Progress& p) { last = p; }},
                 &summary),
        IsEmpty());
    size_t entries = 0;
    for (const Sample& sample : samples) entries += sample.files.size();
    EXPECT_EQ(summary.records, 1000U);
    EXPECT_EQ(summary.entries, entries);
    EXPECT_EQ(summary.bytes, bytes.size());
    EXPECT_EQ(summary.errors + summary.warnings, 0U);
    EXPECT_EQ(last.bytes, last.total_bytes);
  }
}

TEST(VerifyShard, NamesRecordEntryAndLocationOfDamage) {
  std::string bytes = MakeShard(
      {{.key = "first", .files = {{.name = "a", .data = Text("good data")}}},
       {.key = "second", .files = {{.name = "b.txt", .data = Text("bad data")}}}});
  const size_t at = bytes.find("bad data");
  bytes[at] = 'B';
  VerifySummary summary;
  const auto findings = Findings(bytes, {}, &summary);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_EQ(findings[0].kind, kind::kEntry);
  EXPECT_EQ(findings[0].object, "memory://test/a.shardpack");
  EXPECT_EQ(findings[0].key, "second");
  EXPECT_EQ(findings[0].range, (ByteRange{at, 8}));
  EXPECT_THAT(findings[0].message,
              HasSubstr("record 1: entry \"b.txt\": content has CRC-32C"));
  EXPECT_EQ(summary.errors, 1U);
  EXPECT_THAT(Findings(bytes, {.contents = false}), IsEmpty());
}

TEST(VerifyShard, WalksAShardWithoutAnIndex) {
  std::string bytes =
      Blocks({{.key = "first", .files = {{.name = "a", .data = Text("good data")}}},
              {.key = "second", .files = {{.name = "b.txt", .data = Text("bad data")}}}});
  EXPECT_THAT(Verdicts(InMemory(bytes)), ElementsAre("error incomplete"));
  bytes[bytes.find("bad data")] = 'B';
  EXPECT_THAT(Verdicts(InMemory(bytes)), ElementsAre("error entry", "error incomplete"));
}

TEST(VerifyShard, CannotVerifyWhatIsNotThere) {
  const Location absent{InMemory("").store, "absent"};
  EXPECT_EQ(VerifyShard(absent, {}, [](const Finding&) {}).error().code,
            ErrorCode::kNotFound);
}

TEST(VerifyShard, StopsOnRequest) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(VerifyShard(InMemory(MakeShard(RandomSamples(1, 10))),
                        {.stop = stop.get_token()}, [](const Finding&) {})
                .error()
                .code,
            ErrorCode::kCancelled);
}

std::vector<Finding> StreamFindings(std::string_view bytes,
                                    VerifySummary* summary = nullptr) {
  std::vector<Finding> findings;
  const auto result = Must(VerifyStream(
      TestInput(bytes), "-", {}, [&](const Finding& f) { findings.push_back(f); }));
  if (summary != nullptr) *summary = result;
  return findings;
}

std::vector<std::string> KindsOf(const std::vector<Finding>& findings) {
  std::vector<std::string> kinds;
  for (const Finding& finding : findings) kinds.push_back(finding.kind);
  return kinds;
}

TEST(VerifyStream, ProvesAStreamCompleteOrNot) {
  const auto samples = RandomSamples(1, 20);
  const std::string bytes = MakeShard(samples);
  VerifySummary summary;
  EXPECT_THAT(StreamFindings(bytes, &summary), IsEmpty());
  EXPECT_EQ(summary.records, 20U);
  EXPECT_EQ(summary.bytes, bytes.size());
  for (const size_t length : {size_t{1000}, bytes.size() - 1, bytes.size() - 64}) {
    EXPECT_THAT(KindsOf(StreamFindings(bytes.substr(0, length))),
                ElementsAre("incomplete"))
        << length;
  }
  EXPECT_THAT(KindsOf(StreamFindings("nothing of the kind, however long it is")),
              ElementsAre("not-shardpack"));
}

TEST(VerifyStream, GoesOnBehindADamagedContent) {
  std::string bytes = MakeShard(
      {{.key = "first", .files = {{.name = "a", .data = Text("bad data")}}},
       {.key = "second", .files = {{.name = "b.txt", .data = Text("good data")}}}});
  const size_t at = bytes.find("bad data");
  bytes[at] = 'B';
  VerifySummary summary;
  const auto findings = StreamFindings(bytes, &summary);
  ASSERT_THAT(KindsOf(findings), ElementsAre("entry"));
  EXPECT_EQ(findings[0].object, "-");
  EXPECT_EQ(findings[0].key, "first");
  EXPECT_EQ(findings[0].range, (ByteRange{at, 8}));
  EXPECT_EQ(summary.records, 2U);
}

TEST(VerifyStream, NamesTheSectionThatIsDamaged) {
  std::string bytes = MakeShard(RandomSamples(1, 3));
  bytes[bytes.find("\"shardpack\"")] = '\'';
  const auto findings = StreamFindings(bytes);
  ASSERT_THAT(KindsOf(findings), ElementsAre("section"));
  EXPECT_THAT(findings[0].message, testing::StartsWith("section META: "));
  ASSERT_TRUE(findings[0].range);
  const auto of_file = Findings(bytes);
  ASSERT_EQ(of_file.size(), 1U);
  EXPECT_EQ(findings[0].range, of_file[0].range);
  EXPECT_EQ(findings[0].message, of_file[0].message);
}

// Whatever the file way finds after one byte was changed, the pipe finds, too.
TEST(VerifyStream, FindsEveryChangedByteThatAFileShows) {
  ShardWriterOptions all;
  all.tail.keys = true;
  all.tail.entry_index = Wanted::kYes;
  const std::string shards[] = {
      MakeShard(
          {{.key = "b", .files = {{.name = "x", .data = Text("one")}}},
           {.key = "a", .files = {{.name = "x", .data = Text("two")}, {.name = "y"}}}},
          all),
      TestFile("good/example.shardpack"), TestFile("good/dictionary.shardpack")};
  for (const std::string& good : shards) {
    EXPECT_THAT(StreamFindings(good), IsEmpty());
    // Of larger ones all of the tail, and some of the rest.
    for (size_t at = 0; at < good.size();
         at += good.size() - at > 2000 && good.size() > 4000 ? 37 : 1) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
      const bool file_shows_it = !Findings(bytes, {.jobs = 1}).empty();
      EXPECT_EQ(StreamFindings(bytes).empty(), !file_shows_it) << "byte " << at;
    }
  }
}

TEST(VerifyStream, ComparesSectionsWithRecords) {
  // Sound by their own checksums, but those of another shard with as many records.
  const auto shard = [](std::string_view key) {
    ShardWriterOptions options;
    options.tail.keys = true;
    options.tail.entry_index = Wanted::kYes;
    return MakeShard({{.key = std::string(key), .files = {{.name = "x"}}}}, options);
  };
  const std::string one = shard("one");
  const std::string two = shard("two");
  ASSERT_EQ(one.size(), two.size());
  const size_t tail = Must(Shard::Open(InMemory(one)))->footer().index_offset;
  EXPECT_THAT(KindsOf(StreamFindings(one.substr(0, tail) + two.substr(tail))),
              ElementsAre("section", "section", "section"));
}

}  // namespace
}  // namespace dolium::shardpack
