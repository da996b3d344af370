#include "dolium/domain/volume/encodings/compresso.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/stable_hash.h"
#include "dolium/domain/volume/testing/patterned_labels.h"

namespace dolium::volume {
namespace {

using testing::HasSubstr;

ByteVector FromHex(std::string_view hex) {
  ByteVector bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(
        static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

ByteVector CompressoLabels(DataType type, const std::vector<uint64_t>& labels) {
  ByteVector bytes;
  for (const uint64_t label : labels) {
    for (size_t i = 0; i < SizeOf(type); ++i) {
      bytes.push_back(static_cast<std::byte>(label >> (8 * i)));
    }
  }
  return bytes;
}

Result<ByteVector> Decode(const ArrayShape& shape, BytesView stored) {
  ByteVector voxels(static_cast<size_t>(*shape.bytes()), std::byte{0xa5});
  DOLIUM_TRY_VOID(DecodeCompresso(shape, stored, voxels));
  return voxels;
}

struct CompressoGolden {
  ArrayShape shape;
  std::vector<uint64_t> labels;
  std::string_view hex;
};

// Made by the package, with its defaults.
const std::vector<CompressoGolden>& CompressoGoldens() {
  static const std::vector<CompressoGolden> goldens = {
      {{{2, 2, 1}, 1, DataType::kUint8},
       {1, 1, 2, 2},
       "6370736f0101020002000100040401010000000000000001000000020000000000000004020300080"
       "8030"
       "00100"},
      {{{4, 4, 1}, 1, DataType::kUint32},
       std::vector<uint64_t>(16, 7),
       "6370736f0104040004000100040401010000000000000001000000000000000000000004070000000"
       "000030"
       "00100"},
      {{{4, 4, 1}, 1, DataType::kUint64},
       {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3, 2, 2},
       "6370736f0108040004000100040401030000000000000001000000010000000000000004010000000"
       "00000"
       "00020000000000000003000000000000003222080000000000000003000300"},
      {{{2, 2, 2}, 1, DataType::kUint16},
       {1, 2, 3, 4, 5, 6, 7, 8},
       "6370736f0102020002000200040401020000000000000001000000060000000000000004040008001"
       "3000800"
       "09000a000c000d000e00050001010003"},
      {{{3, 3, 1}, 1, DataType::kUint8},
       {0, 255, 254, 0, 249, 248, 0, 0, 1},
       "6370736f0101030003000100040401020000000000000001000000090000000000000004000177020"
       "706ff06"
       "fe0306f9ff03000200"},
  };
  return goldens;
}

TEST(EncodeCompresso, MakesTheBytesOfThePackage) {
  for (const CompressoGolden& golden : CompressoGoldens()) {
    const auto stored =
        EncodeCompresso(golden.shape, CompressoLabels(golden.shape.type, golden.labels));
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_EQ(*stored, FromHex(golden.hex)) << golden.hex;
  }
}

TEST(DecodeCompresso, ReadsTheBytesOfThePackage) {
  for (const CompressoGolden& golden : CompressoGoldens()) {
    const auto voxels = Decode(golden.shape, FromHex(golden.hex));
    ASSERT_TRUE(voxels) << voxels.error().message;
    EXPECT_EQ(*voxels, CompressoLabels(golden.shape.type, golden.labels));
  }
}

TEST(DecodeCompresso, ReadsWindowsOf8x8) {
  const std::vector<uint64_t> slice = {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3, 2, 2};
  std::vector<uint64_t> labels = slice;
  labels.insert(labels.end(), slice.begin(), slice.end());
  const auto voxels = Decode({{4, 4, 2}, 1, DataType::kUint32},
                             FromHex("6370736f0104040004000200080801060000000000000001000"
                                     "000020000000000000004010000000"
                                     "200000003000000010000000200000003000000020302020000"
                                     "00000800000008000000050000000"
                                     "000000003030001"));
  ASSERT_TRUE(voxels) << voxels.error().message;
  EXPECT_EQ(*voxels, CompressoLabels(DataType::kUint32, labels));
}

// One array that the package has encoded in all the other ways it knows.
TEST(DecodeCompresso, ReadsEveryVersionConnectivityAndWindow) {
  const ArrayShape shape{{5, 4, 3}, 1, DataType::kUint16};
  const ByteVector expected = CompressoLabels(
      shape.type,
      {0,    0,    1100, 1100, 0,    0,    7,    1100, 1100, 0,     3100, 3100,
       2100, 2100, 5100, 3100, 3100, 2100, 2100, 5100, 0,    0,     1100, 1100,
       0,    0,    7,    1100, 1100, 0,    3100, 3100, 2100, 65535, 5100, 3100,
       3100, 2100, 2100, 5100, 1100, 1100, 2100, 2100, 3100, 1100,  7,    2100,
       2100, 3100, 2100, 2100, 0,    0,    4100, 2100, 2100, 0,     0,    4100});
  const std::string_view streams[] = {
      // Version 0, connectivity 6, 4 x 4 x 1.
      "6370736f00020500040003000404010c000000000000000400000010000000000000000600004c0400"
      "001c0c"
      "3408ec134c0434081c0c34080000041010001111faaaffff0e0053040700530407000e005304530407"
      "002"
      "30c0600ffff230c3b080e003b08040003000600020004000300",
      // Version 0, connectivity 6, 2 x 2 x 2.
      "6370736f00020500040003000202020c000000000000000800000010000000000000000600004c0400"
      "001c0c"
      "3408ec134c0434081c0c34080000041000040a0e5054fafe0e0053040700530407000e005304530407"
      "002"
      "30c0600ffff230c3b080e003b080e0e0a0c0c08060602040403",
      // Version 0, connectivity 4, 4 x 4 x 1.
      "6370736f000205000400030004040112000000000000000300000009000000000000000400004c0400"
      "001c0c"
      "3408ec1300004c0400001c0cec1334084c0434081c0c3408000004101000faaafaae0e0053040e0053"
      "040"
      "3000600ffff0e003b08020003000400030002000300",
      // Version 1, connectivity 4, 3 x 5 x 2.
      "6370736f010205000400030003050212000000000000000400000009000000000000000400004c0400"
      "001c0c"
      "3408ec1300004c0400001c0cec1334084c0434081c0c34080000041059020000ba04000059822c01ba"
      "04d"
      "d020e0053040e00530403000600ffff0e003b080600000004000000020000000300000006060600020"
      "5",
      // Version 1, connectivity 4, 8 x 8 x 1.
      "6370736f010205000400030008080112000000000000000200000009000000000000000400004c0400"
      "001c0c"
      "3408ec1300004c0400001c0cec1334084c0434081c0c3408000004100a1f0a0a000000000a1f0e0a00"
      "0000"
      "000e0053040e00530403000600ffff0e003b0803000000000000000200000000000000030000000000"
      "000"
      "0060606000205",
      // Version 0, connectivity 4, 5 x 4 x 3.
      "6370736f000205000400030005040312000000000000000100000009000000000000000400004c0400"
      "001c0c"
      "3408ec1300004c0400001c0cec1334084c0434081c0c340800000410ea2ba5be53ea2b050e0053040e"
      "005"
      "30403000600ffff0e003b080300000000000000",
  };
  for (const std::string_view stream : streams) {
    const auto voxels = Decode(shape, FromHex(stream));
    ASSERT_TRUE(voxels) << voxels.error().message;
    EXPECT_EQ(*voxels, expected) << stream;
  }
}

struct CompressoDigest {
  DataType type;
  Vec3 size;
  LabelPattern pattern;
  size_t bytes;
  uint64_t hash;
};

// Of what compresso 3.3.3 makes of these arrays. The last one has more windows than 4 x 4
// ones can be distinguished.
constexpr CompressoDigest kCompressoDigests[] = {
    // clang-format off
    {DataType::kUint8, {65, 33, 9}, {3, 200, 0, 1}, 6918, 0xce574b45a28523b1},
    {DataType::kUint16, {64, 64, 4}, {5, 3000, 0, 21}, 4648, 0x2a9c5418f183f5e2},
    {DataType::kUint32, {100, 50, 10}, {7, 90, 0x80000000, 1}, 15318, 0x614838b2d6585cb0},
    {DataType::kUint64, {129, 17, 5}, {4, 50, 0x8000000000000000, 0x10000000000}, 13150, 0x35e6cacf167028dc},
    {DataType::kUint32, {1, 1, 1}, {1, 5, 3, 1}, 46, 0x5a94c6afe6d816f},
    {DataType::kUint64, {3, 200, 2}, {1, 2, 0, 0xfffffffffffffffd}, 7092, 0x2c1285a54e74b167},
    {DataType::kUint8, {9, 11, 3}, {1, 251, 5, 1}, 407, 0x6e36fd6f6ea492e4},
    {DataType::kUint32, {70, 80, 2}, {1, 7, 0, 1}, 44538, 0x2576f4ec1e26dc5},
    {DataType::kUint8, {512, 512, 32}, {1, 3, 1, 0}, 5869291, 0x898ed318065660cd},
    // clang-format on
};

TEST(EncodeCompresso, MakesTheBytesOfThePackageForLargerArrays) {
  for (const CompressoDigest& digest : kCompressoDigests) {
    const ArrayShape shape{digest.size, 1, digest.type};
    const ByteVector voxels = MakeLabels(shape, digest.pattern);
    const auto stored = EncodeCompresso(shape, voxels);
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_EQ(stored->size(), digest.bytes);
    EXPECT_EQ(StableHash(AsText(*stored)), digest.hash) << ToString(digest.size);
    const auto decoded = Decode(shape, *stored);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_TRUE(*decoded == voxels);
  }
}

TEST(EncodeCompresso, RefusesASideThatTheHeaderCannotHold) {
  const ArrayShape longest{{65535, 1, 1}, 1, DataType::kUint8};
  EXPECT_TRUE(EncodeCompresso(longest, ByteVector(65535)));
  const ArrayShape longer{{1, 65536, 1}, 1, DataType::kUint8};
  const auto stored = EncodeCompresso(longer, ByteVector(65536));
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(stored.error().message,
              HasSubstr("a chunk of 1,65536,1 has a side of more than 65535 voxels"));
}

class DamagedCompresso : public testing::Test {
 protected:
  // 3 x 3 uint8; ids at 36, 1 window value at 38, 9 locations at 40, 1 run at 49, index.
  const ArrayShape shape_{{3, 3, 1}, 1, DataType::kUint8};
  const ByteVector good_ = FromHex(CompressoGoldens().back().hex);

  void ExpectCorrupt(const ByteVector& stored, std::string_view message) const {
    const auto decoded = Decode(shape_, stored);
    ASSERT_FALSE(decoded) << message;
    EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(decoded.error().message, HasSubstr(message));
  }
  ByteVector With(size_t at, uint8_t value) const {
    ByteVector bytes = good_;
    bytes.at(at) = std::byte{value};
    return bytes;
  }
};

TEST_F(DamagedCompresso, IsRejected) {
  ASSERT_TRUE(Decode(shape_, good_));
  ExpectCorrupt({}, "magic needs 4 bytes at 0, 0 remain");
  ExpectCorrupt(With(0, 'C'), "does not begin with \"cpso\"");
  ExpectCorrupt(With(4, 2), "format version 2, expected 0 or 1");
  ExpectCorrupt(With(5, 2), "labels of 2 bytes, expected 1 (uint8)");
  ExpectCorrupt(With(6, 4), "size 4,3,1, expected 3,3,1");
  ExpectCorrupt(With(12, 0), "windows of 0 x 4 x 1 voxels, expected 1 to 64 voxels");
  ExpectCorrupt(With(14, 5), "windows of 4 x 4 x 5 voxels");
  ExpectCorrupt(With(22, 0x80), "ids needs 9223372036854775810 bytes at 36");
  ExpectCorrupt(With(26, 0xff), "window values needs");
  ExpectCorrupt(With(34, 0xff), "locations needs");
  ExpectCorrupt(With(35, 5), "connectivity 5, expected 4 or 6");
  ExpectCorrupt(With(15, 1), "windows take 3 bytes, not a multiple of 2");
  ExpectCorrupt(With(49, 5), "2 more windows after 0 of 1");
  ExpectCorrupt(With(49, 2), "window 0 has value 1 of 1");
  ExpectCorrupt(With(38, 0x57), "2 ids for at least 3 components");
  ExpectCorrupt(With(38, 0x01), "2 ids for 1 components");
}

TEST_F(DamagedCompresso, HasEachOfItsLocationsChecked) {
  // The first location is of voxel 1,0: 0 is to its left, and at no boundary it is not.
  for (const int code : {0, 2, 4, 5}) {
    ExpectCorrupt(With(40, static_cast<uint8_t>(code)), "makes no sense for voxel");
  }
  ByteVector fewer = good_;
  fewer.erase(fewer.begin() + 48);
  fewer[27] = std::byte{8};
  ExpectCorrupt(fewer, "location 8 of 8 makes no sense for voxel");
  ByteVector more = good_;
  more.insert(more.begin() + 49, std::byte{9});
  more[27] = std::byte{10};
  ExpectCorrupt(more, "10 locations, 9 of them used");
}

TEST(DecodeCompresso, NeverAcceptsATruncatedChunk) {
  const ArrayShape shape{{20, 13, 4}, 1, DataType::kUint32};
  const ByteVector voxels = MakeLabels(shape, {3, 30, 5, 1});
  const auto whole = EncodeCompresso(shape, voxels);
  ASSERT_TRUE(whole);
  for (size_t length = 0; length < whole->size(); ++length) {
    ByteVector part(whole->begin(), whole->begin() + static_cast<std::ptrdiff_t>(length));
    part.shrink_to_fit();
    EXPECT_FALSE(Decode(shape, part)) << length;
  }
}

}  // namespace
}  // namespace dolium::volume
