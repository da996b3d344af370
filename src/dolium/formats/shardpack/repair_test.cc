#include "dolium/formats/shardpack/repair.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/bytes/file_store.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct Repaired {
  RepairReport report;
  std::vector<std::string> keys;
  std::vector<Finding> findings;
  std::string bytes;
};

Repaired Repair(const std::string& bytes) {
  Repaired repaired;
  const Location target{std::make_shared<MemoryStore>("target"), "b.shardpack"};
  repaired.report = Must(RepairShard(InMemory(bytes), target, {}, [&](const Finding& f) {
    repaired.findings.push_back(f);
  }));
  repaired.bytes = BytesAt(target);
  // Blocks are copied as they are, what lies between their parts too.
  EXPECT_THAT(Verdicts(InMemory(repaired.bytes)), Each("warning padding"));
  for (const Sample& sample : ReadSamples(target)) repaired.keys.push_back(sample.key);
  return repaired;
}

std::vector<Sample> Letters(std::string_view letters) {
  std::vector<Sample> samples;
  for (const char letter : letters) {
    samples.push_back({.key = std::string(1, letter),
                       .files = {{.name = "a", .data = Text(std::string(50, letter))},
                                 {.name = "b", .data = Text("more")}}});
  }
  return samples;
}

std::vector<std::string> Keys(std::string_view letters) {
  std::vector<std::string> keys;
  for (const char letter : letters) keys.emplace_back(1, letter);
  return keys;
}

TEST(RepairShard, FinishesWhatWasCutAnywhere) {
  const std::string bytes = MakeShard(Letters("abcd"));
  const auto shard = Must(Shard::Open(InMemory(bytes)));
  for (size_t size = shard->range(0).end(); size < bytes.size(); ++size) {
    SCOPED_TRACE(size);
    uint64_t whole = 0;
    while (whole < 4 && shard->range(whole).end() <= size) ++whole;
    const Repaired repaired = Repair(bytes.substr(0, size));
    EXPECT_EQ(repaired.keys, Keys(std::string_view("abcd").substr(0, whole)));
    EXPECT_FALSE(repaired.report.index_was_good);
    EXPECT_EQ(repaired.report.records_lost, 0U);
    // Of fewer bytes nobody can say that they begin a record.
    const uint64_t rest = size - shard->range(whole - 1).end();
    EXPECT_EQ(repaired.report.bytes_skipped, whole < 4 && rest >= 16 ? rest : 0);
    ASSERT_FALSE(repaired.findings.empty());
    EXPECT_EQ(repaired.findings[0].kind, kind::kIncomplete);
  }
}

TEST(RepairShard, HasNothingToWorkWithBeforeTheFirstRecordIsWhole) {
  const std::string bytes = MakeShard(Letters("ab"));
  for (const size_t size : {size_t{0}, size_t{10}, size_t{40}, size_t{100}}) {
    const Location target{std::make_shared<MemoryStore>("target"), "b.shardpack"};
    const auto report =
        RepairShard(InMemory(bytes.substr(0, size)), target, {}, [](const Finding&) {});
    EXPECT_EQ(KindOf(report), kind::kNotShardPack) << size;
    EXPECT_EQ(BytesAt(target), "");
  }
}

TEST(RepairShard, LosesOneRecordWhereTheIndexIsGood) {
  const std::string good = MakeShard(Letters("abcd"));
  const auto shard = Must(Shard::Open(InMemory(good)));
  for (size_t at = shard->offset(1); at < shard->offset(2); ++at) {
    SCOPED_TRACE(at - shard->offset(1));
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x04);
    const Repaired repaired = Repair(bytes);
    EXPECT_TRUE(repaired.report.index_was_good);
    // Padding does not matter to readers.
    if (repaired.keys.size() == 4) {
      EXPECT_THAT(Verdicts(InMemory(bytes)), ElementsAre("warning padding"));
      continue;
    }
    EXPECT_EQ(repaired.keys, Keys("acd"));
    EXPECT_EQ(repaired.report.records_lost, 1U);
    EXPECT_EQ(repaired.report.bytes_skipped, shard->range(1).length);
    ASSERT_EQ(repaired.findings.size(), 1U);
    EXPECT_EQ(repaired.findings[0].range, shard->range(1));
  }
}

