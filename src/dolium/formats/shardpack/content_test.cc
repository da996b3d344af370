#include "dolium/formats/shardpack/content.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/crc32c.h"
#include "dolium/base/endian.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/encode.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/record.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using testing::HasSubstr;

// 300,000 bytes, of which the middle does not compress.
std::string LongText() {
  std::string text;
  while (text.size() < 100'000) text += fmt::format("line {} of it\n", text.size());
  uint64_t state = 1;
  while (text.size() < 200'000) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    text += static_cast<char>(state >> 56);
  }
  text.resize(300'000, '-');
  return text;
}

Record Encoded(const std::string& text, Compression compression, uint64_t threshold) {
  const EncodeOptions options{.compression = compression,
                              .chunk_threshold = threshold,
                              .chunk_size = kMinChunkSize,
                              .chunk_uncompressed = true};
  const std::string block =
      Blocks({{.key = "k", .files = {{.name = "a", .data = Text(text)}}}}, options);
  return Must(Record::Parse(Text(block), Check::kHeaders));
}

class CodecTest : public testing::TestWithParam<Compression> {};

TEST_P(CodecTest, GivesBackWhatWasStored) {
  const std::string text = LongText();
  for (const uint64_t threshold : {0, 1000}) {
    const Record record = Encoded(text, GetParam(), threshold);
    const EntryHeader& entry = record.entries().front();
    EXPECT_EQ(entry.is_chunked(), threshold > 0);
    EXPECT_EQ(entry.codec, static_cast<uint8_t>(GetParam()));
    EXPECT_EQ(AsText(Must(record.Content(entry, {}))), text);
    ByteVector into(text.size());
    Must(record.ContentInto(entry, into, {}));
    EXPECT_EQ(AsText(into), text);
    Must(CheckStored(entry, record.Stored(entry)));
  }
}

TEST_P(CodecTest, GivesRangesOfIt) {
  const std::string text = LongText();
  for (const uint64_t threshold : {0, 1000}) {
    const Record record = Encoded(text, GetParam(), threshold);
    const EntryHeader& entry = record.entries().front();
    const Bytes stored = record.Stored(entry);
    for (const ByteRange range : {ByteRange{0, 0}, ByteRange{0, 1}, ByteRange{65'535, 2},
                                  ByteRange{65'536, 65'536}, ByteRange{10, 299'990},
                                  ByteRange{300'000, 0}, ByteRange{262'144, 37'856}}) {
      const auto part = Must(DecodeContentRange(entry, stored, range, {}));
      EXPECT_EQ(AsText(part), text.substr(range.offset, range.length)) << ToString(range);
    }
    for (const ByteRange range :
         {ByteRange{0, 300'001}, ByteRange{300'001, 0}, ByteRange{5, UINT64_MAX}}) {
      EXPECT_EQ(DecodeContentRange(entry, stored, range, {}).error().code,
                ErrorCode::kInvalidArgument);
    }
  }
}

TEST_P(CodecTest, DetectsEveryDamage) {
  for (const uint64_t threshold : {0, 1000}) {
    const Record record = Encoded(LongText(), GetParam(), threshold);
    const EntryHeader& entry = record.entries().front();
    const std::string good(AsText(record.Stored(entry)));
    for (size_t at = 0; at < good.size(); at += at < 200 ? 1 : 4999) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x10);
      EXPECT_EQ(KindOf(DecodeContent(entry, Text(bad), {})), kind::kEntry) << at;
      EXPECT_EQ(KindOf(CheckStored(entry, AsBytes(bad))), kind::kEntry) << at;
    }
  }
}

TEST_P(CodecTest, ReadsTheChunksOfARangeAlone) {
  const std::string text = LongText();
  const Record record = Encoded(text, GetParam(), 1000);
  const EntryHeader& entry = record.entries().front();
  std::string damaged(AsText(record.Stored(entry)));
  damaged.back() = static_cast<char>(damaged.back() ^ 1);  // of the last chunk
  const auto first = DecodeContentRange(entry, Text(damaged), {0, 1000}, {});
  EXPECT_EQ(AsText(Must(first)), text.substr(0, 1000));
  const auto last = DecodeContentRange(entry, Text(damaged), {299'999, 1}, {});
  EXPECT_THAT(last.error().message, HasSubstr("chunk 4 has CRC-32C"));
}

INSTANTIATE_TEST_SUITE_P(All, CodecTest,
                         testing::Values(Compression::kNone, Compression::kGzip,
                                         Compression::kLz4, Compression::kZstd));

TEST(CheckLimits, RefusesBeforeAnythingIsAllocated) {
  const EntryHeader large{
      .stored_size = 1 << 20, .raw_size = uint64_t{1} << 40, .codec = 3};
  EXPECT_EQ(KindOf(CheckLimits(large, {})), kind::kLimit);
  EXPECT_EQ(KindOf(CheckLimits(large, {.raw_limit = UINT64_MAX})), kind::kLimit);
  EXPECT_TRUE(CheckLimits(large, {.raw_limit = UINT64_MAX, .ratio_limit = 1 << 20}));
  const EntryHeader nothing{.stored_size = 0, .raw_size = 1 << 30, .codec = 2};
  EXPECT_EQ(KindOf(CheckLimits(nothing, {})), kind::kEntry);
  EXPECT_EQ(KindOf(DecodeContent(nothing, {}, {})), kind::kEntry);
}

TEST(ChunkTable, IsBelievedOnlyAsFarAsThereAreBytes) {
  // 4 GiB in chunks of 1 GiB, of which nothing is there; marked as stored as they are.
  ByteVector table(16 + 4 * 16);
  StoreLE(table.data(), kMaxChunkSize);
  StoreLE(table.data() + 8, uint32_t{4});
  for (size_t i = 0; i < 4; ++i) {
    StoreLE(table.data() + 16 + 16 * i, uint64_t{table.size()});
    StoreLE(table.data() + 16 + 16 * i + 12, kChunkStoredRaw);
  }
  EntryHeader header{.stored_size = table.size(),
                     .raw_size = uint64_t{4} << 30,
                     .crc32c = Crc32c(table),
                     .codec = static_cast<uint8_t>(Compression::kLz4),
                     .flags = kEntryChunked};
  const Bytes stored = Bytes::FromVector(table);
  const auto content = DecodeContent(header, stored, {.ratio_limit = uint64_t{1} << 40});
  EXPECT_EQ(content.error().message, "chunk 0 has 0 bytes, 1073741824 expected");
  header.codec = 0;
  EXPECT_EQ(DecodeContent(header, stored, {}).error().message,
            "80 bytes stored as they are, yet 4294967296 raw");
}

TEST(DecodeContent, SharesWhatIsStoredAsItIs) {
  const Bytes stored = Text("as it is");
  const EntryHeader header{.stored_size = 8, .raw_size = 8, .crc32c = Crc32c(stored)};
  EXPECT_EQ(Must(DecodeContent(header, stored, {})).data(), stored.data());
  const EntryHeader wrong{.stored_size = 8, .raw_size = 8, .crc32c = 1};
  EXPECT_EQ(KindOf(DecodeContent(wrong, stored, {})), kind::kEntry);
  EXPECT_TRUE(DecodeContent(wrong, stored, {.check = Check::kHeaders}));
}

TEST(DecodeContent, NamesACodecThatItDoesNotKnow) {
  const Bytes stored = Text("whatever");
  const EntryHeader header{
      .stored_size = 8, .raw_size = 9, .crc32c = Crc32c(stored), .codec = 200};
  const auto content = DecodeContent(header, stored, {});
  EXPECT_EQ(content.error().message, "codec 200 is not known");
  EXPECT_EQ(content.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(KindOf(content), kind::kUnsupportedCodec);
}

}  // namespace
}  // namespace dolium::shardpack
