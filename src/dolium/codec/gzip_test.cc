#include "dolium/codec/gzip.h"

#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/codec/codec.h"

namespace dolium {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kNoLimit = uint64_t{1} << 40;
constexpr size_t kTrailerBytes = 8;

ByteVector RandomBytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  ByteVector bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

ByteVector Text(std::string_view text) {
  const BytesView view = AsBytes(text);
  return {view.begin(), view.end()};
}

// "hello", in a member with every optional header field.
ByteVector MemberWithAllHeaderFields() {
  const ByteVector plain = GzipEncode(AsBytes("hello"));
  ByteVector member(plain.begin(), plain.begin() + 10);
  member[3] = std::byte{0x1e};  // header CRC, extra, name, comment
  Append(member, AsBytes(std::string_view("\x03\x00"
                                          "abc",
                                          5)));
  Append(member, AsBytes(std::string_view("name\0", 5)));
  Append(member, AsBytes(std::string_view("a comment\0", 10)));
  Append(member, AsBytes(std::string_view("\x12\x34", 2)));
  member.insert(member.end(), plain.begin() + 10, plain.end());
  return member;
}

void ExpectCorrupt(const Result<ByteVector>& result, std::string_view message) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(result.error().message, HasSubstr(message));
}

TEST(Gzip, RoundTripsEverySizeAndLevel) {
  for (const size_t size : {0, 1, 2, 100, 4096, 100000}) {
    for (const int level : {1, 6, 9, 12}) {
      const ByteVector value = RandomBytes(size, 7);
      const auto decoded = GzipDecode(GzipEncode(value, level), size);
      ASSERT_TRUE(decoded) << decoded.error().message;
      EXPECT_TRUE(Equal(*decoded, value)) << size << " bytes at level " << level;
    }
  }
}

TEST(Gzip, DecodesWhatAnotherImplementationWrote) {
  // printf hello | gzip -9n
  const uint8_t kStored[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
                             0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x86,
                             0xa6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00};
  const auto decoded = GzipDecode(std::as_bytes(std::span(kStored)), kNoLimit);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(AsText(*decoded), "hello");
}

TEST(Gzip, WritesNoTimeAndIsTheSameOnEveryThread) {
  const ByteVector value = RandomBytes(50000, 1);
  const ByteVector first = GzipEncode(value);
  for (size_t i = 4; i < 8; ++i) EXPECT_EQ(first[i], std::byte{0}) << "MTIME byte " << i;
  ByteVector other;
  std::thread([&] {
    GzipEncode(RandomBytes(1000, 2));
    other = GzipEncode(value);
  }).join();
  EXPECT_EQ(first, other);
}

TEST(Gzip, StepsOverEveryHeaderField) {
  const auto decoded = GzipDecode(MemberWithAllHeaderFields(), kNoLimit);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(AsText(*decoded), "hello");
}

TEST(Gzip, JoinsSeveralMembers) {
  ByteVector stored = GzipEncode(ByteVector(30000, std::byte{'a'}));
  Append(stored, GzipEncode(AsBytes("")));
  Append(stored, GzipEncode(AsBytes("tail")));
  const auto decoded = GzipDecode(stored, kNoLimit);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(AsText(*decoded), std::string(30000, 'a') + "tail");
}

TEST(Gzip, RejectsWhatIsNotGzip) {
  ExpectCorrupt(GzipDecode({}, kNoLimit), "not a gzip stream");
  ExpectCorrupt(GzipDecode(Text("plain text, no gzip"), kNoLimit), "not a gzip stream");
  ByteVector reserved = GzipEncode(AsBytes("x"));
  reserved[3] = std::byte{0x80};
  ExpectCorrupt(GzipDecode(reserved, kNoLimit), "not a gzip stream: reserved flags 0x80");
}

TEST(Gzip, RejectsEveryTruncation) {
  for (const ByteVector& stored :
       {GzipEncode(RandomBytes(300, 3)), MemberWithAllHeaderFields(), GzipEncode({})}) {
    for (size_t length = 1; length < stored.size(); ++length) {
      const auto result = GzipDecode(BytesView(stored).first(length), kNoLimit);
      ExpectCorrupt(result, "cut short");
    }
  }
}