TEST(RepairShard, FindsTheRecordsBehindDamageWithoutAnIndex) {
  const std::string good = Blocks(Letters("abcd"));
  const size_t size = good.size() / 4;
  for (size_t damaged = 0; damaged < 4; ++damaged) {
    SCOPED_TRACE(damaged);
    std::string bytes = good;
    bytes[damaged * size + 9] = 'X';  // of the magic
    const Repaired repaired = Repair(bytes);
    std::string want = "abcd";
    want.erase(damaged, 1);
    EXPECT_EQ(repaired.keys, Keys(want));
    EXPECT_EQ(repaired.report.bytes_skipped, size);
    ASSERT_EQ(repaired.findings.size(), 2U);
    EXPECT_EQ(repaired.findings[1].range, (ByteRange{damaged * size, size}));
  }
}

TEST(RepairShard, LeavesARecordThatIsCutOffBehindDamage) {
  std::string bytes = Blocks(Letters("abc"));
  const size_t size = bytes.size() / 3;
  bytes[size + 9] = 'X';
  bytes.resize(bytes.size() - 8);
  const Repaired repaired = Repair(bytes);
  EXPECT_EQ(repaired.keys, Keys("a"));
  EXPECT_EQ(repaired.report.bytes_skipped, 2 * size - 8);
}

TEST(RepairShard, FindsThemWithADamagedIndexAndWithADamagedTail) {
  const std::string good = MakeShard(Letters("abcde"));
  const auto shard = Must(Shard::Open(InMemory(good)));
  std::string bytes = good;
  bytes[shard->offset(2) + 40] ^= 1;
  for (const size_t also : {static_cast<size_t>(shard->footer().index_offset + 17),
                            bytes.size() - 20, bytes.size() - 1}) {
    SCOPED_TRACE(also);
    std::string twice = bytes;
    twice[also] ^= 1;
    EXPECT_EQ(Repair(twice).keys, Keys("abde"));
  }
}

TEST(RepairShard, RebuildsAnIndexThatLies) {
  const Repaired repaired = Repair(TestFile("bad/index_not_by_size.shardpack"));
  EXPECT_THAT(repaired.keys, ElementsAre("images17/image194", "images17/image195"));
  EXPECT_FALSE(repaired.report.index_was_good);
}

// A shard in whose second record lies another one.
std::vector<Sample> WithOneInside() {
  std::vector<Sample> samples = Letters("abc");
  samples[1].files[0].data = Text(MakeShard(Letters("xyz")));
  return samples;
}

TEST(RepairShard, DoesNotTakeAShardInsideForItsOwnRecords) {
  const std::string blocks = Blocks(WithOneInside());
  const std::string whole = MakeShard(WithOneInside());
  const auto shard = Must(Shard::Open(InMemory(whole)));
  // Cut everywhere.
  for (size_t size = shard->offset(1); size < whole.size(); size += 4) {
    SCOPED_TRACE(size);
    uint64_t count = 1;
    while (count < 3 && shard->range(count).end() <= size) ++count;
    EXPECT_EQ(Repair(whole.substr(0, size)).keys,
              Keys(std::string_view("abc").substr(0, count)));
  }
  // The header of the record with it is damaged, and there is no index.
  for (const size_t at : {0, 9, 32}) {
    std::string bytes = blocks;
    bytes[shard->offset(1) + at] ^= 1;
    EXPECT_EQ(Repair(bytes).keys, Keys("ac"));
    bytes = whole;
    bytes[shard->offset(1) + at] ^= 1;
    EXPECT_EQ(Repair(bytes).keys, Keys("ac"));
    bytes[bytes.size() - 1] ^= 1;
    EXPECT_EQ(Repair(bytes).keys, Keys("ac"));
  }
  // The header before it.
  std::string bytes = blocks;
  bytes[9] ^= 1;
  EXPECT_EQ(Repair(bytes).keys, Keys("bc"));
}

std::string Numbered(std::string_view prefix, size_t count, size_t bytes = 3000) {
  std::vector<Sample> samples;
  for (size_t i = 0; i < count; ++i) {
    samples.push_back(
        {.key = fmt::format("{}{:02}", prefix, i),
         .files = {{.name = "a",
                    .data = Text(std::string(bytes, static_cast<char>('a' + i % 26)))}}});
  }
  return MakeShard(samples);
}

