#include "dolium/domain/annotation/annotation_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium::annotation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kInfo = R"({
  "@type": "neuroglancer_annotations_v1",
  "annotation_type": "LINE",
  "dimensions": {"z": [40, "nm"], "x": [8e-9, "m"]},
  "lower_bound": [0, -1.5], "upper_bound": [10, 20],
  "properties": [
    {"id": "color", "type": "rgb"},
    {"id": "score", "type": "float32", "description": "how sure"},
    {"id": "kind", "type": "uint16", "enum_values": [0, 7], "enum_labels": ["a", "b"]},
    {"id": "count", "type": "uint32"}],
  "relationships": [{"id": "segments", "key": "rel", "segmentation_layer": "seg"}],
  "by_id": {"key": "by_id", "sharding": {"@type": "neuroglancer_uint64_sharded_v1",
    "preshift_bits": 0, "hash": "murmurhash3_x86_128", "minishard_bits": 2,
    "shard_bits": 1, "minishard_index_encoding": "gzip", "data_encoding": "raw"}},
  "spatial": [{"key": "spatial0", "grid_shape": [1, 2], "chunk_size": [10, 10.75],
               "limit": 100, "chunk_shape": [1, 1]}],
  "mine": {"a": 1}})";

std::string Replaced(std::string_view from, std::string_view to) {
  std::string text(kInfo);
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string ErrorOf(std::string_view text) {
  const auto info = ParseAnnotationInfo(text);
  return info ? "" : info.error().message;
}

TEST(AnnotationInfo, KeepsTheOrderOfDimensions) {
  const auto info = ParseAnnotationInfo(kInfo);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->type, AnnotationType::kLine);
  EXPECT_THAT(info->dimensions,
              ElementsAre(Dimension{"z", 40, "nm"}, Dimension{"x", 8e-9, "m"}));
  EXPECT_THAT(info->lower_bound, ElementsAre(0, -1.5));
  EXPECT_EQ(info->by_id.sharding->minishard_bits, 2U);
  EXPECT_THAT(info->spatial.front().chunk_size, ElementsAre(10, 10.75));
  EXPECT_EQ(info->relationships.front().segmentation_layer, "seg");
  EXPECT_EQ(info->extra.at("mine"), R"({"a":1})");
}

TEST(AnnotationInfo, IsWrittenAsItWasRead) {
  const auto info = ParseAnnotationInfo(kInfo);
  ASSERT_TRUE(info) << info.error().message;
  const auto again = ParseAnnotationInfo(ToJson(*info));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, *info);
}

TEST(AnnotationInfo, NamesTheMemberThatIsWrong) {
  EXPECT_THAT(ErrorOf(Replaced("LINE", "dot")),
              HasSubstr(R"(annotation_type: found "dot", expected point, line)"));
  EXPECT_THAT(ErrorOf(Replaced("[40, \"nm\"]", "[0, \"nm\"]")),
              HasSubstr("dimensions.z: found [0,\"nm\"], expected a scale greater"));
  EXPECT_THAT(ErrorOf(Replaced("\"uint16\"", "\"uint64\"")),
              HasSubstr("properties[2].type: found \"uint64\""));
  EXPECT_THAT(ErrorOf(Replaced("[0, 7]", "[0, 70000]")),
              HasSubstr("property \"kind\": enum_values: 70000 is no uint16"));
  EXPECT_THAT(ErrorOf(Replaced("[\"a\", \"b\"]", "[\"a\"]")),
              HasSubstr("properties[2].enum_labels: found [\"a\"], expected 2 strings"));
  EXPECT_THAT(ErrorOf(Replaced("\"score\"", "\"Score\"")),
              HasSubstr("property \"Score\": expected a lower case letter"));
  EXPECT_THAT(ErrorOf(Replaced("\"count\"", "\"kind\"")),
              HasSubstr("property \"kind\" is there twice"));
  EXPECT_THAT(ErrorOf(Replaced("[1, 2]", "[1, 0]")),
              HasSubstr("spatial[0].grid_shape: found [1,0], expected 2 integers"));
  EXPECT_THAT(ErrorOf(Replaced("[1, 2]", "[4503599627370496, 4503599627370496]")),
              HasSubstr("cells need 104 bits"));
  EXPECT_THAT(ErrorOf(Replaced("[10, 20]", "[10, -20]")),
              HasSubstr("bounds of \"x\": from -1.5 to -20"));
  EXPECT_THAT(ErrorOf(Replaced("\"limit\": 100", "\"limit\": 0")),
              HasSubstr("spatial[0].limit: found 0"));
}

TEST(RecordLayout, PutsPropertiesByAlignment) {
  const auto info = ParseAnnotationInfo(kInfo);
  ASSERT_TRUE(info) << info.error().message;
  const RecordLayout layout(*info);
  EXPECT_EQ(layout.geometry_size(), 4U);
  EXPECT_EQ(layout.offset(1), 0U);   // score
  EXPECT_EQ(layout.offset(3), 4U);   // count
  EXPECT_EQ(layout.offset(2), 8U);   // kind
  EXPECT_EQ(layout.offset(0), 10U);  // color: 3 bytes
  EXPECT_EQ(layout.property_bytes(), 16U);
  EXPECT_EQ(layout.min_record_bytes(), 32U);
}

TEST(PropertyValues, AreRefusedWhereTheTypeDoesNotHoldThem) {
  std::array<std::byte, 4> at;
  EXPECT_TRUE(StoreNumber(PropertyType::kInt8, -128, at.data()));
  EXPECT_EQ(NumberAt(PropertyType::kInt8, at.data()), -128);
  EXPECT_EQ(StoreNumber(PropertyType::kInt8, 128, at.data()).error().message,
            "128 is no int8");
  EXPECT_EQ(StoreNumber(PropertyType::kUint32, 1.5, at.data()).error().message,
            "1.5 is no uint32");
  EXPECT_EQ(StoreNumber(PropertyType::kUint8, std::nan(""), at.data()).error().message,
            "nan is no uint8");
  EXPECT_TRUE(StoreColor(PropertyType::kRgba, "#01fF0380", at.data()));
  EXPECT_EQ(ColorAt(PropertyType::kRgba, at.data()), "#01ff0380");
  EXPECT_THAT(StoreColor(PropertyType::kRgb, "red", at.data()).error().message,
              HasSubstr("\"red\" is no rgb: expected #rrggbb"));
}

}  // namespace
}  // namespace dolium::annotation
