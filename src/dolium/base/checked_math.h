// Sums and products of numbers that come from files: nullopt instead of wrapping.
#pragma once

#include <cstdint>
#include <optional>

namespace dolium {

constexpr std::optional<uint64_t> CheckedAdd(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

constexpr std::optional<uint64_t> CheckedMul(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// Shifts that are defined for every count: 64 and more give 0.
constexpr uint64_t ShiftRight(uint64_t value, unsigned bits) {
  return bits >= 64 ? 0 : value >> bits;
}
constexpr uint64_t ShiftLeft(uint64_t value, unsigned bits) {
  return bits >= 64 ? 0 : value << bits;
}

// The `bits` low bits set.
constexpr uint64_t LowBits(unsigned bits) {
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

}  // namespace dolium
