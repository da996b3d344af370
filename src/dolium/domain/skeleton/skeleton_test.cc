#include "dolium/domain/skeleton/skeleton.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/formats/neuroglancer/testing/shards.h"

namespace dolium::skeleton {
namespace {

using neuroglancer::FromHex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kBytes =
    "030000000200000000000000000000000000000000000041000000000000000000000041000000410000"
    "000000000000010000000100000002000000"
    "0000c03f00002040000060400000204100"
    "00a0410000f041";

SkeletonInfo TwoAttributes() {
  SkeletonInfo info;
  info.attributes = {{"radius"}, {"cross_sectional_area"}};
  return info;
}

TEST(Skeleton, IsTheBytesOfTheFormat) {
  const auto skeleton = ParseSkeleton(FromHex(kBytes), TwoAttributes());
  ASSERT_TRUE(skeleton) << skeleton.error().message;
  EXPECT_THAT(skeleton->vertices,
              ElementsAre(Point{0, 0, 0}, Point{8, 0, 0}, Point{8, 8, 0}));
  EXPECT_THAT(skeleton->edges, ElementsAre(Edge{0, 1}, Edge{1, 2}));
  EXPECT_TRUE(Equal(skeleton->attributes[0], FromHex("0000c03f0000204000006040")));
  EXPECT_TRUE(Equal(skeleton->attributes[1], FromHex("000020410000a0410000f041")));
  EXPECT_EQ(skeleton->trailing_bytes, 0U);
  const auto bytes = WriteSkeleton(*skeleton, TwoAttributes());
  ASSERT_TRUE(bytes);
  EXPECT_TRUE(Equal(*bytes, FromHex(kBytes)));
}

TEST(Skeleton, RejectsEveryTruncation) {
  const ByteVector bytes = FromHex(kBytes);
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto skeleton = ParseSkeleton(BytesView(bytes).first(length), TwoAttributes());
    ASSERT_FALSE(skeleton) << length;
    EXPECT_EQ(skeleton.error().code, ErrorCode::kCorrupt);
  }
}

TEST(Skeleton, CountsBytesThatNoAttributeHas) {
  const auto skeleton = ParseSkeleton(FromHex(kBytes), {});
  ASSERT_TRUE(skeleton);
  EXPECT_EQ(skeleton->trailing_bytes, 24U);
  EXPECT_THAT(skeleton->attributes, SizeIs(0));
}

TEST(Skeleton, RejectsWhatDoesNotFit) {
  ByteVector bytes = FromHex(kBytes);
  bytes[44] = std::byte{3};
  EXPECT_EQ(ParseSkeleton(bytes, TwoAttributes()).error().message,
            "edge 0 has vertex 3, there are 3");
  bytes = FromHex(kBytes);
  bytes[3] = std::byte{0xff};
  EXPECT_THAT(ParseSkeleton(bytes, TwoAttributes()).error().message,
              HasSubstr("vertex_positions needs 51338280996 bytes"));
  bytes = FromHex(kBytes);
  bytes[10] = std::byte{0xc0};
  bytes[11] = std::byte{0x7f};
  EXPECT_EQ(ParseSkeleton(bytes, TwoAttributes()).error().message,
            "vertex 0 is (nan, 0, 0), expected finite numbers");
}

TEST(Skeleton, HasAttributesOfAllTypesAndAnyNumberOfComponents) {
  SkeletonInfo info;
  Skeleton skeleton{{{1, 2, 3}, {4, 5, 6}}, {{0, 1}}, {}};
  uint32_t components = 1;
  for (const AttributeType type :
       {AttributeType::kFloat32, AttributeType::kInt8, AttributeType::kUint8,
        AttributeType::kInt16, AttributeType::kUint16, AttributeType::kInt32,
        AttributeType::kUint32}) {
    info.attributes.push_back({std::string(ToString(type)), type, components++});
    skeleton.attributes.emplace_back(2 * info.attributes.back().vertex_bytes(),
                                     std::byte{0x41});
  }
  const auto bytes = WriteSkeleton(skeleton, info);
  ASSERT_TRUE(bytes) << bytes.error().message;
  const auto again = ParseSkeleton(*bytes, info);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, skeleton);
  EXPECT_FALSE(IsShownByClients(info));
  const auto parsed = ParseSkeletonInfo(ToJson(info));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, info);
}

