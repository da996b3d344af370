#include "dolium/domain/volume/encodings/compressed_segmentation.h"

#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/stable_hash.h"
#include "dolium/domain/volume/encodings/compressed_segmentation_internal.h"
#include "dolium/domain/volume/encodings/label_index_internal.h"
#include "dolium/domain/volume/testing/patterned_labels.h"

namespace dolium::volume {

void PrintTo(LabelKernels kernels, std::ostream* to) {
  *to << (kernels == LabelKernels::kAvx2 ? "Avx2" : "Portable");
}

namespace {

using testing::HasSubstr;

constexpr auto k32 = DataType::kUint32;
constexpr auto k64 = DataType::kUint64;

ByteVector Words(const std::vector<uint32_t>& words) {
  ByteVector bytes(words.size() * 4);
  for (size_t i = 0; i < words.size(); ++i) StoreLE<uint32_t>(&bytes[4 * i], words[i]);
  return bytes;
}

ByteVector Labels(DataType type, const std::vector<uint64_t>& labels) {
  ByteVector bytes(labels.size() * SizeOf(type));
  for (size_t i = 0; i < labels.size(); ++i) {
    if (type == k32) {
      StoreLE<uint32_t>(&bytes[4 * i], static_cast<uint32_t>(labels[i]));
    } else {
      StoreLE<uint64_t>(&bytes[8 * i], labels[i]);
    }
  }
  return bytes;
}

std::vector<LabelKernels> AllKernels() {
  std::vector<LabelKernels> all = {LabelKernels::kPortable};
  if (BestLabelKernels() != LabelKernels::kPortable) all.push_back(BestLabelKernels());
  return all;
}

class CompressedSegmentation : public testing::TestWithParam<LabelKernels> {
 protected:
  static Result<ByteVector> Encode(const ArrayShape& shape, const Vec3& block,
                                   BytesView voxels) {
    return EncodeCompressedSegmentation(shape, block, voxels, GetParam());
  }
  static Result<ByteVector> Decode(const ArrayShape& shape, const Vec3& block,
                                   BytesView stored) {
    ByteVector voxels(static_cast<size_t>(*shape.bytes()), std::byte{0xa5});
    DOLIUM_TRY_VOID(
        DecodeCompressedSegmentation(shape, block, stored, voxels, GetParam()));
    return voxels;
  }
};
INSTANTIATE_TEST_SUITE_P(, CompressedSegmentation, testing::ValuesIn(AllKernels()),
                         testing::PrintToStringParamName());

struct Golden {
  ArrayShape shape;
  Vec3 block;
  std::vector<uint64_t> labels;
  std::vector<uint32_t> words;
};

// The values of Neuroglancer's and TensorStore's own tests, and more that both make.
const std::vector<Golden>& Goldens() {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  static const std::vector<Golden> goldens = {
      {{{2, 2, 1}, 1, k32}, {2, 2, 1}, {4, 4, 4, 4}, {1, 2, 2, 4}},
      {{{2, 2, 1}, 1, k64}, {2, 2, 1}, {4, 4, 4, 4}, {1, 2, 2, 4, 0}},
      {{{2, 2, 2}, 1, k32},
       {2, 2, 1},
       {4, 3, 5, 4, 1, 3, 3, 3},
       {1, 0x02000005, 4, 0x01000009, 8, 97, 3, 4, 5, 14, 1, 3}},
      {{{2, 2, 2}, 1, k64},
       {2, 2, 1},
       {4, 3, 5, 4, 1, 3, 3, 3},
       {1, 0x02000005, 4, 0x0100000c, 11, 97, 3, 0, 4, 0, 5, 0, 14, 1, 0, 3, 0}},
      // Tables that are used again.
      {{{2, 2, 4}, 1, k32},
       {2, 2, 1},
       {4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4},
       {1, 8, 8, 9, 9, 9, 10, 8, 10, 4, 3}},
      {{{2, 2, 4}, 1, k64},
       {2, 2, 1},
       {4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4},
       {1, 8, 8, 10, 10, 10, 12, 8, 12, 4, 0, 3, 0}},
      {{{2, 2, 4}, 1, k32},
       {2, 2, 1},
       {4, 3, 5, 4, 1, 3, 3, 3, 3, 1, 1, 1, 5, 5, 3, 4},
       {1, 0x02000009, 8, 0x0100000d, 12, 0x0100000d, 15, 0x02000009, 16, 97, 3, 4, 5, 14,
        1, 3, 1, 74}},
      {{{2, 2, 4}, 1, k64},
       {2, 2, 1},
       {4, 3, 5, 4, 1, 3, 3, 3, 3, 1, 1, 1, 5, 5, 3, 4},
       {1, 0x02000009, 8, 0x01000010, 15, 0x01000010, 20, 0x02000009, 21, 97, 3, 0,
        4, 0,          5, 0,          14, 1,          0,  3,          0,  1,  74}},
      // Nothing is stored where the last headers point to.
      {{{2, 2, 4}, 1, k64},
       {2, 2, 1},
       std::vector<uint64_t>(16, 3),
       {1, 8, 8, 8, 10, 8, 10, 8, 10, 3, 0}},
      {{{2, 2, 1}, 1, k64}, {2, 2, 1}, {4, 0, 4, 0}, {1, 0x01000003, 2, 5, 0, 0, 4, 0}},
      {{{2, 2, 1}, 1, k64}, {2, 2, 1}, {4, 3, 4, 4}, {1, 0x01000003, 2, 13, 3, 0, 4, 0}},
      // Blocks that the chunk cuts off.
      {{{2, 2, 1}, 1, k64}, {3, 2, 1}, {4, 3, 4, 3}, {1, 0x01000003, 2, 9, 3, 0, 4, 0}},
      {{{3, 4, 2}, 1, k32},
       {3, 2, 1},
       {1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4},
       {1, 8, 8, 9, 9, 10, 10, 11, 11, 1, 2, 3, 4}},
      {{{3, 4, 1}, 1, k32},
       {3, 2, 1},
       {5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6},
       {1, 4, 4, 5, 5, 5, 6}},
      {{{2, 2, 1}, 2, k32},
       {8, 8, 8},
       {5, 5, 5, 5, 1005, 1005, 1005, 1005},
       {2, 5, 2, 2, 5, 2, 2, 1005}},
      // One label more than 4 bits can distinguish.
      {{{3, 3, 3}, 1, k32},
       {3, 3, 3},
       {100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113,
        114, 115, 116, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100},
       {1,   0x08000009, 2,   0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c, 16,  0,
        0,   100,        101, 102,        103,        104,        105,        106, 107,
        108, 109,        110, 111,        112,        113,        114,        115, 116}},
      {{{2, 2, 2}, 1, k64},
       {8, 8, 8},
       {0, kMax, kMax / 2 + 1, 1234567890123, 0, kMax, kMax / 2 + 1, 1234567890123},
       {1, 0x02000022, 2,          0x6000c,   0, 0, 0, 0x6000c, 0, 0, 0, 0,          0,
        0, 0,          0,          0,         0, 0, 0, 0,       0, 0, 0, 0,          0,
        0, 0,          0,          0,         0, 0, 0, 0,       0, 0, 0, 1912276171, 287,
        0, 0x80000000, 0xffffffff, 0xffffffff}},
  };
  return goldens;
}

TEST_P(CompressedSegmentation, MakesTheBytesOfNeuroglancer) {
  for (const Golden& golden : Goldens()) {
    const auto stored =
        Encode(golden.shape, golden.block, Labels(golden.shape.type, golden.labels));
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_EQ(*stored, Words(golden.words)) << testing::PrintToString(golden.words);
  }
}

TEST_P(CompressedSegmentation, ReadsTheBytesOfNeuroglancer) {
  for (const Golden& golden : Goldens()) {
    const auto voxels = Decode(golden.shape, golden.block, Words(golden.words));
    ASSERT_TRUE(voxels) << voxels.error().message;
    EXPECT_EQ(*voxels, Labels(golden.shape.type, golden.labels));
  }
}

struct Digest {
  DataType type;
  Vec3 size;
  int64_t channels;
  Vec3 block;
  LabelPattern pattern;
  size_t bytes;
  uint64_t hash;
};

// Of what TensorStore 0.1.86 writes for these arrays, each as one chunk.
constexpr Digest kDigests[] = {
    // clang-format off
    {DataType::kUint32, {64, 64, 64}, 1, {8, 8, 8}, {16, 40, 1000, 7}, 4220, 0xc9cf26463afe5449},
    {DataType::kUint64, {64, 64, 64}, 1, {8, 8, 8}, {16, 40, 0xc00000000000000, 7}, 4340, 0x8b8b8221cf8606d4},
    {DataType::kUint32, {33, 29, 17}, 1, {8, 8, 8}, {3, 1000, 5, 1}, 28756, 0x5aacccae14b02fc1},
    {DataType::kUint64, {33, 29, 17}, 1, {8, 8, 8}, {3, 1000, 5, 0x200000000}, 34052, 0xa07a040adf685905},
    {DataType::kUint64, {40, 16, 16}, 1, {8, 8, 8}, {1, 3, 0, 0x8000000000000000}, 1460, 0x5c47bbbcfb2e8b20},
    {DataType::kUint32, {24, 24, 24}, 1, {8, 8, 8}, {1, 8, 0, 1}, 7164, 0x64bbcf97115eed},
    {DataType::kUint32, {16, 16, 16}, 1, {8, 8, 8}, {1, 16, 0, 268435456}, 2180, 0xfe301087ea0392c9},
    {DataType::kUint64, {16, 16, 16}, 1, {8, 8, 8}, {1, 17, 0, 0x4000000000000}, 4300, 0xf9f1da9f3fe490e4},
    {DataType::kUint32, {24, 16, 8}, 1, {8, 8, 8}, {1, 60, 9, 3}, 3364, 0x768476d32c3cc265},
    {DataType::kUint64, {16, 16, 16}, 1, {8, 8, 8}, {1, 200, 9, 3}, 16076, 0xd4dc14fedd21d04f},
    {DataType::kUint32, {16, 16, 16}, 1, {8, 8, 8}, {1, 256, 9, 3}, 11184, 0x9464d3c1543f6ba8},
    {DataType::kUint64, {16, 16, 16}, 1, {8, 8, 8}, {1, 100000, 9, 3}, 40940, 0x8baba404766336dc},
    {DataType::kUint32, {40, 40, 40}, 1, {16, 16, 16}, {1, 100000, 9, 3}, 473740, 0xbbdd979d84a0b4af},
    {DataType::kUint64, {32, 32, 8}, 2, {16, 16, 2}, {4, 30, 0x4d00000000, 1}, 10192, 0x4b7e0f0f7b5c3910},
    {DataType::kUint32, {20, 21, 22}, 3, {3, 5, 7}, {2, 12, 0, 5}, 33300, 0xc6f30d92ed775da4},
    {DataType::kUint64, {20, 21, 22}, 1, {64, 64, 64}, {4, 9, 0, 5}, 131156, 0x33b0fb4c0cda8b39},
    {DataType::kUint64, {30, 30, 30}, 1, {1, 1, 1}, {5, 9, 0, 5}, 216076, 0x8968a7ba71e8c188},
    {DataType::kUint32, {48, 48, 48}, 1, {48, 48, 48}, {1, 70000, 0, 3}, 443744, 0x1d22f0df96da3ec1},
    {DataType::kUint32, {64, 8, 4}, 1, {32, 4, 4}, {1, 2, 0, 9}, 300, 0x38ee4a4ea07db750},
    {DataType::kUint32, {9, 9, 9}, 1, {24, 9, 9}, {2, 5, 1, 1}, 1004, 0xac28075644c2e2a9},
    // clang-format on
};

TEST_P(CompressedSegmentation, MakesTheBytesOfTensorStore) {
  for (const Digest& digest : kDigests) {
    const ArrayShape shape{digest.size, digest.channels, digest.type};
    const ByteVector voxels = MakeLabels(shape, digest.pattern);
    const auto stored = Encode(shape, digest.block, voxels);
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_EQ(stored->size(), digest.bytes);
    EXPECT_EQ(StableHash(AsText(*stored)), digest.hash)
        << ToString(digest.size) << " in blocks of " << ToString(digest.block);
    const auto decoded = Decode(shape, digest.block, *stored);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, voxels);
  }
}

TEST_P(CompressedSegmentation, ReadsIndexesOfEveryWidth) {
  // Four voxels, each with its own index, in blocks that are whole and at most as wide.
  const ArrayShape shape{{4, 1, 1}, 1, k32};
  const Vec3 block = {4, 1, 1};
  const ByteVector voxels = Labels(k32, {12, 10, 13, 11});
  for (const auto& [bits, packed] :
       std::vector<std::pair<uint32_t, std::vector<uint32_t>>>{
           {2, {0b01'11'00'10}},
           {4, {0x1302}},
           {8, {0x01030002}},
           {16, {0x00000002, 0x00010003}},
           {32, {2, 0, 3, 1}}}) {
    const auto table = static_cast<uint32_t>(2 + packed.size());
    std::vector<uint32_t> words = {1, table | bits << 24, 2};
    words.insert(words.end(), packed.begin(), packed.end());
    words.insert(words.end(), {10, 11, 12, 13});
    const auto decoded = Decode(shape, block, Words(words));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, voxels) << bits;
  }
}

TEST_P(CompressedSegmentation, TakesABlockSizeFarLargerThanTheChunk) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  const ArrayShape shape{{2, 1, 1}, 1, k32};
  const auto stored = Encode(shape, {kHuge, kHuge, kHuge}, Labels(k32, {7, 7}));
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(*stored, Words({1, 2, 2, 7}));
  const auto decoded = Decode(shape, {kHuge, kHuge, kHuge}, *stored);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, Labels(k32, {7, 7}));
}

