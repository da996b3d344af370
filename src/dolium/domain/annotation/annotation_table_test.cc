#include "dolium/domain/annotation/annotation_table.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"

namespace dolium::annotation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

AnnotationInfo InfoOf(AnnotationType type) {
  AnnotationInfo info;
  info.type = type;
  info.dimensions = {{"x", 1, "nm"}, {"y", 1, "nm"}};
  info.properties = {{"a", PropertyType::kUint8}, {"b", PropertyType::kUint16}};
  return info;
}

ByteVector Properties(uint8_t a, uint16_t b) {
  ByteVector bytes(4);
  StoreLE(bytes.data(), b);
  bytes[2] = std::byte{a};
  return bytes;
}

ByteVector ListOf(AnnotationType type, const std::vector<AnnotationView>& annotations) {
  const RecordLayout layout(InfoOf(type));
  ListBuilder builder;
  for (const AnnotationView& one : annotations) {
    ByteVector record;
    AppendRecord(one, layout, record);
    builder.Add(one.id, record);
  }
  const BytesView list = builder.Finish();
  return {list.begin(), list.end()};
}

std::string ErrorOf(AnnotationType type, BytesView bytes) {
  const RecordLayout layout(InfoOf(type));
  AnnotationTable table(layout);
  const auto parsed = ParseList(bytes, layout, table);
  return parsed ? "" : parsed.error().message;
}

TEST(AnnotationList, HasTheBytesOfTheSpecification) {
  const std::vector<float> geometry = {1, -2};
  const ByteVector properties = Properties(9, 0x0102);
  const ByteVector list =
      ListOf(AnnotationType::kPoint, {{0x1122, geometry, properties}});
  const std::vector<unsigned char> expected = {
      1,    0,    0,    0,    0, 0, 0, 0,     // count
      0,    0,    0x80, 0x3f, 0, 0, 0, 0xc0,  // 1, -2
      2,    1,    9,    0,                    // b, a, padding
      0x22, 0x11, 0,    0,    0, 0, 0, 0};    // id
  EXPECT_TRUE(Equal(list, std::as_bytes(std::span(expected))));
}

TEST(AnnotationList, IsReadAsItWasWritten) {
  const std::vector<float> first = {1, 2, 3, 4, 5, 6};
  const std::vector<float> second = {7, 8};
  const ByteVector properties = Properties(1, 2);
  const ByteVector bytes = ListOf(AnnotationType::kPolyline,
                                  {{5, first, properties}, {0, second, properties}});
  const RecordLayout layout(InfoOf(AnnotationType::kPolyline));
  AnnotationTable table(layout);
  const auto parsed = ParseList(bytes, layout, table);
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(table.size(), 2U);
  EXPECT_THAT(table.ids(), ElementsAre(5, 0));
  EXPECT_THAT(table[0].geometry, testing::ElementsAreArray(first));
  EXPECT_THAT(table[1].geometry, testing::ElementsAreArray(second));
  EXPECT_TRUE(Equal(table[1].properties, properties));
}

TEST(AnnotationList, RefusesCountsThatTheBytesCannotHold) {
  ByteVector bytes(24);
  StoreLE(bytes.data(), std::numeric_limits<uint64_t>::max());
  EXPECT_THAT(ErrorOf(AnnotationType::kPoint, bytes),
              HasSubstr("18446744073709551615 annotations of at least 20 bytes each, "
                        "16 remain"));
  StoreLE(bytes.data(), uint64_t{1});
  EXPECT_THAT(ErrorOf(AnnotationType::kPoint, bytes), HasSubstr("1 annotations of"));
  EXPECT_THAT(ErrorOf(AnnotationType::kPoint, BytesView(bytes).first(7)),
              HasSubstr("count of annotations needs 8 bytes"));
}

