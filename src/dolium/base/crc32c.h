// CRC-32C (Castagnoli), as ShardPack, TFRecord and object stores use it.
#pragma once

#include <cstdint>

#include "dolium/base/bytes.h"

namespace dolium {

// The checksum of `data`. Given the checksum of what comes before, that of both together.
uint32_t Crc32c(BytesView data, uint32_t before = 0);

}  // namespace dolium
