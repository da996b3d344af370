// brotli (RFC 7932) over whole buffers.
#pragma once

#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium {

// About as fast as gzip at its usual level, and smaller.
inline constexpr int kBrotliQuality = 5;

// Decodes one stream that fills `stored`. There is no checksum to find damage by.
Result<ByteVector> BrotliDecode(BytesView stored, uint64_t limit);

// Equal input gives equal output.
ByteVector BrotliEncode(BytesView value, int quality = kBrotliQuality);

}  // namespace dolium
