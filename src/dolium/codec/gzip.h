// gzip (RFC 1952) over whole buffers, by libdeflate.
#pragma once

#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium {

inline constexpr int kGzipLevel = 6;

// Decodes one or more members that fill `stored`; their checksums are checked.
Result<ByteVector> GzipDecode(BytesView stored, uint64_t limit);

// One member, with time 0 in its header: equal input gives equal output.
ByteVector GzipEncode(BytesView value, int level = kGzipLevel);

}  // namespace dolium
