#include "dolium/formats/shardpack/encode.h"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/record.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using testing::HasSubstr;

constexpr Compression kAll[] = {Compression::kNone, Compression::kGzip, Compression::kLz4,
                                Compression::kZstd};

std::string Joined(const EncodedRecord& record) {
  std::string joined;
  for (const Bytes& segment : record.segments) joined += AsText(segment);
  EXPECT_EQ(joined.size(), record.size);
  return joined;
}

TEST(EncodeRecord, RoundTripsInEveryWay) {
  for (const Compression compression : kAll) {
    for (const unsigned align : {3, 4, 6, 9, 12}) {
      for (const uint64_t threshold : {0, 500}) {
        const EncodeOptions options{.align_log2 = align,
                                    .compression = compression,
                                    .chunk_threshold = threshold,
                                    .chunk_size = kMinChunkSize,
                                    .chunk_uncompressed = align == 4};
        Must(CheckOptions(options));
        for (uint64_t seed = 0; seed < 30; ++seed) {
          const Sample sample = RandomSample(seed);
          const std::string block = Joined(Must(EncodeRecord(sample, options)));
          EXPECT_EQ(block.size() % (1U << align), 0U);
          EXPECT_LE(block.size(), MostBytes(sample, options));
          const Record record = Must(Record::Parse(Text(block), Check::kFull));
          EXPECT_FALSE(record.damage());
          for (const EntryHeader& entry : record.entries()) {
            EXPECT_EQ(entry.content_at % (1U << align), 0U);
            EXPECT_LE(entry.codec == 0 ? 0 : entry.stored_size, entry.raw_size);
          }
          ExpectEqual(Must(record.Decode({})), sample);
        }
      }
    }
  }
}

TEST(EncodeRecord, SaysWhatTheTailMustKnow) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const EncodeOptions options{.align_log2 = 6, .compression = Compression::kZstd};
    const EncodedRecord record = Must(EncodeRecord(RandomSample(seed), options));
    const EncodedRecord again = Must(SummarizeBlock(Text(Joined(record)), Check::kFull));
    EXPECT_EQ(again.key, record.key);
    EXPECT_EQ(again.size, record.size);
    ASSERT_EQ(again.entries.size(), record.entries.size());
    for (size_t i = 0; i < record.entries.size(); ++i) {
      const EntrySummary& a = again.entries[i];
      const EntrySummary& b = record.entries[i];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.content_type, b.content_type);
      EXPECT_EQ(a.header_at, b.header_at);
      EXPECT_EQ(a.end, b.end);
      EXPECT_EQ(a.raw_size, b.raw_size);
      EXPECT_EQ(a.stored_size, b.stored_size);
      EXPECT_EQ(a.is_plain, b.is_plain);
    }
  }
}