TEST(RepairShard, KeepsTheRecordsOfAllShardsThatWereJoined) {
  const std::string first = Numbered("a", 40);
  const std::string second = Numbered("b", 40);
  const std::string third = Numbered("c", 7);
  const Repaired two = Repair(first + second);
  EXPECT_EQ(two.keys.size(), 80U);
  EXPECT_EQ(two.report.records_lost, 0U);
  EXPECT_EQ(two.report.bytes_skipped, 0U);
  ASSERT_EQ(two.findings.size(), 1U);
  EXPECT_EQ(two.findings[0].kind, kind::kTrailingData);

  const Repaired three = Repair(first + second + third);
  EXPECT_EQ(three.keys.size(), 87U);
  EXPECT_EQ(three.report.bytes_skipped, 0U);
  EXPECT_EQ(Repair(MakeShard({}) + first + MakeShard({}) + third).keys.size(), 47U);
  EXPECT_EQ(Repair(MakeShard({}) + first).report.bytes_skipped, 0U);

  // The last one is cut off, anywhere.
  const auto shard = Must(Shard::Open(InMemory(third)));
  for (size_t size = 16; size < third.size(); size += 97) {
    SCOPED_TRACE(size);
    uint64_t whole = 0;
    while (whole < 7 && shard->range(whole).end() <= size) ++whole;
    const Repaired cut = Repair(first + second + third.substr(0, size));
    EXPECT_EQ(cut.keys.size(), 80 + whole);
    const uint64_t rest = size - (whole == 0 ? 0 : shard->range(whole - 1).end());
    EXPECT_EQ(cut.report.bytes_skipped, whole < 7 && rest >= 16 ? rest : 0);
  }
}

TEST(RepairShard, KeepsThemWhereOneOfThoseThatWereJoinedIsDamaged) {
  const std::string first = Numbered("a", 40);
  const std::string second = Numbered("b", 40);
  const auto shard = Must(Shard::Open(InMemory(first)));
  std::string bytes = first + second;
  bytes[shard->offset(7) + 9] ^= 1;                  // a header of the first
  bytes[first.size() + shard->offset(30) + 9] ^= 1;  // and of the second
  const Repaired both = Repair(bytes);
  EXPECT_EQ(both.keys.size(), 78U);
  EXPECT_EQ(both.report.records_lost, 2U);
  EXPECT_EQ(both.report.bytes_skipped, shard->range(7).length + shard->range(30).length);

  // The tail between them is damaged: what is no record counts as lost.
  bytes = first + second;
  bytes[shard->footer().index_offset + 17] ^= 1;
  const Repaired tail = Repair(bytes);
  EXPECT_EQ(tail.keys.size(), 80U);
  EXPECT_EQ(tail.report.records_lost, 0U);
  EXPECT_EQ(tail.report.bytes_skipped, first.size() - shard->footer().index_offset);
}

TEST(RepairShard, LosesOnlyTheRecordThatBytesAreMissingOf) {
  const std::string good = Numbered("a", 40);
  const auto shard = Must(Shard::Open(InMemory(good)));
  const auto at = static_cast<size_t>(shard->offset(7) + 1000);
  const auto no_tail = static_cast<size_t>(shard->footer().index_offset);
  for (const size_t missing : {1, 8, 999, 1000}) {
    for (const bool has_tail : {true, false}) {
      SCOPED_TRACE(fmt::format("{} {}", missing, has_tail));
      std::string bytes = has_tail ? good : good.substr(0, no_tail);
      bytes.erase(at, missing);
      const Repaired repaired = Repair(bytes);
      EXPECT_EQ(repaired.keys.size(), 39U);
      EXPECT_EQ(repaired.report.records_lost, 1U);
      EXPECT_EQ(repaired.report.bytes_skipped, shard->range(7).length - missing);
    }
  }
  // More than one record.
  std::string bytes = good;
  bytes.erase(at, 3 * static_cast<size_t>(shard->range(7).length));
  const Repaired repaired = Repair(bytes);
  EXPECT_EQ(repaired.keys.size(), 36U);
  EXPECT_EQ(repaired.report.records_lost, 4U);
  // Bytes that were added.
  bytes = good;
  bytes.insert(at, 1001, 'x');
  EXPECT_EQ(Repair(bytes).keys.size(), 39U);
  bytes = std::string(100, 'x') + good;
  EXPECT_EQ(Repair(bytes).keys.size(), 40U);
  EXPECT_EQ(Repair(bytes).report.bytes_skipped, 100U);
  EXPECT_EQ(Repair(good + std::string(100, 'x')).report.bytes_skipped, 100U);
}

TEST(RepairShard, FollowsAnIndexOfWhichBytesAreMissingBeforePastOtherDamage) {
  const std::string good = Numbered("a", 40);
  const auto shard = Must(Shard::Open(InMemory(good)));
  std::string bytes = good;
  for (const uint64_t number : {3, 20, 30}) bytes[shard->offset(number) + 9] ^= 1;
  bytes.erase(static_cast<size_t>(shard->offset(10)) + 1000, 500);
  const Repaired repaired = Repair(bytes);
  EXPECT_EQ(repaired.keys.size(), 36U);
  EXPECT_EQ(repaired.report.records_lost, 4U);
}

