// CRC-32C (Castagnoli), as ShardPack, TFRecord and object stores use it.
#pragma once

#include <cstdint>

#include "dolium/base/bytes.h"

namespace dolium {

// The checksum of `data`. Given the checksum of what comes before, that of both together.
uint32_t Crc32c(BytesView data, uint32_t before = 0);

// Copies `from` to `into`, which has as many bytes, and returns their checksum, in one
// pass over them where the processor can do that. The two do not overlap.
uint32_t CopyWithCrc32c(BytesView from, std::byte* into, uint32_t before = 0);

}  // namespace dolium
