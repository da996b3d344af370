#include "dolium/formats/shardpack/verify.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/kinds.h"
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

}  // namespace
}  // namespace dolium::shardpack