TEST_P(CompressedSegmentation, RefusesToMakeAChunkOf2To24Words) {
  const auto headers =
      Encode({{3000, 3000, 1}, 1, k32}, {1, 1, 1}, ByteVector(size_t{3000} * 3000 * 4));
  ASSERT_FALSE(headers);
  EXPECT_EQ(headers.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(headers.error().message, HasSubstr("a chunk of 3000,3000,1 in blocks of "
                                                 "1,1,1 takes 2^24 words or more"));

  const Vec3 limit = {int64_t{1} << 24, 31, 1};  // 2^24 - 2^19 words of 1 bit each voxel
  const Vec3 more = {int64_t{1} << 24, 32, 1};
  const ArrayShape two{{2, 1, 1}, 1, k32};
  const auto fits = Encode(two, limit, Labels(k32, {7, 8}));
  ASSERT_TRUE(fits) << fits.error().message;
  EXPECT_EQ(fits->size(), 4 * (3 + (size_t{31} << 19) + 2));
  const auto packed = Encode(two, more, Labels(k32, {7, 8}));
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.error().code, ErrorCode::kUnsupported);

  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  const auto overflow = Encode(two, {kHuge, kHuge, kHuge}, Labels(k32, {7, 8}));
  ASSERT_FALSE(overflow);
  EXPECT_EQ(overflow.error().code, ErrorCode::kUnsupported);
}

