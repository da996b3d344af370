#include "dolium/ops/job/work_list.h"

#include <map>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/bytes/memory_store.h"
#include "dolium/codec/zstd.h"
#include "dolium/container/testing/must.h"

namespace dolium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kManyBytes = uint64_t{64} << 20;

std::string ToText(const Extent& extent) {
  std::string sizes;
  for (const CodecStep& step : extent.codecs) {
    sizes += fmt::format("({}@{})", step.decoded_size, step.slice_offset);
  }
  return fmt::format("{}@{}{}{}{}{}", extent.object->name,
                     extent.object->generation.token, ToString(extent.range),
                     ToString(extent.codecs), sizes,
                     extent.crc32c ? fmt::format("#{:x}", *extent.crc32c) : "");
}

// All that an entry says, for comparisons.
std::string ToText(const Entry& entry) {
  std::string text =
      fmt::format("{} size={} preceding={}", entry.key,
                  entry.size ? std::to_string(*entry.size) : "?", entry.preceding);
  if (entry.preceding_from) text += " from " + ToText(*entry.preceding_from);
  for (const Extent& extent : entry.extents) text += " " + ToText(extent);
  return text;
}

std::shared_ptr<const ObjectVersion> Object(std::string name, std::string generation) {
  return std::make_shared<const ObjectVersion>(
      ObjectVersion{std::move(name), {std::move(generation)}});
}

Entry Simple(std::string key, std::shared_ptr<const ObjectVersion> object,
             uint64_t offset, uint64_t length) {
  Entry entry;
  entry.key = std::move(key);
  entry.extents.push_back({std::move(object), {offset, length}, {}});
  return entry;
}

// Appends what a share says.
Result<void> ReadShare(const WorkList& list, const PartShare& share,
                       std::vector<std::string>& texts) {
  ShareReader reader(list, share);
  std::vector<Entry> entries;
  do {
    DOLIUM_TRY_VOID(reader.Read(7, entries));
    for (const Entry& entry : entries) texts.push_back(ToText(entry));
  } while (!entries.empty());
  return {};
}

