// Scattering and gathering of bits, for machines without the instructions for it.
#pragma once

#include <cstdint>

namespace dolium::volume {

// The low bits of `value`, put where `mask` has ones, lowest first. Free of
// branches, since the bits are as good as random.
constexpr uint64_t DepositBits(uint64_t value, uint64_t mask) {
  uint64_t deposited = 0;
  for (; mask != 0; mask &= mask - 1, value >>= 1) {
    deposited |= mask & (0 - mask) & (0 - (value & 1));
  }
  return deposited;
}

// The bits of `value` where `mask` has ones, moved together.
constexpr uint64_t ExtractBits(uint64_t value, uint64_t mask) {
  uint64_t extracted = 0;
  for (unsigned bit = 0; mask != 0; mask &= mask - 1, ++bit) {
    const bool set = (value & mask & (0 - mask)) != 0;
    extracted |= static_cast<uint64_t>(set) << bit;
  }
  return extracted;
}

}  // namespace dolium::volume
