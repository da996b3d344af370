#include "dolium/formats/dvid/label_block.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/formats/dvid/label_block_internal.h"
#include "dolium/formats/dvid/put_internal.h"
#include "dolium/formats/dvid/testing/blocks.h"

namespace dolium::dvid {
namespace {

using testing::HasSubstr;

// A 16x16x16 block: its header and its list.
ByteVector Header(const std::vector<uint64_t>& labels) {
  ByteVector block;
  for (int i = 0; i < 3; ++i) Put<uint32_t>(block, 2);
  Put<uint32_t>(block, static_cast<uint32_t>(labels.size()));
  for (const uint64_t label : labels) Put<uint64_t>(block, label);
  return block;
}

// Five labels of three bits in sub-block 0, the others are solid.
ByteVector StraddlingBlock() {
  ByteVector block = Header({5, 9, 12, 20, 33});
  for (const int count : {5, 1, 1, 1, 1, 1, 1, 1})
    Put<uint16_t>(block, static_cast<uint16_t>(count));
  for (const uint32_t entry : {0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0}) {
    Put<uint32_t>(block, entry);
  }
  for (int row = 0; row < 64; ++row) {
    for (const int byte : {0x05, 0x38, 0x0A}) {
      Put<uint8_t>(block, static_cast<uint8_t>(byte));
    }
  }
  return block;
}

std::vector<uint64_t> Decoded(BytesView bytes) {
  const LabelBlock block = Must(LabelBlock::Parse(bytes));
  std::vector<uint64_t> voxels(static_cast<size_t>(block.voxels()));
  Must(DecodeBlock(block, block.labels(), voxels));
  return voxels;
}

std::string ParseError(BytesView bytes) {
  const auto block = LabelBlock::Parse(bytes);
  return block ? "none" : block.error().message;
}

TEST(LabelBlock, DecodesASolidBlock) {
  const auto voxels = Decoded(Header({7}));
  EXPECT_EQ(voxels.size(), 4096U);
  EXPECT_TRUE(std::ranges::all_of(voxels, [](uint64_t v) { return v == 7; }));
}

TEST(LabelBlock, DecodesIndexesThatStraddleBytes) {
  const ByteVector block = StraddlingBlock();
  EXPECT_EQ(block.size(), 312U);
  const auto voxels = Decoded(block);
  const std::vector<uint64_t> row(voxels.begin(), voxels.begin() + 16);
  EXPECT_THAT(row,
              testing::ElementsAre(5, 9, 12, 20, 33, 5, 9, 12, 5, 5, 5, 5, 5, 5, 5, 5));
  EXPECT_EQ(voxels[16 * 16 * 7 + 16 * 7 + 4], 33U);
}

TEST(LabelBlock, DecodesPalettesAndEmptySubBlocks) {
  ByteVector block = Header({100, 200, 300});
  for (const int count : {1, 0, 1, 1, 1, 1, 1, 2})
    Put<uint16_t>(block, static_cast<uint16_t>(count));
  for (const uint32_t entry : {1, 1, 1, 1, 1, 1, 2, 0}) Put<uint32_t>(block, entry);
  for (int row = 0; row < 64; ++row) Put<uint8_t>(block, 0x0F);
  const auto voxels = Decoded(block);
  EXPECT_EQ(voxels[0], 200U);
  EXPECT_EQ(voxels[8], 0U) << "a sub-block without a palette is zero";
  const std::vector<uint64_t> last(voxels.end() - 8, voxels.end());
  EXPECT_THAT(last, testing::ElementsAre(300, 300, 300, 300, 100, 100, 100, 100));
}

TEST(LabelBlock, DecodesAnotherListByPosition) {
  const ByteVector bytes = StraddlingBlock();
  const LabelBlock block = Must(LabelBlock::Parse(bytes));
  ByteVector list;
  for (const uint64_t label : {1, 1, 2, 2, 3}) Put<uint64_t>(list, label);
  std::vector<uint64_t> voxels(4096);
  Must(DecodeBlock(block, LabelList(list), voxels));
  EXPECT_THAT(std::vector<uint64_t>(voxels.begin(), voxels.begin() + 5),
              testing::ElementsAre(1, 1, 2, 2, 3));
  list.resize(16);
  EXPECT_EQ(DecodeBlock(block, LabelList(list), voxels).error().message,
            "2 labels for a block with a list of 5");
}

TEST(LabelBlock, RoundTripsEveryNumberOfLabels) {
  for (const size_t labels : {1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 100, 257, 511, 512, 700}) {
    const auto voxels = TestVoxels(labels, labels);
    EXPECT_EQ(Decoded(EncodeBlock(kTestGrid, voxels)), voxels) << labels;
  }
}

TEST(LabelBlock, EncodesInOrderOfAppearance) {
  std::vector<uint64_t> voxels(4096, 9);
  voxels[0] = 4;
  const ByteVector bytes = EncodeBlock({2, 2, 2}, voxels);
  const LabelBlock block = Must(LabelBlock::Parse(bytes));
  EXPECT_EQ(block.labels()[0], 4U);
  EXPECT_EQ(block.labels()[1], 9U);
  EXPECT_EQ(bytes.size(), 16U + 16 + 16 + 4 * 9 + 64);
  EXPECT_EQ(EncodeBlock({2, 2, 2}, std::vector<uint64_t>(4096, 3)).size(), 24U);
}

TEST(LabelBlock, TakesSidesThatDiffer) {
  std::vector<uint64_t> voxels(size_t{16} * 24 * 32);
  for (size_t i = 0; i < voxels.size(); ++i) voxels[i] = i / 16 % 7;
  EXPECT_EQ(Decoded(EncodeBlock({2, 3, 4}, voxels)), voxels);
}

TEST(LabelBlock, RejectsWhatIsNoBlock) {
  EXPECT_THAT(ParseError({}), HasSubstr("needs 4 bytes"));
  EXPECT_THAT(ParseError(Header({})), HasSubstr("a list of no labels"));
  ByteVector block = StraddlingBlock();
  EXPECT_EQ(ParseError(block), "none");
  EXPECT_THAT(ParseError(BytesView(block).first(block.size() - 1)),
              HasSubstr("packed voxels needs 192 bytes"));
  block.push_back({});
  EXPECT_EQ(ParseError(block), "1 bytes behind a block of 312");
  block = StraddlingBlock();
  block[0] = std::byte{200};
  EXPECT_THAT(ParseError(block), HasSubstr("200 sub-blocks along an axis"));
  block = StraddlingBlock();
  StoreLE<uint16_t>(block.data() + 56, 513);
  EXPECT_THAT(ParseError(block), HasSubstr("palette of 513 entries"));
  block = StraddlingBlock();
  StoreLE<uint32_t>(block.data() + 72, 5);
  EXPECT_EQ(ParseError(block), "a palette has index 5 into a list of 5 labels");
  block = Header({1, 2});
  StoreLE<uint32_t>(block.data() + 12, 1U << 30);
  EXPECT_THAT(ParseError(block), HasSubstr("label list needs 8589934592 bytes"));
}

TEST(LabelBlock, RejectsAnIndexPastThePalette) {
  ByteVector block = StraddlingBlock();
  block.back() = std::byte{0x0F};  // The last voxel has index 7.
  const LabelBlock parsed = Must(LabelBlock::Parse(block));
  std::vector<uint64_t> voxels(4096);
  EXPECT_EQ(DecodeBlock(parsed, parsed.labels(), voxels).error().message,
            "sub-block 0: a voxel has index 7 into a palette of 5 entries");
}

#if defined(__x86_64__)
TEST(LabelBlock, UnpacksTheSameWithAndWithoutAvx2) {
  if (BestBlockKernels() != BlockKernels::kAvx2) GTEST_SKIP() << "no AVX2";
  std::mt19937_64 random(1);
  std::vector<uint64_t> table(512);
  for (uint64_t& label : table) label = random();
  for (unsigned bits = 1; bits <= 9; ++bits) {
    ByteVector values(64 * bits + kReadSlack);
    for (std::byte& byte : values) byte = static_cast<std::byte>(random());
    std::vector<uint64_t> portable(512);
    std::vector<uint64_t> fast(512);
    EXPECT_EQ(
        UnpackLabelsPortable(values.data(), bits, table.data(), {portable.data(), 8, 64}),
        UnpackLabelsAvx2(values.data(), bits, table.data(), {fast.data(), 8, 64}));
    EXPECT_EQ(portable, fast) << bits;
    std::vector<uint16_t> indexes(512);
    std::vector<uint16_t> fast_indexes(512);
    EXPECT_EQ(UnpackIndexesPortable(values.data(), bits, indexes.data()),
              UnpackIndexesAvx2(values.data(), bits, fast_indexes.data()));
    EXPECT_EQ(indexes, fast_indexes) << bits;
  }
}
#endif

}  // namespace
}  // namespace dolium::dvid
