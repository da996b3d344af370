#include "dolium/domain/image/jpeg_image.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/domain/image/jpeg_internal.h"

namespace dolium::image {
namespace {

// Huffman codes have a bit for a block at least: so many bytes of pixels come of one
// byte.
constexpr uint64_t kMostPerByte = 4096;
constexpr uint64_t kAlwaysAllowed = uint64_t{64} << 10;

// As shardpack::kind::kLimit.
constexpr std::string_view kLimitKind = "limit";

Result<void> CheckSize(const jpeg_decompress_struct& info, size_t stored,
                       uint64_t limit) {
  // Sides and channels are numbers of 16 and 8 bits.
  const uint64_t bytes = uint64_t{info.image_height} * info.image_width *
                         static_cast<uint64_t>(info.num_components);
  // What arithmetic coding can do has no such bound.
  const bool is_possible = info.arith_code != FALSE || bytes <= kAlwaysAllowed ||
                           bytes / kMostPerByte <= stored;
  if (bytes <= limit && is_possible) return {};
  return Corrupt(fmt::format(
                     "JPEG: {} x {} pixels of {} channels in {} bytes; {}",
                     info.image_width, info.image_height, info.num_components, stored,
                     bytes > limit ? fmt::format("the limit is {} bytes of pixels", limit)
                                   : "so few cannot hold them"))
      .WithKind(kLimitKind);
}

// The colors that each pixel has, as Pillow has them.
Result<J_COLOR_SPACE> ColorsOf(int channels) {
  switch (channels) {
    case 1:
      return JCS_GRAYSCALE;
    case 3:
      return JCS_RGB;
    case 4:
      return JCS_CMYK;
    default:
      return Unsupported(fmt::format("JPEG: {} channels, expected 1, 3 or 4", channels));
  }
}

}  // namespace

bool IsJpeg(BytesView stored) {
  constexpr std::byte kStart[] = {std::byte{0xff}, std::byte{0xd8}, std::byte{0xff}};
  return stored.size() >= std::size(kStart) &&
         std::equal(std::begin(kStart), std::end(kStart), stored.begin());
}

Result<JpegImage> DecodeJpegImage(BytesView stored, uint64_t limit) {
  JpegDecompressor jpeg(JpegWarnings::kMadeUp);
  if (!jpeg.ReadHeader(stored)) return jpeg.error();
  const jpeg_decompress_struct& info = jpeg.info();
  DOLIUM_TRY_VOID(CheckSize(info, stored.size(), limit));
  DOLIUM_TRY(const J_COLOR_SPACE colors, ColorsOf(info.num_components));
  jpeg.SetColors(colors);
  if (!jpeg.Start()) return jpeg.error();

  const JDIMENSION height = info.output_height;
  const size_t row_bytes =
      size_t{info.output_width} * static_cast<size_t>(info.output_components);
  JpegImage image{height, info.output_width,
                  static_cast<uint32_t>(info.output_components),
                  Buffer(height * row_bytes)};
  const MutableBytes pixels = image.pixels.view();
  for (JDIMENSION row = 0; row < height; row += JpegDecompressor::kRowsAtOnce) {
    const JDIMENSION count = std::min(height - row, JpegDecompressor::kRowsAtOnce);
    if (!jpeg.ReadRows(pixels.subspan(row * row_bytes, count * row_bytes), count)) {
      return jpeg.error();
    }
  }
  if (!jpeg.Finish()) return jpeg.error();
  // Writers of CMYK store how much ink is missing.
  if (colors == JCS_CMYK) {
    for (std::byte& value : pixels) value = ~value;
  }
  return image;
}

std::vector<Result<JpegImage>> DecodeJpegImages(std::span<const BytesView> stored,
                                                size_t jobs, uint64_t limit) {
  std::vector<std::optional<Result<JpegImage>>> found(stored.size());
  const auto decoded = ParallelFor(stored.size(), jobs, [&](size_t i) -> Result<void> {
    found[i] = DecodeJpegImage(stored[i], limit);
    return {};
  });
  std::vector<Result<JpegImage>> images;
  images.reserve(found.size());
  for (auto& image : found) {
    // Without one if a stop came first.
    images.push_back(image ? *std::move(image) : Result<JpegImage>(decoded.error()));
  }
  return images;
}

}  // namespace dolium::image
