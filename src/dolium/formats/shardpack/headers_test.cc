#include "dolium/formats/shardpack/headers.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/crc32c.h"
#include "dolium/base/endian.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/encode.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using testing::HasSubstr;

// A record whose header can be changed.
class HeaderTest : public testing::Test {
 protected:
  void SetUp() override {
    block_ = Blocks({{.key = "key",
                      .metadata = {MetadataFormat::kJson, Text("{}")},
                      .files = {{.name = "a", .data = Text("data")}}}});
  }

  std::byte* at(size_t offset) {
    return reinterpret_cast<std::byte*>(block_.data()) + offset;
  }
  // Makes the record's checksum right again.
  void Seal() {
    const BytesView bytes = AsBytes(block_);
    const size_t end = 32 + LoadLE<uint16_t>(at(20)) + LoadLE<uint16_t>(at(22)) +
                       LoadLE<uint32_t>(at(16));
    StoreLE(at(24), Crc32c(bytes.subspan(28, end - 28), Crc32c(bytes.first(24))));
  }
  Result<RecordHeader> Parse(Check check = Check::kHeaders) const {
    return ParseRecordHeader(AsBytes(block_), check);
  }
  std::string Message() {
    Seal();
    return Parse().error().message;
  }

  std::string block_;
};

TEST_F(HeaderTest, SaysWhatTheRecordIs) {
  const RecordHeader header = Must(Parse());
  EXPECT_EQ(header.record_size, block_.size());
  EXPECT_EQ(header.key, "key");
  EXPECT_EQ(AsText(header.metadata), "{}");
  EXPECT_EQ(header.metadata_format, MetadataFormat::kJson);
  EXPECT_EQ(header.entry_count, 1U);
  EXPECT_EQ(header.first_entry_at, 40U);
  EXPECT_EQ(Must(ParsePart(header)).has_value(), false);
}

TEST_F(HeaderTest, NeedsNoMoreThanTheHeader) {
  EXPECT_TRUE(ParseRecordHeader(AsBytes(block_).first(37), Check::kHeaders));
  const auto cut = ParseRecordHeader(AsBytes(block_).first(36), Check::kHeaders);
  EXPECT_EQ(cut.error().message,
            "key, extensions and metadata end at 37, past the 36 bytes there are");
  EXPECT_EQ(KindOf(cut), kind::kRecord);
  EXPECT_EQ(KindOf(ParseRecordHeader(AsBytes(block_).first(31), Check::kHeaders)),
            kind::kRecord);
}

TEST_F(HeaderTest, ChecksTheChecksumUnlessToldNotTo) {
  block_[33] = 'x';
  EXPECT_EQ(KindOf(Parse()), kind::kRecord);
  EXPECT_EQ(Must(Parse(Check::kNone)).key, "kxy");
}

TEST_F(HeaderTest, RefusesImpossibleSizes) {
  for (const uint64_t size :
       {uint64_t{0}, uint64_t{32}, uint64_t{44}, uint64_t{1} << 63}) {
    StoreLE(at(0), size);
    EXPECT_EQ(Message(), fmt::format("impossible record size {}", size));
  }
}

TEST_F(HeaderTest, RefusesWhatContradictsItself) {
  const std::string good = block_;
  *at(13) = std::byte{2};
  EXPECT_THAT(Message(), HasSubstr("alignment 2^2"));
  *at(13) = std::byte{13};
  EXPECT_THAT(Message(), HasSubstr("alignment 2^13"));
  *at(13) = std::byte{12};
  EXPECT_THAT(Message(), HasSubstr("not a multiple of the alignment 4096"));
  block_ = good;
  *at(15) = std::byte{0};
  EXPECT_EQ(Message(), "2 bytes of metadata in no format");
  block_ = good;
  StoreLE(at(28), uint32_t{0});
  EXPECT_EQ(Message(), "0 entries in a record that is not a tombstone");
  StoreLE(at(28), UINT32_MAX);
  EXPECT_THAT(Message(), HasSubstr("4294967295 entries do not fit"));
  block_ = good;
  *at(14) = std::byte{kRecordTombstone};
  EXPECT_EQ(Message(), "1 entries in a record that is a tombstone");
  *at(14) = std::byte{kRecordPart};
  EXPECT_EQ(Message(), "a part of a sample that does not say which");
}

