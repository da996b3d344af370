#include "dolium/formats/xet/hash.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/formats/xet/testing/vectors.h"

namespace dolium::xet {
namespace {

TEST(Hash, PrintsWordByWord) {
  for (const auto& v : Vectors()["hash_string"]) {
    EXPECT_EQ(ToString(RawHashOf(v["raw"])), v["str"]);
    EXPECT_EQ(HashOf(v["str"]), RawHashOf(v["raw"]));
  }
}

TEST(Hash, ParsesBothCases) {
  const std::string text =
      "D6834B04843AAF16f29903e2428a99be635099f9ea5056cc4e95e7ec8a41509F";
  auto hash = ParseHash(text);
  ASSERT_TRUE(hash);
  EXPECT_EQ(ToString(*hash),
            "d6834b04843aaf16f29903e2428a99be635099f9ea5056cc4e95e7ec8a41509f");
}

TEST(Hash, RefusesOtherTexts) {
  EXPECT_EQ(ParseHash(std::string(62, '0')).error().message,
            "a hash has 64 hexadecimal digits, not 62");
  EXPECT_FALSE(ParseHash(std::string(65, '0')));
  EXPECT_FALSE(ParseHash(std::string(63, '0') + "g"));
  EXPECT_FALSE(ParseHash(std::string(63, '0') + " "));
  EXPECT_EQ(ParseHash("").error().code, ErrorCode::kInvalidArgument);
}

TEST(Hash, IsOrderedByWordsNotBytes) {
  std::vector<Hash> sorted;
  for (const auto& raw : Vectors()["sort_order"]["raw_sorted"]) {
    sorted.push_back(RawHashOf(raw));
  }
  auto again = sorted;
  std::reverse(again.begin(), again.end());
  std::sort(again.begin(), again.end());
  EXPECT_EQ(again, sorted);
  EXPECT_LT(Hash(), sorted.front());
  EXPECT_LT(sorted.back(), Hash::Ones());
}

TEST(Hash, TakesTheRemainderOfItsLastWord) {
  for (const auto& v : Vectors()["global_dedup_eligible"]["first_hits_of_chunk-N"]) {
    const Hash hash = ChunkHash(AsBytes(v["input_utf8"].get<std::string>()));
    EXPECT_EQ(hash, HashOf(v["chunk_str"]));
    EXPECT_EQ(hash.Mod(1024), 0U);
    EXPECT_EQ(hash.word(3),
              std::stoull(v["last_word_hex"].get<std::string>(), nullptr, 16));
  }
}

TEST(Hash, IsTruncatedToItsFirstWord) {
  const Hash hash = HashOf(Vectors()["hash_string"][0]["str"]);
  EXPECT_EQ(hash.truncated(), 0x0706050403020100U);
}

TEST(ChunkHash, AgreesWithTheVectors) {
  for (const auto& v : Vectors()["chunk_hash"]) {
    ByteVector input;
    if (v.contains("input_utf8")) {
      input = Text(v["input_utf8"].get<std::string>());
    } else {
      input =
          v["input"] == "65536 zero bytes" ? Repeated(0, 65536) : Repeated(59, 131072);
    }
    EXPECT_EQ(ToString(ChunkHash(input)), v["str"]);
    EXPECT_EQ(ChunkHash(input), RawHashOf(v["raw"]));
  }
}

TEST(TermHash, AgreesWithTheVectors) {
  for (const auto& v : Vectors()["range_hash"]) {
    std::vector<Hash> chunks;
    for (const auto& chunk : v["chunks_str"]) chunks.push_back(HashOf(chunk));
    EXPECT_EQ(ToString(TermHash(chunks)), v["range_str"]);
  }
}

TEST(KeyedChunkHash, AgreesWithTheVectors) {
  for (const auto& v : Vectors()["keyed_chunk_hash"]) {
    const Hash key = RawHashOf(v["key_raw"]);
    EXPECT_EQ(ToString(KeyedChunkHash(key, HashOf(v["chunk_str"]))), v["keyed_str"]);
  }
}

TEST(KeyedChunkHash, LeavesHashesAloneWithoutAKey) {
  const Hash chunk = ChunkHash(AsBytes("Hello World!"));
  EXPECT_EQ(KeyedChunkHash(Hash(), chunk), chunk);
}

TEST(KeyedHasher, TakesSegments) {
  const ByteVector data = SplitMix(5, 100000);
  KeyedHasher hasher(kDataKey);
  for (size_t at = 0; at < data.size(); at += 777) {
    hasher.Update(BytesView(data).subspan(at, std::min<size_t>(777, data.size() - at)));
  }
  EXPECT_EQ(hasher.Finish(), ChunkHash(data));
}

TEST(Sha256Field, PrintsAsTheUsualDigest) {
  for (const auto& v : Vectors()["sha256"]) {
    const ByteVector digest = FromHex(v["hex"].get<std::string>());
    const Hash field = Sha256Field(std::span<const std::byte, 32>(digest));
    EXPECT_EQ(ToString(field), v["hex"]);
    EXPECT_EQ(field, RawHashOf(v["field_on_disk_raw"]));
    EXPECT_TRUE(Equal(Sha256Digest(field), digest));
  }
}

}  // namespace
}  // namespace dolium::xet
