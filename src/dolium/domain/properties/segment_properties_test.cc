#include "dolium/domain/properties/segment_properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"

namespace dolium::properties {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SegmentProperties Example() {
  SegmentProperties properties;
  properties.ids = {7, 0, 18446744073709551615U};
  SegmentProperty size{.id = "size", .kind = PropertyKind::kNumber};
  size.description = "voxels";
  size.type = volume::DataType::kUint32;
  size.numbers = {1, 4294967295.0, 0};
  SegmentProperty depth{.id = "depth", .kind = PropertyKind::kNumber};
  depth.numbers = {0.5, -1.25, 3e38};
  properties.properties = {
      {.id = "label", .kind = PropertyKind::kLabel, .texts = {"a", "", "ü"}},
      {.id = "about", .kind = PropertyKind::kDescription, .texts = {"x", "y", "z"}},
      {.id = "type", .kind = PropertyKind::kString, .texts = {"1", "2", "3"}},
      MakeTags("tags", {"soma  axon", "", "axon"}),
      size,
      depth};
  properties.extra["mine"] = "[1]";
  return properties;
}

std::string ErrorOf(const SegmentProperties& properties) {
  const auto valid = Validate(properties);
  return valid ? "" : valid.error().message;
}

TEST(SegmentProperties, AreReadAsTheyWereWritten) {
  const SegmentProperties properties = Example();
  EXPECT_EQ(ErrorOf(properties), "");
  const auto again = ParseSegmentProperties(ToJson(properties));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, properties);
}

TEST(SegmentProperties, OfTheClientsOwnTextsAreRead) {
  const auto parsed =
      ParseSegmentProperties(R"({"@type": "neuroglancer_segment_properties",
    "inline": {"ids": ["10"], "properties": [
      {"id": "t", "type": "tags", "tags": ["b", "a"], "tag_descriptions": ["B", "A"],
       "values": [[0, 1]]},
      {"id": "n", "type": "number", "data_type": "int8", "values": [-3]}]}})");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_THAT(parsed->ids, ElementsAre(10));
  EXPECT_THAT(parsed->properties[0].tag_values, ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(parsed->properties[1].numbers, ElementsAre(-3));
}

TEST(SegmentProperties, NamesTheMemberThatIsWrong) {
  const auto error_of = [](std::string_view ids, std::string_view properties) {
    const auto parsed = ParseSegmentProperties(
        std::string(
            R"({"@type": "neuroglancer_segment_properties", "inline": {"ids": )") +
        std::string(ids) + R"(, "properties": )" + std::string(properties) + "}}");
    return parsed ? std::string() : parsed.error().message;
  };
  EXPECT_EQ(error_of(R"(["1", "01"])", "[]"),
            "inline.ids[1]: found \"01\", expected a decimal number of 64 bits, as a "
            "string");
  EXPECT_THAT(error_of("[1]", "[]"), HasSubstr("inline.ids[0]: found 1"));
  EXPECT_EQ(error_of(R"(["1", "1"])", "[]"), "ids: 1 is there twice");
  EXPECT_EQ(error_of(R"(["1"])", R"([{"id": "a", "type": "label", "values": []}])"),
            "property \"a\": 0 values for 1 segments");
  EXPECT_THAT(
      error_of(R"(["1"])",
               R"([{"id":"a","type":"number","data_type":"uint64","values":[1]}])"),
      HasSubstr("inline.properties[0].data_type: found \"uint64\""));
  EXPECT_EQ(
      error_of(R"(["1"])",
               R"([{"id":"a","type":"number","data_type":"uint8","values":[256]}])"),
      "property \"a\": values[0]: 256 is no uint8");
  EXPECT_THAT(
      error_of(R"(["1"])", R"([{"id":"a","type":"tags","tags":["b"],"values":[[1]]}])"),
      HasSubstr("inline.properties[0].values[0]: found [1], expected an array of places "
                "below 1"));
}

TEST(SegmentProperties, AreRefusedWhereTheClientWouldNotLoadThem) {
  SegmentProperties properties = Example();
  properties.properties.push_back(properties.properties.front());
  EXPECT_EQ(ErrorOf(properties), "property \"label\" is there twice");
  properties.properties.back().id = "label2";
  EXPECT_EQ(ErrorOf(properties),
            "property \"label2\": a second one of type label, expected at most one");
  properties = Example();
  properties.properties[3].tags = {"a b", "c"};
  EXPECT_THAT(ErrorOf(properties), HasSubstr("tag \"a b\": expected no spaces"));
  properties.properties[3].tags = {"#a", "c"};
  EXPECT_THAT(ErrorOf(properties), HasSubstr("tag \"#a\""));
  properties = Example();
  properties.properties[3].tag_values[0] = {1, 0};
  EXPECT_EQ(ErrorOf(properties),
            "property \"tags\": values[0]: expected ascending places of 2 tags");
}

TEST(SegmentProperties, ChooseTheSmallestTypeOfNumbers) {
  EXPECT_EQ(NumberTypeFor({0, 4294967295.0}), volume::DataType::kUint32);
  EXPECT_EQ(NumberTypeFor({-1, 5}), volume::DataType::kInt32);
  EXPECT_EQ(NumberTypeFor({4294967296.0}), volume::DataType::kFloat32);
  EXPECT_EQ(NumberTypeFor({0.5}), volume::DataType::kFloat32);
}

TEST(SegmentProperties, ReplaceOnlyOthersOfTheirKind) {
  const Location folder{std::make_shared<MemoryStore>("test"), "props"};
  EXPECT_EQ(ReadSegmentProperties(folder).error().message,
            "memory://test/props/info: is not there");
  ASSERT_TRUE(WriteSegmentProperties(folder, Example()));
  const auto again = WriteSegmentProperties(folder, Example());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "memory://test/props/info: is there already");
  SegmentProperties fewer = Example();
  fewer.properties.clear();
  ASSERT_TRUE(WriteSegmentProperties(folder, fewer, /*replace=*/true));
  EXPECT_EQ(*ReadSegmentProperties(folder), fewer);
  ASSERT_TRUE(folder.store->Put("props/info", AsBytes("{}"), Precondition::None()));
  EXPECT_EQ(WriteSegmentProperties(folder, fewer, /*replace=*/true).error().message,
            "memory://test/props/info: holds no segment properties; move it away");
}

}  // namespace
}  // namespace dolium::properties
