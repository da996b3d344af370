// A hash that is the same in every process and on every machine: for spreading and
// sampling, not against adversaries.
#pragma once

#include <cstdint>
#include <string_view>

namespace dolium {

// FNV-1a over `text`, then mixed so that every bit of the result depends on all of it.
constexpr uint64_t StableHash(std::string_view text, uint64_t seed = 0) {
  constexpr uint64_t kOffsetBasis = 0xcbf29ce484222325;
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t hash = kOffsetBasis ^ (seed * 0x9e3779b97f4a7c15);
  for (const char c : text) {
    hash ^= static_cast<uint8_t>(c);
    hash *= kPrime;
  }
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccd;
  hash ^= hash >> 33;
  hash *= 0xc4ceb9fe1a85ec53;
  hash ^= hash >> 33;
  return hash;
}

}  // namespace dolium
