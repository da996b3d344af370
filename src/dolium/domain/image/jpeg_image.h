// JPEG images as arrays of pixels, by libjpeg-turbo: photos of training sets.
//
// Pixels are those that Pillow gives: the accurate transform, smooth chroma, no rotation
// by EXIF. An image whose pixels libjpeg would have to make up, such as one that is cut
// short, is an error. All functions may be called from many threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium::image {

// What an image may decode to unless more is asked for: about what Pillow decodes.
inline constexpr uint64_t kDefaultImageLimit = uint64_t{512} << 20;

struct JpegImage {
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t channels = 0;  // 1: grey. 3: red, green, blue. 4: cyan, magenta, yellow, black
  Buffer pixels;          // rows from the top, each of whole pixels
};

// Whether the bytes begin as every JPEG does.
bool IsJpeg(BytesView stored);

// kCorrupt if it is damaged or no JPEG; of kind "limit" if it would decode to more than
// `limit` bytes, or to more than so few bytes can hold: compared before anything of that
// size is allocated. Progressive images take a few times their pixels meanwhile.
// kUnsupported for 2 channels.
Result<JpegImage> DecodeJpegImage(BytesView stored, uint64_t limit = kDefaultImageLimit);

// Many at once on up to `jobs` threads (0: one per core), each with a result of its own.
std::vector<Result<JpegImage>> DecodeJpegImages(std::span<const BytesView> stored,
                                                size_t jobs,
                                                uint64_t limit = kDefaultImageLimit);

}  // namespace dolium::image
