// MurmurHash3_x86_128 of one uint64, the hash that the sharded format may use.
#pragma once

#include <bit>
#include <cstdint>

namespace dolium::neuroglancer {

// The low 8 bytes, little-endian, of the hash of `key` in little-endian, seed 0. An
// 8-byte input has no 16-byte block, so only the tail step and the finaliser of the
// general function remain.
constexpr uint64_t Murmur3OfKey(uint64_t key) {
  constexpr uint32_t kC1 = 0x239b961b;
  constexpr uint32_t kC2 = 0xab0e9789;
  constexpr uint32_t kC3 = 0x38b34ae5;
  constexpr uint32_t kLength = sizeof key;
  constexpr auto kFinish = [](uint32_t h) {
    h ^= h >> 16;
    h *= 0x85ebca6b;
    h ^= h >> 13;
    h *= 0xc2b2ae35;
    h ^= h >> 16;
    return h;
  };
  uint32_t h1 = std::rotl(static_cast<uint32_t>(key) * kC1, 15) * kC2;
  uint32_t h2 = std::rotl(static_cast<uint32_t>(key >> 32) * kC2, 16) * kC3;
  uint32_t h3 = kLength;
  uint32_t h4 = kLength;
  h1 ^= kLength;
  h2 ^= kLength;

  h1 += h2 + h3 + h4;
  h2 += h1;
  h3 += h1;
  h4 += h1;

  h1 = kFinish(h1);
  h2 = kFinish(h2);
  h3 = kFinish(h3);
  h4 = kFinish(h4);

  h1 += h2 + h3 + h4;
  h2 += h1;
  return uint64_t{h1} | uint64_t{h2} << 32;
}

}  // namespace dolium::neuroglancer