TEST(RepairShard, TakesNoShardInsideWhereBytesAreMissing) {
  // Its last entry is a ShardPack, which the next record follows at once.
  std::vector<Sample> samples = Letters("abc");
  std::swap(samples[1].files[0].name, samples[1].files[1].name);
  samples[1].files.pop_back();
  samples[1].files[0].data = Text(MakeShard(Letters("xyz")));
  const std::string good = MakeShard(samples);
  const auto shard = Must(Shard::Open(InMemory(good)));
  for (const size_t missing : {8, 40, 100}) {
    SCOPED_TRACE(missing);
    std::string bytes = good;
    bytes.erase(static_cast<size_t>(shard->offset(1)) + 20, missing);
    EXPECT_EQ(Repair(bytes).keys, Keys("ac"));
    EXPECT_EQ(Repair(bytes + good).keys, Keys("acabc"));
  }
}

TEST(RepairShard, KeepsWhatTheTailSaid) {
  ShardWriterOptions options;
  options.user = {{"creator", "MyName"}};
  options.tail.keys = true;
  options.tail.entry_index = Wanted::kYes;
  std::string bytes = MakeShard(Letters("abc"), options);
  bytes[10] ^= 1;
  const auto shard = Must(Shard::Open(InMemory(Repair(bytes).bytes)));
  EXPECT_EQ(Must(shard->metadata())["user"]["creator"], "MyName");
  EXPECT_TRUE(Must(shard->ReadSection("KEYS")));
  EXPECT_TRUE(Must(shard->ReadSection("ENTX")));
}

TEST(RepairShard, ReportsADictionaryThatIsLost) {
  const std::string good = TestFile("good/dictionary.shardpack");
  EXPECT_THAT(Repair(good).keys, ElementsAre("sample0", "sample1", "sample2"));
  EXPECT_THAT(Repair(good.substr(0, good.size() - 100)).findings.size(), 1U);
  std::string bytes = good;
  bytes[9] ^= 1;
  const Location target{std::make_shared<MemoryStore>("target"), "b.shardpack"};
  std::vector<std::string> messages;
  Must(RepairShard(InMemory(bytes), target, {},
                   [&](const Finding& f) { messages.push_back(f.message); }));
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_THAT(messages[1], HasSubstr("zstd dictionary 305441741 is lost"));
}

TEST(RepairShard, MayReplaceItsSource) {
  const TemporaryFolder folder;
  const auto store = Must(FileStore::Open(folder.path()));
  const Location location{store, "a.shardpack"};
  const std::string bytes = Blocks(Letters("abc"));
  Must(store->Put("a.shardpack", AsBytes(bytes), Precondition::None()));
  EXPECT_EQ(RepairShard(location, location, {}, [](const Finding&) {}).error().code,
            ErrorCode::kExists);
  Must(RepairShard(location, location, {.force = true}, [](const Finding&) {}));
  EXPECT_EQ(ReadSamples(location).size(), 3U);
}

TEST(RepairShard, LeavesAloneWhatItDoesNotUnderstand) {
  for (const auto name : {"major_version", "feature_required", "section_required"}) {
    const Location target{std::make_shared<MemoryStore>("target"), "b.shardpack"};
    const auto report =
        RepairShard(InMemory(TestFile(fmt::format("bad/{}.shardpack", name))), target, {},
                    [](const Finding&) {});
    EXPECT_EQ(report.error().code, ErrorCode::kUnsupported) << name;
  }
}

TEST(RepairShard, IsNotSlowedDownByBytesThatLookLikeHeaders) {
  // A magic at every 16 bytes, each with metadata to the end of the file.
  constexpr size_t kSize = size_t{4} << 20;
  ByteVector bytes(kSize);
  for (size_t at = 0; at + 32 <= kSize; at += 16) {
    StoreLE(bytes.data() + at, (kSize - at) / 8 * 8);
    std::memcpy(bytes.data() + at + 8, "SPKR\1\3\0\1", 8);
  }
  const Location target{std::make_shared<MemoryStore>("target"), "b.shardpack"};
  const auto report =
      RepairShard(InMemory(AsText(bytes)), target, {}, [](const Finding&) {});
  EXPECT_EQ(KindOf(report), kind::kNotShardPack);
}

}  // namespace
}  // namespace dolium::shardpack