TEST_P(CompressedSegmentation, RejectsDamage) {
  const ArrayShape shape{{2, 2, 2}, 1, k64};
  const Vec3 block = {2, 2, 1};
  const std::vector<uint32_t> good = {1, 0x02000005, 4, 0x0100000c, 11, 97, 3, 0, 4,
                                      0, 5,          0, 14,         1,  0,  3, 0};
  ASSERT_TRUE(Decode(shape, block, Words(good)));
  const auto expect = [&](ByteVector stored, std::string_view message) {
    const auto decoded = Decode(shape, block, stored);
    ASSERT_FALSE(decoded) << message;
    EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(decoded.error().message, HasSubstr(message));
  };
  const auto with = [&](size_t word, uint32_t value) {
    std::vector<uint32_t> words = good;
    words[word] = value;
    return Words(words);
  };
  const auto first = [&](size_t count) {
    return Words({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(count)});
  };

  ByteVector cut = Words(good);
  cut.pop_back();
  expect(cut, "67 bytes, not a multiple of 4");
  expect({}, "0 words, too few for the offsets of 1 channels");
  expect(with(0, 18), "channel 0 at word 18, the chunk has 17 words");
  expect(first(4), "channel 0: 2 blocks have headers of 4 words, the stream has 3");
  expect(first(16), "block 0,0,1: index 1 in a label table that ends after 1 labels");
  expect(with(1, 5 | 3 << 24), "3 bits for each voxel, expected 0, 1, 2, 4, 8, 16 or 32");
  expect(with(1, 5 | 33 << 24), "33 bits for each voxel, expected");
  expect(with(2, 16),
         "block 0,0,0: 2 bits for each voxel at word 16 end past the stream of 16 words");
  expect(with(2, 0xffffffff), "at word 4294967295 end past");
  expect(with(1, 16 | 2 << 24), "no label table at word 16, the stream has 16 words");
  expect(with(1, 17), "no label table at word 17");
  expect(with(1, 15), "no label table at word 15");  // half a label
  expect(Words({1, 0x02000005, 4, 0x01000000, 11, 97, 3, 0, 4, 0, 5, 0}),
         "block 0,0,1: 1 bits for each voxel at word 11 end past the stream of 11 words");

  const auto channels = Decode({{1, 1, 1}, 2, k32}, block, Words({2, 9, 2, 2, 5}));
  ASSERT_FALSE(channels);
  EXPECT_EQ(channels.error().message, "channel 1 at word 9, the chunk has 5 words");
}

