// Any bytes as a JPEG image: the decoder must answer within its limit, and give equal
// pixels for equal bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "dolium/domain/image/jpeg_image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kLimit = uint64_t{16} << 20;
  const auto stored = std::as_bytes(std::span(data, size));
  auto image = dolium::image::DecodeJpegImage(stored, kLimit);
  if (!image) return 0;
  const uint64_t bytes = uint64_t{image->height} * image->width * image->channels;
  if (bytes == 0 || bytes > kLimit || bytes != image->pixels.view().size()) std::abort();
  if (!dolium::image::IsJpeg(stored)) std::abort();
  auto again = dolium::image::DecodeJpegImage(stored, kLimit);
  if (!again || !dolium::Equal(again->pixels.view(), image->pixels.view())) std::abort();
  return 0;
}
