// gzip (RFC 1952) over whole buffers, by libdeflate.
#pragma once

#include <cstdint>
#include <optional>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium {

inline constexpr int kGzipLevel = 6;

// Decodes one or more members that fill `stored`; their checksums are checked.
Result<ByteVector> GzipDecode(BytesView stored, uint64_t limit);

// The decoded size that the trailer claims; nullopt if there is none to be believed. The
// value may still turn out to have another.
std::optional<uint64_t> GzipClaimedSize(BytesView stored);

// Decodes into memory that the caller has. False if the value has another size than
// `into`, whose bytes mean nothing then.
Result<bool> GzipDecodeInto(BytesView stored, MutableBytes into);

// The same of exactly one member: others behind it are damage.
Result<bool> GzipDecodeMemberInto(BytesView stored, MutableBytes into);

// One member, with time 0 in its header: equal input gives equal output.
ByteVector GzipEncode(BytesView value, int level = kGzipLevel);

}  // namespace dolium