TEST(Gzip, SaysCutShortWhenOnlyTheTrailerIsMissing) {
  const ByteVector stored = GzipEncode(RandomBytes(300, 3));
  for (size_t missing = 1; missing <= kTrailerBytes; ++missing) {
    const auto result =
        GzipDecode(BytesView(stored).first(stored.size() - missing), kNoLimit);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "gzip stream is cut short");
  }
}

TEST(Gzip, RejectsATrailerThatContradictsTheData) {
  const ByteVector good = GzipEncode(AsBytes("some value"));
  ByteVector bad = good;
  bad[bad.size() - kTrailerBytes] ^= std::byte{1};
  ExpectCorrupt(GzipDecode(bad, kNoLimit), "gzip checksum does not match");
  bad = good;
  bad[bad.size() - 4] ^= std::byte{1};
  ExpectCorrupt(GzipDecode(bad, kNoLimit), "gzip length does not match: 10 bytes");
}

TEST(Gzip, NeverGivesWrongBytesForAFlippedBit) {
  const std::string text =
      "the quick brown fox jumps over the lazy dog, and again the dog";
  const ByteVector good = GzipEncode(AsBytes(text));
  constexpr size_t kHeaderBytes = 10;
  size_t accepted = 0;
  for (size_t bit = kHeaderBytes * 8; bit < good.size() * 8; ++bit) {
    ByteVector bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const auto result = GzipDecode(bad, kNoLimit);
    if (result) {
      ++accepted;
      EXPECT_EQ(AsText(*result), text) << "bit " << bit;
    } else {
      EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
    }
  }
  EXPECT_LE(accepted, 7U);  // Padding after the last block means nothing.
}

TEST(Gzip, RejectsTrailingGarbage) {
  ByteVector stored = GzipEncode(AsBytes("value"));
  const size_t size = stored.size();
  Append(stored, AsBytes("junk"));
  ExpectCorrupt(
      GzipDecode(stored, kNoLimit),
      "4 bytes that are not gzip follow the gzip stream at " + std::to_string(size));
}

TEST(Gzip, KeepsToTheLimitToTheByte) {
  const ByteVector stored = GzipEncode(ByteVector(100000, std::byte{0}));
  EXPECT_TRUE(GzipDecode(stored, 100000));
  ExpectCorrupt(GzipDecode(stored, 99999),
                "decodes to more than the limit of 99999 bytes");
  ExpectCorrupt(GzipDecode(stored, 0), "decodes to more than the limit of 0 bytes");
  EXPECT_TRUE(GzipDecode(GzipEncode({}), 0));
}

TEST(Gzip, KeepsToTheLimitOverSeveralMembers) {
  ByteVector stored;
  for (int i = 0; i < 10; ++i) Append(stored, GzipEncode(ByteVector(1000, std::byte{0})));
  EXPECT_TRUE(GzipDecode(stored, 10000));
  ExpectCorrupt(GzipDecode(stored, 9999), "decodes to more than the limit of 9999 bytes");
}

TEST(Gzip, DoesNotBelieveALargeLengthInTheTrailer) {
  ByteVector stored = GzipEncode(AsBytes("tiny"));
  StoreLE<uint32_t>(stored.data() + stored.size() - 4, 0xffffffffU);
  ExpectCorrupt(GzipDecode(stored, kNoLimit), "gzip length does not match: 4 bytes");
}

TEST(Gzip, DecodesPastASmallLengthInTheTrailer) {
  ByteVector stored = GzipEncode(ByteVector(1 << 20, std::byte{9}));
  StoreLE<uint32_t>(stored.data() + stored.size() - 4, 1);
  ExpectCorrupt(GzipDecode(stored, kNoLimit),
                "gzip length does not match: 1048576 bytes");
}

TEST(Codec, NamesChains) {
  EXPECT_EQ(ToString(CodecChain{}), "raw");
  EXPECT_EQ(ToString(CodecChain{{CodecId::kGzip}}), "gzip");
  EXPECT_EQ(ToString(CodecChain{{CodecId::kGzip}, {CodecId::kGzip}}), "gzip+gzip");
}

