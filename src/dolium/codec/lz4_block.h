// lz4 as one raw block: no frame, no size prefix. Whoever stores it keeps its size.
#pragma once

#include <cstdint>
#include <optional>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium {

// What one block can take.
inline constexpr uint64_t kLz4BlockLimit = 0x7E000000;

// Fills `into` exactly, or the block is damaged.
Result<void> Lz4BlockDecodeInto(BytesView stored, MutableBytes into);

// Level 0 is the fast one, 1 to 12 the slow ones. nullopt if it does not fit into
// `capacity` bytes. Precondition: value.size() <= kLz4BlockLimit.
std::optional<ByteVector> Lz4BlockEncode(BytesView value, size_t capacity, int level = 0);

}  // namespace dolium
