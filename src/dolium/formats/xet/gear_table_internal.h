// The constants of the gear hash: what each byte adds to the state.
//
// The table is that of the rust-gearhash project (MIT or Apache-2.0), which all
// implementations of Xet share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dolium::xet {

extern const std::array<uint64_t, 256> kGearTable;

// A state below this has sixteen zero bits on top: it matches.
inline constexpr uint64_t kGearMatchEnd = uint64_t{1} << 48;

inline uint64_t GearStep(uint64_t state, std::byte byte) {
  return (state << 1) + kGearTable[std::to_integer<size_t>(byte)];
}

}  // namespace dolium::xet
