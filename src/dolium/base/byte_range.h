// ByteRange: where bytes lie within an object; half-open, printed as [begin, end).
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"

namespace dolium {

struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;

  // Precondition: the end fits 64 bits. Ranges from files go through Make().
  constexpr uint64_t end() const { return offset + length; }
  constexpr bool empty() const { return length == 0; }

  // nullopt if the end does not fit 64 bits.
  static constexpr std::optional<ByteRange> Make(uint64_t offset, uint64_t length) {
    if (!CheckedAdd(offset, length)) return std::nullopt;
    return ByteRange{offset, length};
  }

  friend constexpr bool operator==(const ByteRange&, const ByteRange&) = default;
};

inline std::string ToString(ByteRange range) {
  return fmt::format("[{}, {})", range.offset, range.end());
}

}  // namespace dolium
