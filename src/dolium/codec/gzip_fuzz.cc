// Any bytes: GzipDecode must answer within its limits. What it accepts must survive a
// round trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "dolium/codec/gzip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kLimit = uint64_t{1} << 20;
  const dolium::BytesView input = std::as_bytes(std::span(data, size));
  const auto value = dolium::GzipDecode(input, kLimit);
  if (!value) return 0;
  if (value->size() > kLimit) std::abort();
  const dolium::ByteVector encoded = dolium::GzipEncode(*value, 1);
  const auto again = dolium::GzipDecode(encoded, value->size());
  if (!again || !dolium::Equal(*again, *value)) std::abort();
  return 0;
}
