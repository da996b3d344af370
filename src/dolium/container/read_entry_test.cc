#include "dolium/container/read_entry.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/crc32c.h"
#include "dolium/bytes/memory_store.h"
#include "dolium/codec/gzip.h"
#include "dolium/container/testing/must.h"

namespace dolium {
namespace {

class ReadEntryTest : public testing::Test {
 protected:
  // An object and the version that entries refer to.
  std::shared_ptr<const ObjectVersion> Put(const std::string& name, BytesView bytes) {
    return std::make_shared<const ObjectVersion>(
        ObjectVersion{name, Must(store_.Put(name, bytes, Precondition::None()))});
  }
  std::shared_ptr<const ObjectVersion> Put(const std::string& name,
                                           std::string_view text) {
    return Put(name, AsBytes(text));
  }

  static Entry At(std::string key, std::shared_ptr<const ObjectVersion> object,
                  ByteRange range, uint64_t preceding = 0, CodecChain codecs = {}) {
    Entry entry;
    entry.key = std::move(key);
    entry.extents.push_back({std::move(object), range, std::move(codecs)});
    entry.preceding = preceding;
    return entry;
  }

  MemoryStore store_{"m"};
};

const CodecChain kGzip{{CodecId::kGzip}};

TEST_F(ReadEntryTest, ReadsTheValueAndWhatPrecedesIt) {
  const auto object = Put("o", "0123456789");
  const EntryData data = Must(ReadEntry(store_, At("k", object, {5, 3}, 2)));
  EXPECT_EQ(AsText(data.value), "567");
  EXPECT_EQ(AsText(data.preceding), "34");
  EXPECT_EQ(store_.reads(), 1U);
  EXPECT_EQ(store_.slices(), 1U);
}

TEST_F(ReadEntryTest, ReadsWhatPrecedesFromAnotherObject) {
  Entry entry = At("k", Put("o", "value"), {0, 5});
  entry.preceding_from = Extent{Put("p", "before"), {0, 6}, {}};
  const EntryData data = Must(ReadEntry(store_, entry));
  EXPECT_EQ(AsText(data.value), "value");
  EXPECT_EQ(AsText(data.preceding), "before");
}

TEST_F(ReadEntryTest, TakesWhatIsKnown) {
  const std::string together = "one two three";
  const ByteVector stored = GzipEncode(AsBytes(together));
  CodecStep slice{CodecId::kSlice, 3};
  slice.slice_offset = 4;
  Entry entry =
      At("k", Put("o", stored), {0, stored.size()}, 0, {{CodecId::kGzip}, slice});
  EXPECT_EQ(AsText(Must(ReadEntry(store_, entry)).value), "two");
  EXPECT_EQ(store_.reads(), 1U);
  // Another word, to show where it comes from.
  entry.extents.front().predecoded_steps = 2;
  entry.extents.front().known = Bytes::Copy(AsBytes("TWO"));
  EXPECT_EQ(AsText(Must(ReadEntry(store_, entry)).value), "TWO");
  entry.extents.front().predecoded_steps = 1;
  entry.extents.front().known = Bytes::Copy(AsBytes("ONE TWO THREE"));
  EXPECT_EQ(AsText(Must(ReadEntry(store_, entry)).value), "TWO");
  const auto many = ReadManyStored(store_, {&entry, 1});
  EXPECT_EQ(AsText(Must(DecodeStored(store_, entry, Must(many.front()))).value), "TWO");
  EXPECT_EQ(store_.reads(), 1U);
  const EntryData raw = Must(ReadStored(store_, entry));
  EXPECT_TRUE(Equal(raw.value, stored));
  EXPECT_EQ(AsText(Must(DecodeStored(store_, entry, raw)).value), "two");
  EXPECT_EQ(store_.reads(), 2U);
}

TEST_F(ReadEntryTest, ReadsExtentsInSegments) {
  // More than is read at a time, so that there are two segments at least.
  const std::string large(9 << 20, 'x');
  const auto object = Put("o", large + "the end");
  Entry entry = At("k", object, {0, large.size()});
  entry.extents.push_back({object, {0, large.size()}, {}});
  entry.extents.push_back({object, {large.size(), 7}, {}});
  entry.size = 2 * large.size() + 7;
  std::vector<size_t> sizes;
  std::string joined;
  const auto take = [&](const Bytes& segment) -> Result<void> {
    sizes.push_back(segment.size());
    joined += AsText(segment);
    return {};
  };
  Must(ReadInSegments(store_, entry, take));
  EXPECT_EQ(joined, large + large + "the end");
  EXPECT_THAT(sizes, testing::ElementsAre(2 * large.size(), 7));

  entry.size = 5;
  EXPECT_THAT(ReadInSegments(store_, entry, take).error().message,
              testing::HasSubstr("k: decodes to 18874375 bytes, the index says 5"));
  const auto refuse = [](const Bytes&) -> Result<void> { return IoError("no room"); };
  EXPECT_EQ(ReadInSegments(store_, entry, refuse).error().message, "no room");
  Must(ReadInSegments(store_, Entry(), refuse));
}

TEST_F(ReadEntryTest, DecodesTheValueOnly) {
  const ByteVector gzip = GzipEncode(AsBytes("value"));
  ByteVector all{std::byte{'x'}};
  Append(all, gzip);
  const Entry entry = At("k", Put("o", all), {1, gzip.size()}, 1, kGzip);
  const EntryData decoded = Must(ReadEntry(store_, entry));
  EXPECT_EQ(AsText(decoded.value), "value");
  EXPECT_EQ(AsText(decoded.preceding), "x");
  EXPECT_TRUE(Equal(Must(ReadStored(store_, entry)).value, gzip));
}

TEST_F(ReadEntryTest, JoinsExtentsOfSeveralObjectsAndCodecs) {
  const ByteVector gzip = GzipEncode(AsBytes("bbb"));
  Entry entry = At("k", Put("one", "-aa-cc-"), {1, 2}, 1);
  entry.extents.push_back({Put("two", gzip), {0, gzip.size()}, kGzip});
  entry.extents.push_back({entry.extents[0].object, {4, 2}, {}});
  const EntryData data = Must(ReadEntry(store_, entry));
  EXPECT_EQ(AsText(data.value), "aabbbcc");
  EXPECT_EQ(AsText(data.preceding), "-");
  EXPECT_EQ(store_.reads(), 2U);
}

TEST_F(ReadEntryTest, HoldsStoredBytesAgainstTheirChecksums) {
  const ByteVector gzip = GzipEncode(AsBytes("bbb"));
  Entry entry = At("k", Put("one", "-aa-"), {1, 2}, 1);
  entry.extents[0].crc32c = Crc32c(AsBytes("aa"));
  entry.extents.push_back({Put("two", gzip), {0, gzip.size()}, kGzip, Crc32c(gzip)});
  EXPECT_EQ(AsText(Must(ReadEntry(store_, entry)).value), "aabbb");
  EXPECT_TRUE(ReadStored(store_, entry));
  entry.extents[0].crc32c = 0x12345678;
  for (const auto& read : {ReadEntry(store_, entry), ReadStored(store_, entry)}) {
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(read.error().message,
              "memory://m/one: k: bytes [1, 3) have CRC-32C f1f2dac2, 12345678 expected");
  }
}

TEST_F(ReadEntryTest, ReadsEmptyValuesWithoutARequest) {
  const EntryData data = Must(ReadEntry(store_, At("k", Put("o", ""), {0, 0})));
  EXPECT_TRUE(data.value.empty());
  EXPECT_EQ(store_.reads(), 0U);
}

TEST_F(ReadEntryTest, ReadsEachObjectOnceForManyEntries) {
  const auto one = Put("one", "abcdef");
  const auto two = Put("two", "uvwxyz");
  const std::vector<Entry> entries = {At("b", two, {1, 1}), At("a", one, {0, 1}),
                                      At("d", two, {3, 1}), At("c", one, {2, 1})};
  const auto read = ReadManyStored(store_, entries);
  ASSERT_EQ(read.size(), 4U);
  std::string values;
  for (const auto& data : read) values += AsText(Must(data).value);
  EXPECT_EQ(values, "vaxc");
  EXPECT_EQ(store_.reads(), 2U);
  EXPECT_EQ(store_.slices(), 4U);
}

TEST_F(ReadEntryTest, OneDamagedEntryDoesNotSpoilTheOthers) {
  const auto object = Put("o", "0123456789");
  const std::vector<Entry> entries = {At("a", object, {0, 2}), At("b", object, {9, 2}),
                                      At("c", object, {uint64_t{1} << 63, 1}),
                                      At("d", object, {2, 1}, 3),
                                      At("e", object, {8, 2})};
  const auto read = ReadManyStored(store_, entries);
  EXPECT_EQ(AsText(Must(read[0]).value), "01");
  EXPECT_EQ(AsText(Must(read[4]).value), "89");
  ASSERT_FALSE(read[1]);
  EXPECT_EQ(read[1].error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read[1].error().message,
            "memory://m/o: b: bytes [9, 11) end past the object (10 bytes)");
  ASSERT_FALSE(read[2]);
  EXPECT_EQ(read[2].error().code, ErrorCode::kCorrupt);
  ASSERT_FALSE(read[3]);
  EXPECT_EQ(read[3].error().message,
            "memory://m/o: d: 1 bytes at 2, with 3 bytes before them, are not a range");
}

TEST_F(ReadEntryTest, TakesNoMemoryForALengthThatLies) {
  const auto object = Put("o", "0123456789");
  ReadLimits unlimited;
  unlimited.decoded = unlimited.stored = ~uint64_t{0};
  for (const uint64_t length :
       {uint64_t{17} << 20, uint64_t{1} << 40, uint64_t{1} << 60, ~uint64_t{0} - 5}) {
    const auto read = ReadEntry(store_, At("k", object, {5, length}), unlimited);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(read.error().message,
                testing::HasSubstr("end past the object (10 bytes)"));
  }
  EXPECT_EQ(store_.reads(), 0U);
  const auto wraps = ReadEntry(store_, At("k", object, {6, ~uint64_t{0} - 5}), unlimited);
  ASSERT_FALSE(wraps);
  EXPECT_THAT(wraps.error().message, testing::HasSubstr("are not a range"));
}

TEST_F(ReadEntryTest, TakesNoMemoryForALieInAnotherObject) {
  Entry entry = At("k", Put("one", "0123456789"), {0, 10});
  entry.extents.push_back({Put("two", "short"), {0, uint64_t{1} << 31}, {}});
  const auto read = ReadStored(store_, entry);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            "memory://m/two: k: bytes [0, 2147483648) end past the object (5 bytes)");
  EXPECT_EQ(store_.reads(), 0U);
}

TEST_F(ReadEntryTest, KeepsToTheLimits) {
  const auto object = Put("o", "0123456789");
  ReadLimits limits;
  limits.decoded = 4;
  const auto raw = ReadEntry(store_, At("k", object, {0, 5}), limits);
  ASSERT_FALSE(raw);
  EXPECT_EQ(raw.error().message,
            "memory://m/o: k: 5 bytes, more than the limit of 4 bytes");
  EXPECT_TRUE(ReadEntry(store_, At("k", object, {0, 4}, 0), limits));
  limits.stored = 6;
  EXPECT_TRUE(ReadStored(store_, At("k", object, {2, 4}, 2), limits));
  EXPECT_FALSE(ReadStored(store_, At("k", object, {3, 4}, 3), limits));

  const ByteVector gzip = GzipEncode(ByteVector(100, std::byte{1}));
  const auto bomb =
      ReadEntry(store_, At("bomb", Put("z", gzip), {0, gzip.size()}, 0, kGzip), {99});
  ASSERT_FALSE(bomb);
  EXPECT_EQ(bomb.error().message,
            "memory://m/z: bomb: decodes to more than the limit of 99 bytes");
}

TEST_F(ReadEntryTest, RefusesAnotherGeneration) {
  const Entry entry = At("k", Put("o", "old"), {0, 3});
  Put("o", "new");
  const auto read = ReadEntry(store_, entry);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kConflict);
  EXPECT_THAT(read.error().message, testing::StartsWith("memory://m/o: k: "));
}

TEST_F(ReadEntryTest, AsksOnceForAnObjectThatIsGone) {
  const auto object = Put("o", "0123456789");
  Must(store_.Remove("o", Precondition::None()));
  const std::vector<Entry> entries = {At("a", object, {0, 2}), At("b", object, {1, 2})};
  const auto read = ReadManyStored(store_, entries);
  ASSERT_FALSE(read[0]);
  ASSERT_FALSE(read[1]);
  EXPECT_EQ(read[1].error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read[1].error().message, "memory://m/o: b: no such object");
  EXPECT_EQ(store_.reads(), 1U);
}

TEST_F(ReadEntryTest, HoldsTheDecodedSizeAgainstTheIndex) {
  Entry entry = At("k", Put("o", "0123"), {0, 4});
  entry.size = 5;
  const auto read = ReadEntry(store_, entry);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            "memory://m/o: k: decodes to 4 bytes, the index says 5");
}

}  // namespace
}  // namespace dolium
