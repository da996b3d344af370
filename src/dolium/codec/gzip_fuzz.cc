// Any bytes: GzipDecode must answer within its limits, and GzipDecodeInto must agree with
// it. What they accept must survive a round trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "dolium/codec/gzip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kLimit = uint64_t{1} << 20;
  const dolium::BytesView input = std::as_bytes(std::span(data, size));
  const auto value = dolium::GzipDecode(input, kLimit);
  dolium::ByteVector place(value ? value->size() : size);
  const auto fits = dolium::GzipDecodeInto(input, place);
  if (value && (!fits || !*fits || !dolium::Equal(place, *value))) std::abort();
  if (!value) return 0;
  if (value->size() > kLimit) std::abort();
  const dolium::ByteVector encoded = dolium::GzipEncode(*value, 1);
  const auto again = dolium::GzipDecode(encoded, value->size());
  if (!again || !dolium::Equal(*again, *value)) std::abort();
  return 0;
}
