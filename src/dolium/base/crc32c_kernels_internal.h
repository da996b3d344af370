// Kernels of crc32c.h for some processors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dolium/base/bytes.h"

namespace dolium::internal {

// On any processor: segment by segment, each of which is still in the cache when it is
// copied.
uint32_t CopyWithCrcBySegments(BytesView from, std::byte* into, uint32_t before);

#if defined(__x86_64__)
// Whether this processor can run CopyWithCrcAvx512.
bool HasAvx512Crc();

// Precondition: size >= 256. `state` and what is returned are not inverted.
uint32_t CopyWithCrcAvx512(const std::byte* from, std::byte* into, size_t size,
                           uint32_t state);
#endif

}  // namespace dolium::internal