// Tables at the end of a stream may be shorter than their index could reach: vector code
// must not read on.
TEST_P(CompressedSegmentation, ChecksIndexesIntoTheLastTable) {
  for (const DataType type : {k32, k64}) {
    for (const uint64_t labels : {3, 5, 15, 17, 60, 200, 300}) {
      const ArrayShape shape{{8, 8, 8}, 1, type};
      const ByteVector voxels = MakeLabels(shape, {1, labels, 5, 2});
      auto stored = Encode(shape, {8, 8, 8}, voxels);
      ASSERT_TRUE(stored);
      stored->shrink_to_fit();  // Sanitizers see what is behind.
      const auto decoded = Decode(shape, {8, 8, 8}, *stored);
      ASSERT_TRUE(decoded) << decoded.error().message;
      EXPECT_EQ(*decoded, voxels);
      const ByteVector shorter(stored->begin(),
                               stored->end() - static_cast<std::ptrdiff_t>(SizeOf(type)));
      const auto damaged = Decode(shape, {8, 8, 8}, shorter);
      ASSERT_FALSE(damaged);
      EXPECT_THAT(damaged.error().message, HasSubstr("in a label table that ends after"));
    }
  }
}

TEST_P(CompressedSegmentation, NeverReadsPastATruncatedChunk) {
  const ArrayShape shape{{17, 9, 8}, 2, k64};
  const ByteVector voxels = MakeLabels(shape, {2, 20, uint64_t{1} << 40, 3});
  const auto whole = Encode(shape, {8, 8, 8}, voxels);
  ASSERT_TRUE(whole);
  for (size_t length = 0; length < whole->size(); ++length) {
    ByteVector part(whole->begin(), whole->begin() + static_cast<std::ptrdiff_t>(length));
    part.shrink_to_fit();
    EXPECT_FALSE(Decode(shape, {8, 8, 8}, part)) << length;
  }
}