TEST(Codec, UndoesAChainInReverse) {
  const ByteVector value = Text("a value that is encoded twice");
  const CodecChain chain{{CodecId::kGzip}, {CodecId::kGzip}};
  auto stored = Encode(chain, value);
  ASSERT_TRUE(stored);
  const auto decoded =
      Decode(chain, Bytes::FromVector(*std::move(stored)), value.size() + 64);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_TRUE(Equal(*decoded, value));
}

TEST(Codec, SharesRawBytesWithinTheLimit) {
  const Bytes stored = Bytes::Copy(AsBytes("raw"));
  const auto decoded = Decode({}, stored, 3);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->data(), stored.data());
  const auto over = Decode({}, stored, 2);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().message, "3 bytes, more than the limit of 2 bytes");
}

TEST(Gzip, DecodesIntoMemoryOfTheClaimedSize) {
  for (const size_t size : {0, 1, 4096, 100000}) {
    const ByteVector value = RandomBytes(size, 11);
    const ByteVector stored = GzipEncode(value);
    ASSERT_EQ(GzipClaimedSize(stored), size);
    ByteVector into(size);
    const auto fits = GzipDecodeInto(stored, into);
    ASSERT_TRUE(fits) << fits.error().message;
    EXPECT_TRUE(*fits);
    EXPECT_EQ(into, value);
  }
}

TEST(Gzip, SaysThatTheMemoryHasAnotherSize) {
  const ByteVector stored = GzipEncode(RandomBytes(1000, 12));
  for (const size_t size : {0, 999, 1001}) {
    ByteVector into(size);
    const auto fits = GzipDecodeInto(stored, into);
    ASSERT_TRUE(fits) << fits.error().message;
    EXPECT_FALSE(*fits) << size;
  }
}

TEST(Gzip, DecodesSeveralMembersIntoMemoryOfTheirSize) {
  ByteVector stored = GzipEncode(AsBytes("abc"));
  Append(stored, GzipEncode(AsBytes("de")));
  EXPECT_EQ(GzipClaimedSize(stored), 2u);
  ByteVector into(5);
  const auto fits = GzipDecodeInto(stored, into);
  ASSERT_TRUE(fits) << fits.error().message;
  EXPECT_TRUE(*fits);
  EXPECT_EQ(AsText(into), "abcde");
}

TEST(Gzip, DoesNotBelieveAnAbsurdClaim) {
  ByteVector stored = GzipEncode(AsBytes("hello"));
  StoreLE<uint32_t>(stored.data() + stored.size() - 4, 0xffffffffu);
  EXPECT_EQ(GzipClaimedSize(stored), std::nullopt);
  EXPECT_EQ(GzipClaimedSize({}), std::nullopt);
  EXPECT_EQ(GzipClaimedSize(AsBytes("not gzip at all")), std::nullopt);
}

TEST(Gzip, RefusesToDecodeDamageIntoMemory) {
  ByteVector stored = GzipEncode(RandomBytes(1000, 13));
  stored[stored.size() - 6] ^= std::byte{1};  // of the checksum
  ByteVector into(1000);
  const auto fits = GzipDecodeInto(stored, into);
  ASSERT_FALSE(fits);
  EXPECT_EQ(fits.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(fits.error().message, HasSubstr("checksum does not match"));
}

TEST(Codec, DecodesAChainIntoMemory) {
  const CodecChain twice = {{CodecId::kGzip}, {CodecId::kGzip}};
  for (const CodecChain& chain : {CodecChain{}, CodecChain{{CodecId::kGzip}}, twice}) {
    const ByteVector value = RandomBytes(500, 14);
    const auto stored = Encode(chain, value);
    ASSERT_TRUE(stored);
    ByteVector into(500);
    const auto fits = DecodeInto(chain, *stored, into);
    ASSERT_TRUE(fits) << fits.error().message;
    EXPECT_TRUE(*fits);
    EXPECT_EQ(into, value);
    ByteVector wrong(499);
    EXPECT_FALSE(*DecodeInto(chain, *stored, wrong));
    EXPECT_EQ(ClaimedSize(chain, *stored),
              chain.size() == 2 ? std::nullopt : std::optional<uint64_t>(500));
  }
}

}  // namespace
}  // namespace dolium
