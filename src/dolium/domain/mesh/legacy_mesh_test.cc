#include "dolium/domain/mesh/legacy_mesh.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/mesh/testing/shapes.h"
#include "dolium/formats/neuroglancer/testing/shards.h"

namespace dolium::mesh {
namespace {

using neuroglancer::FromHex;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kFragment =
    "030000000000000000000000000000000000803f0000000000000000000000000000803f000000000000"
    "00000100000002000000";

TEST(LegacyManifest, NamesFragments) {
  const auto names =
      ParseLegacyManifest(R"({"fragments": ["7:0:0-256", "sub/7:0:1", "a"]})");
  ASSERT_TRUE(names) << names.error().message;
  EXPECT_THAT(*names, ElementsAre("7:0:0-256", "sub/7:0:1", "a"));
  const auto text = WriteLegacyManifest(*names);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, R"({"fragments":["7:0:0-256","sub/7:0:1","a"]})");
}

TEST(LegacyManifest, RejectsNamesThatLeadOutOfTheFolder) {
  for (const char* name : {"../x", "/x", "", ".", "..", "a/../../x", "a/.."}) {
    const auto names =
        ParseLegacyManifest("{\"fragments\": [\"" + std::string(name) + "\"]}");
    ASSERT_FALSE(names) << name;
    EXPECT_EQ(names.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(names.error().message, HasSubstr("expected a name within the folder"));
    const std::string one = name;
    EXPECT_FALSE(WriteLegacyManifest(std::span(&one, 1))) << name;
  }
}

TEST(LegacyManifest, RejectsWhatIsNone) {
  for (const char* text :
       {"", "[]", "{}", "{\"fragments\": 3}", "{\"fragments\": [3]}"}) {
    const auto names = ParseLegacyManifest(text);
    ASSERT_FALSE(names) << text;
    EXPECT_EQ(names.error().code, ErrorCode::kCorrupt);
  }
}

TEST(LegacyFragment, IsTheBytesOfTheFormat) {
  const Mesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  const auto bytes = WriteLegacyFragment(mesh);
  ASSERT_TRUE(bytes);
  EXPECT_TRUE(Equal(*bytes, FromHex(kFragment)));
  const auto parsed = ParseLegacyFragment(*bytes);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, mesh);
}

TEST(LegacyFragment, RejectsWhatDoesNotFit) {
  const ByteVector bytes = FromHex(kFragment);
  for (size_t length = 0; length < bytes.size(); ++length) {
    // A mesh without triangles is a mesh.
    EXPECT_EQ(bool{ParseLegacyFragment(BytesView(bytes).first(length))}, length == 40)
        << length;
  }
  ByteVector far = bytes;
  far[48] = std::byte{3};
  EXPECT_EQ(ParseLegacyFragment(far).error().message,
            "triangle 0 has vertex 3, there are 3");
  ByteVector many = bytes;
  many[3] = std::byte{0xff};
  EXPECT_THAT(ParseLegacyFragment(many).error().message,
              HasSubstr("vertex positions needs 51338280996 bytes"));
  ByteVector infinite = bytes;
  infinite[6] = std::byte{0x80};
  infinite[7] = std::byte{0x7f};
  EXPECT_EQ(ParseLegacyFragment(infinite).error().message,
            "vertex 0 is (inf, 0, 0), expected finite numbers");
}

TEST(LegacyFragment, ReadsDraco) {
  const auto bytes = EncodeFragment({{{0, 0, 0}, {7, 0, 0}, {0, 9, 1}}, {{0, 1, 2}}}, 10);
  ASSERT_TRUE(bytes);
  const auto mesh = ParseLegacyFragment(*bytes);
  ASSERT_TRUE(mesh) << mesh.error().message;
  EXPECT_EQ(Corners(*mesh),
            Corners(Mesh{{{0, 0, 0}, {7, 0, 0}, {0, 9, 1}}, {{0, 1, 2}}}));
}

}  // namespace
}  // namespace dolium::mesh
