#include "dolium/formats/neuroglancer/shard_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/formats/neuroglancer/testing/shards.h"

namespace dolium::neuroglancer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ByteVector Words(std::initializer_list<uint64_t> words) {
  ByteVector bytes(words.size() * 8);
  std::byte* to = bytes.data();
  for (const uint64_t word : words) {
    StoreLE(to, word);
    to += 8;
  }
  return bytes;
}

TEST(DecodeMinishardIndex, UndoesTheDeltas) {
  //                      ids    gaps   lengths
  const auto raw = Words({7, 2, 0, 5, 10, 4});
  const auto chunks = DecodeMinishardIndex(raw, /*base=*/100);
  ASSERT_TRUE(chunks) << chunks.error().message;
  EXPECT_THAT(*chunks, ElementsAre(ChunkLocation{7, 100, 10}, ChunkLocation{9, 115, 4}));
}

TEST(DecodeMinishardIndex, LetsSumsWrap) {
  // The second chunk has the smaller id and lies in front of the first.
  const auto raw = Words({9, ~uint64_t{0} - 1, 50, ~uint64_t{0} - 59, 10, 4});
  const auto chunks = DecodeMinishardIndex(raw, /*base=*/0);
  ASSERT_TRUE(chunks) << chunks.error().message;
  EXPECT_THAT(*chunks, ElementsAre(ChunkLocation{9, 50, 10}, ChunkLocation{7, 0, 4}));
}

TEST(DecodeMinishardIndex, TakesNoBytesAsNoChunks) {
  const auto chunks = DecodeMinishardIndex({}, 0);
  ASSERT_TRUE(chunks);
  EXPECT_THAT(*chunks, IsEmpty());
}

TEST(DecodeMinishardIndex, RejectsAPartOfAColumn) {
  const auto chunks = DecodeMinishardIndex(AsBytes("abc"), 0);
  ASSERT_FALSE(chunks);
  EXPECT_EQ(chunks.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(chunks.error().message, "minishard index is 3 bytes, not a multiple of 24");
}

TEST(EncodeMinishardIndex, WritesTheBytesThatTensorStoreWrites) {
  EXPECT_EQ(ToHex(EncodeMinishardIndex({})), "");
  const ChunkLocation one[] = {{0x0123456789abcdef, 17, 18}};
  EXPECT_EQ(ToHex(EncodeMinishardIndex(one)),
            "efcdab896745230111000000000000001200000000000000");
  const ChunkLocation two[] = {{1, 3, 7}, {7, 12, 3}};
  EXPECT_EQ(ToHex(EncodeMinishardIndex(two)),
            "0100000000000000060000000000000003000000000000000200000000000000070000000000"
            "00000300"
            "000000000000");
}

TEST(ShardIndex, RoundTrips) {
  const ShardIndexRow rows[] = {{1, 5}, {7, 10}};
  const ByteVector raw = EncodeShardIndex(rows);
  EXPECT_EQ(ToHex(raw),
            "0100000000000000050000000000000007000000000000000a00000000000000");
  EXPECT_THAT(DecodeShardIndex(raw), ElementsAre(rows[0], rows[1]));
}

TEST(ChunkLocation, FitsOnlyWhereAllOfItLiesWithin) {
  EXPECT_TRUE((ChunkLocation{0, 10, 5}).FitsIn(15));
  EXPECT_FALSE((ChunkLocation{0, 10, 6}).FitsIn(15));
  EXPECT_TRUE((ChunkLocation{0, 15, 0}).FitsIn(15));
  EXPECT_FALSE((ChunkLocation{0, 16, 0}).FitsIn(15));
  EXPECT_FALSE((ChunkLocation{0, ~uint64_t{0}, 2}).FitsIn(15)) << "the end wraps to 1";
  EXPECT_FALSE((ChunkLocation{0, uint64_t{1} << 63, uint64_t{1} << 63}).FitsIn(15));
}

}  // namespace
}  // namespace dolium::neuroglancer
