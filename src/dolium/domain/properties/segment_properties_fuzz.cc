// The info of segment properties, of arbitrary bytes.
#include <cstddef>
#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/base/testing/require.h"
#include "dolium/domain/properties/segment_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using dolium::Require;
  namespace properties = dolium::properties;
  const dolium::BytesView bytes = std::as_bytes(std::span(data, size));
  const auto parsed = properties::ParseSegmentProperties(dolium::AsText(bytes));
  if (!parsed) return 0;
  Require(properties::Validate(*parsed).has_value());
  const auto again = properties::ParseSegmentProperties(properties::ToJson(*parsed));
  Require(again.has_value() && *again == *parsed);
  return 0;
}
