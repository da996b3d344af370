// The checksum of a stored xorb: CRC-32C of all bytes before it, in the nonce of the
// footer, which is free for stores to use and part of no hash.
//
// Hashes show whether chunks are right when they are decompressed. That leaves changes of
// stored bytes that do not show: some frames decompress to the same bytes.
#pragma once

#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/cas/xorb_cache.h"

namespace dolium::cas {

// Writes the checksum into a footer of version 1. `records` is that of what lies before.
void SealFooter(MutableBytes footer, uint32_t records);

// kCorrupt unless the footer of `xorb` has the checksum of what is there. `records` as
// above.
Result<void> CheckSeal(const OpenedXorb& xorb, uint32_t records);

}  // namespace dolium::cas