class WorkListTest : public testing::Test {
 protected:
  // The entries of one part, from all lists.
  std::vector<std::string> ReadPart(uint64_t lists, uint64_t part) {
    std::vector<std::string> texts;
    for (uint64_t i = 0; i < lists; ++i) {
      const WorkList list = Must(WorkList::Open(WorkList::ObjectOf(folder_, i)));
      const auto share = Must(list.Find(part));
      if (share) Must(ReadShare(list, *share, texts));
    }
    return texts;
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  Location folder_{store_, "plan"};
};

TEST_F(WorkListTest, GivesBackAllThatAnEntrySays) {
  const auto a = Object("set/00.shard", "g1");
  const auto b = Object("set/01.shard", "");
  Entry full = Simple("key with spaces and \n", a, ~uint64_t{0} - 10, 10);
  full.extents.front().codecs = {{CodecId::kGzip}};
  full.extents.push_back({b, {0, 0}, {{CodecId::kGzip}, {CodecId::kGzip}}, 0});
  full.extents.push_back({b, {5, 5}, {{CodecId::kLz4Block, 70'000}}, ~uint32_t{0}});
  full.extents.push_back({b, {5, 5}, {{CodecId::kZstd, ~uint64_t{0}}}});
  CodecStep slice{CodecId::kSlice, 300};
  slice.slice_offset = 70'000;
  full.extents.push_back({b, {5, 5}, {{CodecId::kLz4Frame, 80'000}, slice}});
  full.size = ~uint64_t{0};
  full.preceding = 300;
  Entry apart = Simple("", b, 1, 2);
  apart.preceding_from = Extent{a, {7, 8}, {}};
  apart.size = 0;
  Entry bare;
  bare.key = "no bytes at all";

  WorkListWriter writer(folder_, kManyBytes);
  Must(writer.Add(~uint64_t{0}, full));
  Must(writer.Add(~uint64_t{0}, apart));
  Must(writer.Add(0, bare));
  const auto summary = Must(writer.Finish());
  EXPECT_EQ(summary.lists, 1u);
  EXPECT_EQ(summary.entries, 3u);
  EXPECT_EQ(summary.bytes, 310u + 15u + 10u);
  EXPECT_THAT(ReadPart(1, ~uint64_t{0}), ElementsAre(ToText(full), ToText(apart)));
  EXPECT_THAT(ReadPart(1, 0), ElementsAre(ToText(bare)));
  EXPECT_THAT(ReadPart(1, 1), ElementsAre());
}

TEST_F(WorkListTest, CannotCarryDictionaries) {
  std::vector<Bytes> samples;
  for (int i = 0; i < 2000; ++i) {
    samples.push_back(
        Bytes::Copy(AsBytes(fmt::format("sample {} of many, {}", i, i * i))));
  }
  const auto trained = ZstdDictionary::Train(samples, 1024);
  ASSERT_TRUE(trained);
  Entry entry = Simple("a/b", Object("a.shardpack", "g"), 1, 2);
  entry.extents.front().codecs = {
      {CodecId::kZstd, 10, Must(ZstdDictionary::Load(Bytes::FromVector(*trained)))}};
  WorkListWriter writer(folder_, kManyBytes);
  const auto added = writer.Add(0, entry);
  EXPECT_EQ(added.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(added.error().message,
              HasSubstr("a dictionary, which its shard alone has"));
  EXPECT_EQ(added.error().hint, Hint::kExportSamples);
}

TEST_F(WorkListTest, KeepsPartsApartInBoundedMemory) {
  constexpr int kEntries = 10000;
  std::mt19937_64 random(1);
  std::map<uint64_t, std::vector<std::string>> expected;
  WorkListWriter writer(folder_, /*memory=*/uint64_t{128} << 10);
  auto object = Object("a folder with a long name/object-0", "generation 0");
  for (int i = 0; i < kEntries; ++i) {
    if (i % 100 == 0) {
      object = Object(fmt::format("a folder with a long name/object-{}", i),
                      fmt::format("generation {}", i));
    }
    const uint64_t part = random() % 300 * 1'000'000'007;
    const Entry entry =
        Simple(std::to_string(i), object, random() >> 20, random() % 5000);
    expected[part].push_back(ToText(entry));
    Must(writer.Add(part, entry));
  }
  const auto summary = Must(writer.Finish());
  EXPECT_GT(summary.lists, 5u);
  EXPECT_LT(summary.lists, 25u);
  ASSERT_EQ(expected.size(), 300u);
  for (const auto& [part, entries] : expected) {
    ASSERT_EQ(ReadPart(summary.lists, part), entries) << part;
  }
  EXPECT_THAT(ReadPart(summary.lists, 5), ElementsAre());
}

TEST_F(WorkListTest, FindsEveryPartInALargeTableWithFewReads) {
  constexpr uint64_t kParts = 3000;
  const auto object = Object("o", "g");
  {
    WorkListWriter writer(folder_, kManyBytes);
    for (uint64_t i = 0; i < kParts; ++i)
      Must(writer.Add(3 * i + 1, Simple("k", object, i, 1)));
    EXPECT_EQ(Must(writer.Finish()).lists, 1u);
  }
  WorkList list = Must(WorkList::Open(WorkList::ObjectOf(folder_, 0)));
  EXPECT_EQ(list.parts(), kParts);
  EXPECT_EQ(list.entries(), kParts);
  std::vector<PartShare> shares;
  Must(list.ForEachShare([&](const PartShare& share) { shares.push_back(share); }));
  ASSERT_EQ(shares.size(), kParts);

  for (const bool kept : {false, true}) {
    if (kept) Must(list.KeepTable());
    const uint64_t reads = store_->reads();
    for (uint64_t i = 0; i < kParts; i += 37) {
      EXPECT_EQ(Must(list.Find(3 * i + 1)), shares[i]);
      EXPECT_EQ(Must(list.Find(3 * i)), std::nullopt);
    }
    EXPECT_EQ(Must(list.Find(3 * kParts + 1)), std::nullopt);
    const uint64_t finds = 2 * (kParts / 37 + 1) + 1;
    EXPECT_LE(store_->reads() - reads, kept ? 0 : finds * 5);
  }
}

TEST_F(WorkListTest, RemembersObjectsForAWhileOnly) {
  // Each comes again after a little less, as many, and a little more than are remembered.
  for (const uint64_t objects : {kObjectWindow - 1, kObjectWindow, kObjectWindow + 1}) {
    WorkListWriter writer(folder_, kManyBytes);
    std::vector<std::shared_ptr<const ObjectVersion>> made;
    std::vector<std::string> expected;
    for (uint64_t i = 0; i < 3 * objects; ++i) {
      if (i < objects)
        made.push_back(Object(fmt::format("object {}", i), fmt::format("{:x}", i)));
      const Entry entry = Simple(std::to_string(i), made[i % objects], i, 1);
      expected.push_back(ToText(entry));
      Must(writer.Add(1, entry));
    }
    ASSERT_EQ(Must(writer.Finish()).lists, 1u);
    EXPECT_EQ(ReadPart(1, 1), expected);
  }
}

TEST_F(WorkListTest, SpellsOneObjectThatScansMadeTwiceOnce) {
  WorkListWriter writer(folder_, kManyBytes);
  for (uint64_t i = 0; i < 3; ++i) {
    Must(writer.Add(1, Simple("k", Object("a name of some length", "token"), i, 1)));
  }
  Must(writer.Finish());
  const auto whole = Must(store_->ReadWhole("plan/work-0", 1000));
  const std::string text(AsText(whole.bytes));
  EXPECT_EQ(text.find("a name of some length"), text.rfind("a name of some length"));
  EXPECT_THAT(ReadPart(1, 1), testing::SizeIs(3));
}

TEST_F(WorkListTest, ReadsRecordsOfAnySize) {
  WorkListWriter writer(folder_, kManyBytes);
  const auto object = Object("o", "g");
  std::vector<std::string> expected;
  for (const size_t length : {0, 100, 300'000, 1, 1'000'000, 262'100, 262'144, 5}) {
    const Entry entry = Simple(std::string(length, 'k'), object, length, 1);
    expected.push_back(ToText(entry));
    Must(writer.Add(1, entry));
  }
  Must(writer.Finish());
  EXPECT_EQ(ReadPart(1, 1), expected);
}

TEST_F(WorkListTest, TakesEntriesFromManyThreads) {
  WorkListWriter writer(folder_, /*memory=*/uint64_t{64} << 10);
  {
    std::vector<std::jthread> threads;
    for (uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const auto object = Object(fmt::format("object {}", t), "g");
        for (uint64_t i = 0; i < 1000; ++i) {
          Must(writer.Add(i % 10, Simple(fmt::format("{}", t * 1000 + i), object, i, 1)));
        }
      });
    }
  }
  const auto summary = Must(writer.Finish());
  EXPECT_EQ(summary.entries, 4000u);
  EXPECT_EQ(summary.bytes, 4000u);
  std::vector<std::string> all;
  for (uint64_t part = 0; part < 10; ++part) {
    const auto entries = ReadPart(summary.lists, part);
    EXPECT_EQ(entries.size(), 400u);
    all.insert(all.end(), entries.begin(), entries.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
}

TEST_F(WorkListTest, AnEmptyPlanHasNoLists) {
  WorkListWriter writer(folder_, kManyBytes);
  EXPECT_EQ(Must(writer.Finish()).lists, 0u);
  EXPECT_FALSE(Must(store_->Stat("plan/work-0")));
}

// A list of two parts, to be damaged.
class DamagedWorkListTest : public WorkListTest {
 protected:
  void SetUp() override {
    const auto object = Object("set/00.shard", "g1");
    WorkListWriter writer(folder_, kManyBytes);
    for (uint64_t i = 0; i < 6; ++i) {
      Must(writer.Add(i / 3, Simple(std::to_string(i), object, i * 10, 10)));
    }
    Must(writer.Finish());
    const auto whole = Must(store_->ReadWhole("plan/work-0", 1 << 20));
    bytes_.assign(whole.bytes.view().begin(), whole.bytes.view().end());
  }

  // Everything that can be read of `bytes_`; the first error, or "ok".
  std::string Read() {
    Must(store_->Put("plan/work-0", bytes_, Precondition::None()));
    const auto list = WorkList::Open(WorkList::ObjectOf(folder_, 0));
    if (!list) return list.error().message;
    std::vector<PartShare> shares;
    const auto visited =
        list->ForEachShare([&](const PartShare& share) { shares.push_back(share); });
    if (!visited) return visited.error().message;
    std::vector<std::string> texts;
    for (const PartShare& share : shares) {
      const auto read = ReadShare(*list, share, texts);
      if (!read) return read.error().message;
    }
    return "ok";
  }

  // Places, from the end: the trailer's numbers and those of the last row.
  void SetTrailer(size_t field, uint64_t value) {
    StoreLE(bytes_.data() + bytes_.size() - 64 + 8 * field, value);
  }
  void SetRow(size_t row, size_t field, uint64_t value) {
    StoreLE(bytes_.data() + bytes_.size() - 64 - 40 * (2 - row) + 8 * field, value);
  }

  ByteVector bytes_;
};

TEST_F(DamagedWorkListTest, IsReadableBefore) { EXPECT_EQ(Read(), "ok"); }

TEST_F(DamagedWorkListTest, RejectsATrailerThatIsNoTrailer) {
  SetTrailer(0, 0);
  EXPECT_EQ(Read(), "memory://plan/work-0: not a work list");
}

TEST_F(DamagedWorkListTest, RejectsAnotherVersion) {
  SetTrailer(1, 1);
  EXPECT_THAT(Read(), HasSubstr("a work list of version 1, not 3"));
}

TEST_F(DamagedWorkListTest, RejectsSizesThatDoNotAddUp) {
  SetTrailer(3, uint64_t{1} << 62);
  EXPECT_THAT(Read(), HasSubstr("4611686018427387904 rows are not"));
}

TEST_F(DamagedWorkListTest, RejectsATruncatedList) {
  bytes_.erase(bytes_.begin(), bytes_.begin() + 1);
  EXPECT_THAT(Read(), HasSubstr("rows are not"));
  bytes_.resize(63);
  EXPECT_EQ(Read(), "memory://plan/work-0: 63 bytes are too few for a work list");
}

TEST_F(DamagedWorkListTest, RejectsASharePastTheRecords) {
  SetRow(1, 1, ~uint64_t{0} - 1);
  EXPECT_THAT(Read(), HasSubstr("row 1 (part 1): "));
  EXPECT_THAT(Read(), HasSubstr("end past the records"));
}

TEST_F(DamagedWorkListTest, RejectsMoreEntriesThanFit) {
  SetRow(0, 3, uint64_t{1} << 40);
  EXPECT_THAT(Read(), HasSubstr("cannot hold 1099511627776 entries"));
}

TEST_F(DamagedWorkListTest, RejectsPartsOutOfOrder) {
  SetRow(0, 0, 1);
  EXPECT_THAT(Read(), HasSubstr("row 1 is of part 1, behind part 1"));
}

TEST_F(DamagedWorkListTest, RejectsAShareWithBytesLeftOver) {
  SetRow(0, 3, 2);
  EXPECT_THAT(Read(), HasSubstr("are left over after 2 entries"));
}

TEST_F(DamagedWorkListTest, RejectsARecordThatEndsPastItsShare) {
  bytes_[0] = std::byte{0x7f};
  EXPECT_THAT(Read(), HasSubstr("a record of 127 bytes at 1, "));
}

TEST_F(DamagedWorkListTest, RejectsARecordWithBytesLeftOver) {
  bytes_[0] = static_cast<std::byte>(static_cast<int>(bytes_[0]) + 1);
  EXPECT_THAT(Read(), HasSubstr("1 bytes are left over of the record before "));
}

TEST_F(DamagedWorkListTest, SurvivesEveryFlippedBit) {
  const ByteVector good = bytes_;
  size_t rejected = 0;
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    bytes_ = good;
    bytes_[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    if (Read() != "ok") ++rejected;
  }
  EXPECT_GT(rejected, good.size());
}

TEST_F(DamagedWorkListTest, IsNotReadAcrossAReplacement) {
  const WorkList list = Must(WorkList::Open(WorkList::ObjectOf(folder_, 0)));
  Must(store_->Put("plan/work-0", bytes_, Precondition::None()));
  const auto share = list.Find(0);
  ASSERT_FALSE(share);
  EXPECT_EQ(share.error().code, ErrorCode::kConflict);
}

TEST(SaturatingAdd, StopsAtTheLargestNumber) {
  EXPECT_EQ(SaturatingAdd(2, 3), 5u);
  EXPECT_EQ(SaturatingAdd(~uint64_t{0}, 1), ~uint64_t{0});
}

}  // namespace
}  // namespace dolium