TEST_F(HeaderTest, RefusesWhatItMustUnderstandAndDoesNot) {
  const std::string good = block_;
  *at(12) = std::byte{2};
  Seal();
  EXPECT_EQ(KindOf(Parse()), kind::kUnsupportedVersion);
  block_ = good;
  *at(14) = std::byte{8};
  Seal();
  EXPECT_EQ(KindOf(Parse()), kind::kUnsupportedFeature);
  EXPECT_EQ(Parse().error().code, ErrorCode::kUnsupported);
  *at(14) = std::byte{0xF0};  // May be ignored.
  Seal();
  EXPECT_TRUE(Parse());
}

TEST(ClaimedRecordSize, IsNothingWithoutTheMagic) {
  std::string bytes(16, '\0');
  EXPECT_EQ(Must(ClaimedRecordSize(AsBytes(bytes))), std::nullopt);
  bytes[0] = 40;
  bytes.replace(8, 4, "SPKR");
  EXPECT_EQ(Must(ClaimedRecordSize(AsBytes(bytes))), 40U);
}

TEST(ParsePart, GivesIndexAndCount) {
  const EncodedRecord record = Must(
      EncodePart({.key = "k", .files = {{.name = "a", .data = Text("x")}}}, {2, 3}, {}));
  const RecordHeader header =
      Must(ParseRecordHeader(record.segments.front(), Check::kHeaders));
  const auto part = Must(ParsePart(header));
  ASSERT_TRUE(part);
  EXPECT_EQ(part->index, 2U);
  EXPECT_EQ(part->count, 3U);
}

TEST(ParseEntryHeader, StaysWithinTheBlock) {
  const std::string block =
      Blocks({{.key = "k", .files = {{.name = "name", .data = Text("data")}}}});
  const BytesView bytes = AsBytes(block);
  const EntryHeader header = Must(ParseEntryHeader(bytes, 40, 3, Check::kHeaders));
  EXPECT_EQ(header.name, "name");
  EXPECT_EQ(header.content_at, 80U);
  EXPECT_EQ(header.content_end(), 84U);
  EXPECT_FALSE(ParseEntryHeader(bytes.first(83), 40, 3, Check::kHeaders));
  EXPECT_TRUE(ParseEntryHeader(bytes.first(83), 40, 3, Check::kHeaders, /*whole=*/false));
  EXPECT_FALSE(
      ParseEntryHeader(bytes.first(75), 40, 3, Check::kHeaders, /*whole=*/false));
  EXPECT_FALSE(ParseEntryHeader(bytes, bytes.size() - 31, 3, Check::kHeaders));
  EXPECT_EQ(KindOf(ParseEntryHeader(bytes, UINT64_MAX, 3, Check::kHeaders)),
            kind::kEntry);
}

TEST(ParseExtras, SkipsWhatItDoesNotKnowAndTakesTheLastOfATypeThatComesTwice) {
  const auto extension = [](uint16_t type, std::string_view body) {
    std::string out(4, '\0');
    StoreLE(reinterpret_cast<std::byte*>(out.data()), type);
    out[2] = static_cast<char>(body.size());
    return out + std::string(body);
  };
  const std::string known = extension(0x0003, std::string("\xa4\x81\0\0", 4));
  const std::string all = extension(0x7777, "whatever") + known;
  EXPECT_EQ(Must(ParseExtras({.extensions = AsBytes(all)})).mode, 0100644U);
  const std::string twice = known + extension(0x0003, std::string("\xed\x81\0\0", 4));
  EXPECT_EQ(Must(ParseExtras({.extensions = AsBytes(twice)})).mode, 0100755U);
  const std::string critical = known + extension(0x8010, "");
  EXPECT_EQ(KindOf(ParseExtras({.extensions = AsBytes(critical)})),
            kind::kUnsupportedFeature);
  const std::string cut = known.substr(0, 7);
  EXPECT_EQ(KindOf(ParseExtras({.extensions = AsBytes(cut)})), kind::kEntry);
  EXPECT_EQ(KindOf(ParseExtras({.extensions = AsBytes(extension(0x0003, "abc"))})),
            kind::kEntry);
}

}  // namespace
}  // namespace dolium::shardpack