TEST(LabelIndex, NumbersLabelsThatAreMadeToCollide) {
  // The inverse of the multiplier: with it, all of these hash to the first slots.
  uint64_t inverse = 1;
  for (int i = 0; i < 6; ++i) inverse *= 2 - 0x9e3779b97f4a7c15 * inverse;
  std::vector<uint64_t> labels;
  for (uint64_t i = 0; i < 20000; ++i) labels.push_back(i % 10000 * inverse);
  std::vector<uint32_t> ids(labels.size());
  LabelIndex<uint64_t> index;
  index.Number(labels.data(), labels.size(), ids.data());
  ASSERT_EQ(index.distinct().size(), 10000);
  for (size_t i = 0; i < labels.size(); ++i) {
    ASSERT_EQ(ids[i], i % 10000);
    ASSERT_EQ(index.distinct()[ids[i]], labels[i]);
  }
}

TEST(LabelIndex, ForgetsTheBlockBefore) {
  LabelIndex<uint32_t> index;
  std::vector<uint32_t> ids(3);
  index.Number(std::vector<uint32_t>{5, 6, 5}.data(), 3, ids.data());
  EXPECT_EQ(ids, (std::vector<uint32_t>{0, 1, 0}));
  index.Number(std::vector<uint32_t>{6, 0, 0}.data(), 3, ids.data());
  EXPECT_EQ(ids, (std::vector<uint32_t>{0, 1, 1}));
  EXPECT_EQ(index.distinct(), (std::vector<uint32_t>{6, 0}));
}

TEST(LabelSorter, SortsWhatFallsIntoOneBucket) {
  std::vector<uint64_t> labels = {~uint64_t{0}};
  for (uint64_t i = 0; i < 100; ++i) labels.push_back(i * 37 % 100);
  std::vector<uint64_t> sorted;
  std::vector<uint32_t> ranks;
  LabelSorter<uint64_t> sorter;
  sorter.Sort(labels, sorted, ranks);
  for (uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(sorted[i], i);
    EXPECT_EQ(ranks[1 + i], i * 37 % 100);
  }
  EXPECT_EQ(sorted.back(), ~uint64_t{0});
  EXPECT_EQ(ranks[0], 100);
}

}  // namespace
}  // namespace dolium::volume
