// A list or a value of annotations, or their info, of arbitrary bytes.
#include <cstddef>
#include <cstdint>

#include "dolium/base/testing/require.h"
#include "dolium/domain/annotation/annotation_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using dolium::Require;
  namespace annotation = dolium::annotation;
  const dolium::BytesView bytes = std::as_bytes(std::span(data, size));
  if (const auto info = annotation::ParseAnnotationInfo(dolium::AsText(bytes))) {
    Require(annotation::Validate(*info).has_value());
    const auto again = annotation::ParseAnnotationInfo(annotation::ToJson(*info));
    Require(again.has_value() && *again == *info);
  }
  for (const auto type :
       {annotation::AnnotationType::kPoint, annotation::AnnotationType::kPolyline}) {
    annotation::AnnotationInfo info;
    info.type = type;
    info.dimensions = {{"x", 1, "nm"}, {"y", 1, "nm"}};
    info.properties = {{"kind", annotation::PropertyType::kUint16},
                       {"color", annotation::PropertyType::kRgb}};
    const annotation::RecordLayout layout(info);
    annotation::AnnotationTable list(layout);
    if (annotation::ParseList(bytes, layout, list)) {
      annotation::ListBuilder builder;
      dolium::ByteVector record;
      for (size_t i = 0; i < list.size(); ++i) {
        Require(annotation::CheckAnnotation(list[i], layout).has_value());
        record.clear();
        annotation::AppendRecord(list[i], layout, record);
        builder.Add(list[i].id, record);
      }
      Require(dolium::Equal(builder.Finish(), bytes));
    }
    annotation::AnnotationTable value(layout);
    if (annotation::ParseValue(bytes, 1, layout, 2, value)) {
      dolium::ByteVector written;
      annotation::AppendRecord(value[0], layout, written);
      for (const auto& related : value.related()) {
        annotation::AppendRelated(related.Of(0), written);
      }
      Require(dolium::Equal(written, bytes));
    }
  }
  return 0;
}