TEST(Skeleton, ConvertsIntegersForClients) {
  SkeletonInfo info;
  info.attributes = {{"a", AttributeType::kInt8, 2}, {"b", AttributeType::kUint16, 1}};
  const Skeleton skeleton{{{0, 0, 0}}, {}, {FromHex("ff02"), FromHex("ffff")}};
  const SkeletonInfo converted = AsFloat32(info);
  EXPECT_TRUE(IsShownByClients(converted));
  EXPECT_EQ(converted.attributes[0].num_components, 2U);
  const Skeleton floats = AsFloat32(skeleton, info);
  EXPECT_TRUE(Equal(floats.attributes[0], FromHex("000080bf00000040")));
  EXPECT_TRUE(Equal(floats.attributes[1], FromHex("00ff7f47")));
}

TEST(Skeleton, RefusesToWriteAttributesThatDoNotFitTheInfo) {
  Skeleton skeleton{{{0, 0, 0}}, {}, {FromHex("00000000")}};
  EXPECT_EQ(WriteSkeleton(skeleton, TwoAttributes()).error().message,
            "1 attributes, the info has 2");
  skeleton.attributes.push_back(FromHex("0000"));
  EXPECT_EQ(WriteSkeleton(skeleton, TwoAttributes()).error().message,
            "attribute \"cross_sectional_area\" is 2 bytes, expected 4 for each of 1 "
            "vertices");
}

TEST(SkeletonInfo, KeepsWhatItDoesNotKnow) {
  const auto info = ParseSkeletonInfo(
      R"({"@type": "neuroglancer_skeletons", "mip": 3, "vertex_attributes":
          [{"id": "radius", "data_type": "FLOAT32", "num_components": 1.0}],
          "transform": [1,0,0,5, 0,1,0,0, 0,0,1,0], "sharding": null})");
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->extra.at("mip"), "3");
  EXPECT_EQ(info->transform[3], 5);
  EXPECT_THAT(info->attributes, ElementsAre(Attribute{"radius"}));
  const auto again = ParseSkeletonInfo(ToJson(*info));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *info);
}

TEST(SkeletonInfo, TakesOneOfCloudVolumeWithoutAType) {
  const auto info = ParseSkeletonInfo(R"({"spatial_index": {"chunk_size": [1, 2, 3]}})");
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_THAT(info->attributes, SizeIs(0));
}

TEST(SkeletonInfo, NamesTheMemberThatIsWrong) {
  const auto message = [](std::string_view attributes) {
    const auto info = ParseSkeletonInfo(
        "{\"@type\": \"neuroglancer_skeletons\", \"vertex_attributes\": " +
        std::string(attributes) + "}");
    EXPECT_FALSE(info);
    EXPECT_EQ(info.error().code, ErrorCode::kCorrupt);
    return info.error().message;
  };
  EXPECT_EQ(message("3"), "vertex_attributes: found 3, expected an array");
  EXPECT_EQ(message("[3]"), "vertex_attributes[0]: found 3, expected an object");
  EXPECT_EQ(message(R"([{"id": ""}])"),
            "vertex_attributes[0].id: found \"\", expected a string that is not empty");
  EXPECT_EQ(
      message(R"([{"id": "a", "data_type": "uint64"}])"),
      "vertex_attributes[0].data_type: found \"uint64\", expected float32, int8, uint8, "
      "int16, uint16, int32 or uint32");
  EXPECT_EQ(message(R"([{"id": "a", "data_type": "uint8", "num_components": 0}])"),
            "vertex_attributes[0].num_components: found 0, expected an integer from 1 to "
            "65536");
  EXPECT_EQ(message(R"([{"id": "a", "data_type": "uint8", "num_components": 1},
                        {"id": "a", "data_type": "uint8", "num_components": 1}])"),
            "attribute \"a\" is there twice");
}

}  // namespace
}  // namespace dolium::skeleton