TEST(EncodeRecord, DoesNotCopyLargeContents) {
  const Bytes large = Text(std::string(100'000, 'x'));
  const EncodedRecord record = Must(EncodeRecord(
      {.key = "k", .files = {{.name = "a", .data = large}}}, EncodeOptions{}));
  ASSERT_EQ(record.segments.size(), 2U);
  EXPECT_EQ(record.segments[1].data(), large.data());
}

TEST(EncodeRecord, StoresAsItIsWhatDoesNotShrink) {
  for (const Compression compression : kAll) {
    for (const std::string text : {"", "x", "no two alike"}) {
      const std::string block =
          Blocks({{.key = "k", .files = {{.name = "a", .data = Text(text)}}}},
                 {.compression = compression});
      const Record record = Must(Record::Parse(Text(block), Check::kFull));
      EXPECT_EQ(record.entries().front().codec, 0);
      EXPECT_EQ(AsText(Must(record.Content(record.entries().front(), {}))), text);
    }
  }
}

TEST(EncodeRecord, AsksWhetherATypeIsWorthATry) {
  const Bytes text = Text(std::string(1000, 'x'));
  const Sample sample{.key = "k",
                      .files = {{.name = "a", .content_type = "image/jpeg", .data = text},
                                {.name = "b", .content_type = "text/plain", .data = text},
                                {.name = "c",
                                 .content_type = "image/jpeg",
                                 .data = text,
                                 .compression = Compression::kLz4}}};
  const std::string block = Blocks(
      {sample}, {.compression = Compression::kZstd,
                 .worth_compressing = [](auto type) { return type != "image/jpeg"; }});
  const Record record = Must(Record::Parse(Text(block), Check::kFull));
  EXPECT_EQ(record.entries()[0].codec, 0);
  EXPECT_EQ(record.entries()[1].codec, 3);
  EXPECT_EQ(record.entries()[2].codec, 2);  // Who asks for it gets it.
}

TEST(EncodeRecord, KeepsTombstones) {
  const Sample gone{
      .key = "gone", .metadata = {MetadataFormat::kJson, Text("{}")}, .tombstone = true};
  const Record record = Must(Record::Parse(Text(Blocks({gone})), Check::kFull));
  EXPECT_TRUE(record.is_tombstone());
  EXPECT_TRUE(record.entries().empty());
  ExpectEqual(Must(record.Decode({})), gone);
}

TEST(EncodeRecord, RefusesWhatTheFormatCannotHold) {
  const File file{.name = "a", .data = Text("x")};
  const auto message = [](const Sample& sample) {
    const auto record = EncodeRecord(sample, {});
    EXPECT_EQ(record.error().code, ErrorCode::kInvalidArgument);
    return record.error().message;
  };
  EXPECT_THAT(message({.key = "", .files = {file}}), HasSubstr("a key of 0 bytes"));
  EXPECT_THAT(message({.key = "k"}), HasSubstr("\"k\": a sample needs a file"));
  EXPECT_THAT(message({.key = "k", .files = {file}, .tombstone = true}),
              HasSubstr("a tombstone has no files"));
  EXPECT_EQ(message({.key = "k", .files = {file, file}}),
            "\"k\": entry \"a\" is there twice");
  EXPECT_THAT(message({.key = "k", .files = {{.name = "../a"}}}), HasSubstr("upwards"));
  EXPECT_EQ(message({.key = "k", .files = {{.name = "a", .content_type = "\xff"}}}),
            "\"k\": entry \"a\": a content type that is not UTF-8");
  EXPECT_EQ(
      message(
          {.key = "k", .metadata = {MetadataFormat::kNone, Text("{}")}, .files = {file}}),
      "\"k\": 2 bytes of metadata in no format");
  EXPECT_THAT(message({.key = "k",
                       .files = {{.name = "a",
                                  .metadata = {MetadataFormat::kJson,
                                               Text(std::string(65'531, ' '))}}}}),
              HasSubstr("metadata of 65531 bytes, 65530 are possible"));
}

TEST(EncodeRecord, HonoursTheRecordLimit) {
  const Sample sample{.key = "k",
                      .files = {{.name = "a", .data = Text(std::string(1000, 'x'))}}};
  const uint64_t size = Must(EncodeRecord(sample, {})).size;
  EXPECT_TRUE(EncodeRecord(sample, {.record_limit = size}));
  EXPECT_EQ(KindOf(EncodeRecord(sample, {.record_limit = size - 1})), "record-size");
  // What counts is the size as stored.
  EXPECT_TRUE(
      EncodeRecord(sample, {.compression = Compression::kZstd, .record_limit = 200}));
}

TEST(CheckOptions, RefusesSenselessOnes) {
  EXPECT_FALSE(CheckOptions({.align_log2 = 2}));
  EXPECT_FALSE(CheckOptions({.align_log2 = 13}));
  EXPECT_FALSE(CheckOptions({.chunk_size = 100'000}));
  EXPECT_FALSE(CheckOptions({.chunk_size = 32 << 10}));
  EXPECT_FALSE(CheckOptions({.chunk_size = uint64_t{2} << 30}));
}

TEST(SummarizeBlock, ChecksContentsIfAsked) {
  const EncodeOptions chunked{.compression = Compression::kZstd,
                              .chunk_threshold = 1,
                              .chunk_size = kMinChunkSize};
  for (const EncodeOptions& options : {EncodeOptions{}, chunked}) {
    std::string block = Blocks(
        {{.key = "k", .files = {{.name = "a", .data = Text(std::string(99'000, 'y'))}}}},
        options);
    block[block.size() - 9] ^= 1;
    EXPECT_TRUE(SummarizeBlock(Text(block), Check::kHeaders));
    const auto checked = SummarizeBlock(Text(block), Check::kFull);
    EXPECT_EQ(KindOf(checked), kind::kEntry);
    EXPECT_THAT(checked.error().message, HasSubstr("\"k\": entry \"a\": c"));
  }
}

TEST(Record, GivesTheEntriesBeforeADamagedOne) {
  std::string block = Blocks({{.key = "k",
                               .files = {{.name = "first", .data = Text("1")},
                                         {.name = "second", .data = Text("2")},
                                         {.name = "third", .data = Text("3")}}}});
  block[block.find("second")] = 'S';
  const Record record = Must(Record::Parse(Text(block), Check::kHeaders));
  ASSERT_EQ(record.entries().size(), 1U);
  EXPECT_EQ(AsText(Must(record.Content(record.entries()[0], {}))), "1");
  ASSERT_TRUE(record.damage());
  EXPECT_THAT(record.damage()->message, HasSubstr("\"k\": entry 1: header has CRC-32C"));
  EXPECT_EQ(record.damage()->kind, kind::kEntry);
  EXPECT_NE(record.Find("first"), nullptr);
  EXPECT_EQ(record.Find("second"), nullptr);
  EXPECT_EQ(KindOf(record.Decode({})), kind::kEntry);
}

TEST(EncodeRecord, NeverStoresWhatReadersTakeForABomb) {
  const std::string zeros(20 << 20, '\0');
  for (const Compression compression : kAll) {
    for (const uint64_t threshold : {uint64_t{0}, uint64_t{4} << 20}) {
      const Sample sample{.key = "k", .files = {{.name = "a", .data = Text(zeros)}}};
      const std::string block = Joined(Must(EncodeRecord(
          sample, {.compression = compression, .chunk_threshold = threshold})));
      const Record record = Must(Record::Parse(Text(block), Check::kFull));
      EXPECT_EQ(AsText(Must(record.Content(record.entries()[0], {}))), zeros);
      EXPECT_TRUE(compression == Compression::kNone || block.size() < zeros.size() / 100);
    }
  }
}

TEST(Record, MustFillItsBlock) {
  const std::string block = Blocks({{.key = "k", .files = {{.name = "a"}}}});
  EXPECT_EQ(KindOf(Record::Parse(Text(block + std::string(8, '\0')), Check::kHeaders)),
            kind::kIndex);
  EXPECT_EQ(
      KindOf(Record::Parse(Text(block.substr(0, block.size() - 8)), Check::kHeaders)),
      kind::kIndex);
}

}  // namespace
}  // namespace dolium::shardpack
