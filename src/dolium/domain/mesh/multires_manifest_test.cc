#include "dolium/domain/mesh/multires_manifest.h"

#include <bit>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/formats/neuroglancer/mesh_manifest.h"
#include "dolium/formats/neuroglancer/testing/shards.h"

namespace dolium::mesh {
namespace {

using neuroglancer::FromHex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kBytes =
    "000020410000a0410000f0410000803f0000004000004040020000000000803f00000040000000000000"
    "0000000000000000003f0000003f0000003f030000000100000000000000010000000000000000000000"
    "000000000100000000000000000000000000000064000000000000003200000000000000000000000000"
    "0"
    "0003c000000";

Manifest Example() {
  Manifest manifest;
  manifest.chunk_shape = {10, 20, 30};
  manifest.grid_origin = {1, 2, 3};
  manifest.levels = {{1, {0, 0, 0}, {{{0, 0, 0}, 100}, {{1, 0, 0}, 0}, {{0, 1, 0}, 50}}},
                     {2, {0.5F, 0.5F, 0.5F}, {{{0, 0, 0}, 60}}}};
  return manifest;
}

TEST(Manifest, IsTheBytesOfTheFormat) {
  const auto bytes = WriteManifest(Example());
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_TRUE(Equal(*bytes, FromHex(kBytes)));
  const auto manifest = ParseManifest(FromHex(kBytes));
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(*manifest, Example());
  EXPECT_EQ(manifest->fragment_bytes(), 210U);
  // What the sharded format knows of it.
  const auto sum = neuroglancer::FragmentBytes(*bytes);
  ASSERT_TRUE(sum);
  EXPECT_EQ(*sum, 210U);
}

TEST(Manifest, KnowsWhereFragmentsAre) {
  EXPECT_THAT(FragmentRanges(Example(), 0),
              ElementsAre(ByteRange{0, 100}, ByteRange{100, 0}, ByteRange{100, 50}));
  EXPECT_THAT(FragmentRanges(Example(), 1), ElementsAre(ByteRange{150, 60}));
}

TEST(Manifest, RejectsEveryTruncationAndEveryByteMore) {
  ByteVector bytes = FromHex(kBytes);
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto manifest = ParseManifest(BytesView(bytes).first(length));
    ASSERT_FALSE(manifest) << length;
    EXPECT_EQ(manifest.error().code, ErrorCode::kCorrupt);
  }
  bytes.push_back(std::byte{0});
  EXPECT_EQ(ParseManifest(bytes).error().message,
            "manifest is 133 bytes, its counts make 132");
}

TEST(Manifest, AllocatesNothingForALyingCount) {
  ByteVector bytes = FromHex(kBytes);
  for (size_t i = 24; i < 28; ++i) bytes[i] = std::byte{0xff};
  EXPECT_EQ(ParseManifest(bytes).error().message,
            "num_lods is 4294967295, expected 1 to 32");
  bytes = FromHex(kBytes);
  for (size_t i = 60; i < 64; ++i) bytes[i] = std::byte{0xff};
  EXPECT_THAT(ParseManifest(bytes).error().message,
              HasSubstr("fragments of level 0 needs 68719476720 bytes"));
}

TEST(Manifest, RejectsNumbersThatAreNoExtents) {
  const auto message = [](size_t word, float value) {
    ByteVector bytes = FromHex(kBytes);
    StoreLE(&bytes[4 * word], std::bit_cast<uint32_t>(value));
    const auto manifest = ParseManifest(bytes);
    EXPECT_FALSE(manifest);
    return manifest ? std::string() : manifest.error().message;
  };
  EXPECT_EQ(message(0, 0.0F),
            "chunk_shape is (0, 20, 30), expected three finite numbers above 0");
  EXPECT_THAT(message(1, std::nanf("")), HasSubstr("chunk_shape is (10, nan, 30)"));
  EXPECT_THAT(message(3, std::numeric_limits<float>::infinity()),
              HasSubstr("grid_origin is (inf, 2, 3)"));
  EXPECT_THAT(message(7, -1.0F), HasSubstr("lod_scales[0] is -1"));
  EXPECT_THAT(message(9, std::nanf("")), HasSubstr("vertex_offsets[0] is (nan, 0, 0)"));
}

TEST(Manifest, RejectsMoreLevelsThanThereCanBe) {
  Manifest manifest;
  manifest.levels.resize(kMaxLevels + 1);
  EXPECT_EQ(WriteManifest(manifest).error().message, "num_lods is 33, expected 1 to 32");
  manifest.levels.clear();
  EXPECT_EQ(WriteManifest(manifest).error().message, "num_lods is 0, expected 1 to 32");
}

// The pairs of the client's own test.
TEST(CellBefore, IsTheOrderOfTheClient) {
  struct Case {
    Cell a;
    Cell b;
    bool before;
  };
  for (const Case& c :
       {Case{{0, 0, 0}, {0, 0, 0}, false}, Case{{0, 0, 0}, {0, 0, 1}, true},
        Case{{0, 0, 0}, {0, 1, 0}, true}, Case{{0, 0, 0}, {1, 0, 0}, true},
        Case{{0, 0, 1}, {0, 0, 0}, false}, Case{{0, 1, 0}, {0, 0, 0}, false},
        Case{{1, 0, 0}, {0, 0, 0}, false}, Case{{1, 0, 0}, {0, 1, 0}, true},
        Case{{0, 1, 0}, {0, 0, 1}, true}, Case{{0, 1, 0}, {1, 1, 0}, true},
        Case{{1, 1, 0}, {2, 0, 0}, true}}) {
    EXPECT_EQ(CellBefore(c.a, c.b), c.before)
        << testing::PrintToString(c.a) << " " << testing::PrintToString(c.b);
  }
}

TEST(CheckManifest, FindsNothingInAGoodOne) {
  EXPECT_THAT(CheckManifest(Example(), 210), IsEmpty());
}

TEST(CheckManifest, FindsCellsOutOfOrder) {
  Manifest manifest = Example();
  std::swap(manifest.levels[0].fragments[1], manifest.levels[0].fragments[2]);
  EXPECT_THAT(
      CheckManifest(manifest),
      ElementsAre("level 0: the cell (1, 0, 0) of fragment 2 is not in Z order after "
                  "(0, 1, 0)"));
  EXPECT_EQ(WriteManifest(manifest).error().code, ErrorCode::kInvalidArgument);
}

TEST(CheckManifest, FindsACellThatIsThereTwice) {
  Manifest manifest = Example();
  manifest.levels[0].fragments[1].cell = {0, 0, 0};
  EXPECT_THAT(
      CheckManifest(manifest),
      ElementsAre("level 0: the cell (0, 0, 0) of fragment 1 is that of fragment 0 "
                  "as well"));
}

TEST(CheckManifest, FindsACellWithoutAParentAndTakesAnEmptyOne) {
  Manifest manifest = Example();
  manifest.levels[0].fragments.push_back({{2, 0, 0}, 5});
  EXPECT_THAT(
      CheckManifest(manifest),
      ElementsAre("level 0: the cell (2, 0, 0) has no parent (1, 0, 0) at level 1"));
  manifest.levels[1].fragments.push_back({{1, 0, 0}, 0});
  EXPECT_THAT(CheckManifest(manifest), IsEmpty());
}

TEST(CheckManifest, LetsLevelsBeAbsent) {
  Manifest manifest = Example();
  manifest.levels[1] = {0, {0, 0, 0}, {}};
  EXPECT_THAT(CheckManifest(manifest), IsEmpty());
}

TEST(CheckManifest, FindsScalesThatDecrease) {
  Manifest manifest = Example();
  manifest.levels[1].scale = 0.5F;
  EXPECT_THAT(CheckManifest(manifest),
              ElementsAre("lod_scales[1] is 0.5, less than 1 of a finer level"));
}

TEST(CheckManifest, FindsThatNothingIsDrawn) {
  Manifest manifest = Example();
  manifest.levels[0].fragments.clear();
  EXPECT_THAT(CheckManifest(manifest),
              ElementsAre("level 0 has no fragments, so that nothing is drawn"));
}

TEST(CheckManifest, FindsMoreFragmentsThanBytes) {
  EXPECT_THAT(CheckManifest(Example(), 209),
              ElementsAre("fragments take 210 bytes, there are 209"));
}

}  // namespace
}  // namespace dolium::mesh
