#include "dolium/base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <cstring>

#include "dolium/base/crc32c_kernels_internal.h"
#include "dolium/base/endian.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace dolium {

namespace {

// What ISA-L takes at once: it counts in int.
constexpr size_t kMostAtOnce = size_t{1} << 30;
// Fits well into the nearest cache.
constexpr size_t kSegment = size_t{8} << 10;

uint32_t ByLibrary(const std::byte* data, size_t size, uint32_t state) {
  while (size > 0) {
    const size_t now = std::min(size, kMostAtOnce);
    // Takes a pointer to mutable bytes, and only reads them.
    auto* bytes = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(data));
    state = crc32_iscsi(bytes, static_cast<int>(now), state);
    data += now;
    size -= now;
  }
  return state;
}

#if defined(__x86_64__)
// Below this many bytes, the instruction alone is faster than the folding of ISA-L.
constexpr size_t kSmall = 192;

__attribute__((target("sse4.2"))) uint32_t ByInstruction(const std::byte* data,
                                                         size_t size, uint32_t state) {
  uint64_t wide = state;
  for (; size >= 8; data += 8, size -= 8) {
    wide = _mm_crc32_u64(wide, LoadLE<uint64_t>(data));
  }
  auto narrow = static_cast<uint32_t>(wide);
  for (; size > 0; ++data, --size) {
    narrow = _mm_crc32_u8(narrow, static_cast<uint8_t>(*data));
  }
  return narrow;
}

const bool kHasInstruction = __builtin_cpu_supports("sse4.2") != 0;

// Below this many bytes, there is nothing to gain from one pass instead of two.
constexpr size_t kWorthOnePass = 512;
const bool kHasOnePass = internal::HasAvx512Crc();
#endif

}  // namespace

uint32_t Crc32c(BytesView data, uint32_t before) {
  const uint32_t state = ~before;
#if defined(__x86_64__)
  if (data.size() < kSmall && kHasInstruction) {
    return ~ByInstruction(data.data(), data.size(), state);
  }
#endif
  return ~ByLibrary(data.data(), data.size(), state);
}

uint32_t CopyWithCrc32c(BytesView from, std::byte* into, uint32_t before) {
#if defined(__x86_64__)
  if (from.size() >= kWorthOnePass && kHasOnePass) {
    return ~internal::CopyWithCrcAvx512(from.data(), into, from.size(), ~before);
  }
#endif
  return internal::CopyWithCrcBySegments(from, into, before);
}

uint32_t internal::CopyWithCrcBySegments(BytesView from, std::byte* into,
                                         uint32_t before) {
  uint32_t crc = before;
  while (!from.empty()) {
    const BytesView segment = from.first(std::min(from.size(), kSegment));
    crc = Crc32c(segment, crc);
    std::memcpy(into, segment.data(), segment.size());
    from = from.subspan(segment.size());
    into += segment.size();
  }
  return crc;
}

}  // namespace dolium
