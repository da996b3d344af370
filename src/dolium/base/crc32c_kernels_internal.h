// Kernels of crc32c.h for some processors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dolium::internal {

#if defined(__x86_64__)
// Whether this processor can run CopyWithCrcAvx512.
bool HasAvx512Crc();

// Precondition: size >= 256. `state` and what is returned are not inverted.
uint32_t CopyWithCrcAvx512(const std::byte* from, std::byte* into, size_t size,
                           uint32_t state);
#endif

}  // namespace dolium::internal
