// A skeleton, or the info of a folder of them, of arbitrary bytes.
#include <cstddef>
#include <cstdint>

#include "dolium/base/testing/require.h"
#include "dolium/domain/skeleton/skeleton.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using dolium::Require;
  using dolium::skeleton::AttributeType;
  const dolium::BytesView bytes = std::as_bytes(std::span(data, size));
  if (const auto info = dolium::skeleton::ParseSkeletonInfo(dolium::AsText(bytes))) {
    Require(dolium::skeleton::Validate(*info).has_value());
    const auto again =
        dolium::skeleton::ParseSkeletonInfo(dolium::skeleton::ToJson(*info));
    Require(again.has_value() && *again == *info);
  }
  dolium::skeleton::SkeletonInfo info;
  info.attributes = {{"radius"}, {"types", AttributeType::kUint8, 3}};
  for (int attributes = 0; attributes < 2; ++attributes) {
    const auto skeleton = dolium::skeleton::ParseSkeleton(bytes, info);
    if (skeleton) {
      const auto written = dolium::skeleton::WriteSkeleton(*skeleton, info);
      Require(written.has_value() && written->size() + skeleton->trailing_bytes == size);
      Require(dolium::Equal(*written, bytes.first(written->size())));
      const auto floats =
          dolium::skeleton::WriteSkeleton(dolium::skeleton::AsFloat32(*skeleton, info),
                                          dolium::skeleton::AsFloat32(info));
      Require(floats.has_value());
    }
    info.attributes.clear();
  }
  return 0;
}
