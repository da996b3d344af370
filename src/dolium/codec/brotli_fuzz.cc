// Any bytes: BrotliDecode and ZstdDecode must answer within their limits. What they
// accept must survive a round trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "dolium/codec/brotli.h"
#include "dolium/codec/zstd.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kMost = uint64_t{1} << 20;
  const dolium::BytesView input = std::as_bytes(std::span(data, size));
  if (const auto value = dolium::BrotliDecode(input, kMost)) {
    if (value->size() > kMost) std::abort();
    const auto again =
        dolium::BrotliDecode(dolium::BrotliEncode(*value, 1), value->size());
    if (!again || !dolium::Equal(*again, *value)) std::abort();
  }
  if (const auto value = dolium::ZstdDecode(input, kMost)) {
    if (value->size() > kMost) std::abort();
    const auto again = dolium::ZstdDecode(dolium::ZstdEncode(*value, 1), value->size());
    if (!again || !dolium::Equal(*again, *value)) std::abort();
  }
  return 0;
}