TEST(AnnotationList, RefusesWhatIsLeftOver) {
  const std::vector<float> geometry = {1, 2};
  const ByteVector properties = Properties(0, 0);
  ByteVector bytes = ListOf(AnnotationType::kPoint, {{1, geometry, properties}});
  bytes.resize(bytes.size() + 4);
  EXPECT_THAT(ErrorOf(AnnotationType::kPoint, bytes),
              HasSubstr("4 bytes after 1 records, expected none"));
}

TEST(AnnotationList, RefusesPolylinesThatAreCut) {
  const std::vector<float> geometry = {1, 2, 3, 4};
  const ByteVector properties = Properties(0, 0);
  ByteVector bytes = ListOf(AnnotationType::kPolyline, {{1, geometry, properties}});
  StoreLE(&bytes[8], std::numeric_limits<uint32_t>::max());
  EXPECT_THAT(ErrorOf(AnnotationType::kPolyline, bytes),
              HasSubstr("annotation 0 of 1: geometry needs 34359738360 bytes"));
  StoreLE(&bytes[8], uint32_t{0});
  EXPECT_THAT(ErrorOf(AnnotationType::kPolyline, bytes),
              HasSubstr("a polyline without points"));
}

TEST(AnnotationList, RefusesPositionsThatAreNotFinite) {
  const std::vector<float> geometry = {1, std::numeric_limits<float>::quiet_NaN()};
  const ByteVector properties = Properties(0, 0);
  const ByteVector bytes = ListOf(AnnotationType::kPoint, {{1, geometry, properties}});
  EXPECT_THAT(ErrorOf(AnnotationType::kPoint, bytes),
              HasSubstr("annotation 0 of 1: geometry has nan, expected finite"));
}

TEST(AnnotationValue, HasRelatedIdsByRelationship) {
  const RecordLayout layout(InfoOf(AnnotationType::kPoint));
  const std::vector<float> geometry = {1, 2};
  const ByteVector properties = Properties(3, 4);
  ByteVector bytes;
  AppendRecord({0, geometry, properties}, layout, bytes);
  AppendRelated(std::vector<uint64_t>{10, 11}, bytes);
  AppendRelated({}, bytes);
  AnnotationTable table(layout);
  for (const uint64_t id : {1, 2}) {
    const auto parsed = ParseValue(bytes, id, layout, 2, table);
    ASSERT_TRUE(parsed) << parsed.error().message;
  }
  EXPECT_THAT(table.related()[0].Of(1), ElementsAre(10, 11));
  EXPECT_TRUE(table.related()[1].Of(1).empty());
  EXPECT_EQ(ParseValue(bytes, 1, layout, 1, table).error().message,
            "4 bytes after the related ids, expected none");
  EXPECT_THAT(ParseValue(bytes, 1, layout, 3, table).error().message,
              HasSubstr("count of related ids needs 4 bytes"));
}

TEST(CheckAnnotation, RefusesWhatIsNone) {
  const ByteVector properties = Properties(0, 0);
  const auto error_of = [&](AnnotationType type, const std::vector<float>& geometry) {
    const auto checked =
        CheckAnnotation({7, geometry, properties}, RecordLayout(InfoOf(type)));
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(error_of(AnnotationType::kPoint, {1, 2}), "");
  EXPECT_EQ(error_of(AnnotationType::kPoint, {1, 2, 3}),
            "annotation 7: 3 coordinates, expected 2");
  EXPECT_EQ(error_of(AnnotationType::kPolyline, {1, 2, 3}),
            "annotation 7: 3 coordinates, expected a multiple of 2");
  EXPECT_EQ(error_of(AnnotationType::kEllipsoid, {1, 2, 3, -4}),
            "annotation 7: a radius of -4");
  EXPECT_THAT(
      error_of(AnnotationType::kPoint, {1, std::numeric_limits<float>::infinity()}),
      HasSubstr("annotation 7: coordinate 1 is inf"));
}

}  // namespace
}  // namespace dolium::annotation
