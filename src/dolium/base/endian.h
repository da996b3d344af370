// Little-endian numbers in byte strings: memcpy, then a swap on big-endian hosts.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

namespace dolium {

template <std::unsigned_integral T>
constexpr T SwapBytes(T value) {
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(value));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(value));
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(value));
}

// Precondition: sizeof(T) bytes are readable at `from`; any alignment.
template <std::unsigned_integral T>
T LoadLE(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = SwapBytes(value);
  return value;
}

// Precondition: sizeof(T) bytes are writable at `to`; any alignment.
template <std::unsigned_integral T>
void StoreLE(std::byte* to, T value) {
  if constexpr (std::endian::native == std::endian::big) value = SwapBytes(value);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace dolium
