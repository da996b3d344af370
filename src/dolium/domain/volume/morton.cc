#include "dolium/domain/volume/morton.h"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/domain/volume/morton_internal.h"

namespace dolium::volume {
namespace {

constexpr unsigned kMaxBits = 64;

using Words = std::array<uint64_t, 3>;

uint64_t Deposit(const Words& words, const Words& masks) {
  return DepositBits(words[0], masks[0]) | DepositBits(words[1], masks[1]) |
         DepositBits(words[2], masks[2]);
}

Words Extract(uint64_t code, const Words& masks) {
  return {ExtractBits(code, masks[0]), ExtractBits(code, masks[1]),
          ExtractBits(code, masks[2])};
}

#if defined(__x86_64__)

// Read before its own initialization it is false, which is only slower.
const bool kHasBmi2 = __builtin_cpu_supports("bmi2") != 0;

__attribute__((target("bmi2"))) uint64_t DepositBmi2(const Words& words,
                                                     const Words& masks) {
  return _pdep_u64(words[0], masks[0]) | _pdep_u64(words[1], masks[1]) |
         _pdep_u64(words[2], masks[2]);
}

__attribute__((target("bmi2"))) Words ExtractBmi2(uint64_t code, const Words& masks) {
  return {_pext_u64(code, masks[0]), _pext_u64(code, masks[1]),
          _pext_u64(code, masks[2])};
}

#else

constexpr bool kHasBmi2 = false;
constexpr auto& DepositBmi2 = Deposit;
constexpr auto& ExtractBmi2 = Extract;

#endif

}  // namespace

Result<MortonCode> MortonCode::Make(const Vec3& grid) {
  MortonCode code;
  code.grid_ = grid;
  for (size_t d = 0; d < 3; ++d) {
    if (grid[d] < 0) {
      return InvalidArgument(
          fmt::format("a grid of {} chunks, expected sizes from 0", ToString(grid)));
    }
    const auto last = static_cast<uint64_t>(grid[d] == 0 ? 0 : grid[d] - 1);
    code.bits_[d] = static_cast<unsigned>(std::bit_width(last));
  }
  if (code.total_bits() > kMaxBits) {
    return InvalidArgument(
        fmt::format("a grid of {} chunks needs {} bits for the number of a chunk, more "
                    "than {}: use larger chunks",
                    ToString(grid), code.total_bits(), kMaxBits));
  }
  unsigned next = 0;
  for (unsigned level = 0; next < code.total_bits(); ++level) {
    for (size_t d = 0; d < 3; ++d) {
      if (level < code.bits_[d]) code.masks_[d] |= uint64_t{1} << next++;
    }
  }
  return code;
}

uint64_t MortonCode::Encode(const Vec3& cell) const {
  const Words words = {static_cast<uint64_t>(cell[0]), static_cast<uint64_t>(cell[1]),
                       static_cast<uint64_t>(cell[2])};
  return kHasBmi2 ? DepositBmi2(words, masks_) : Deposit(words, masks_);
}

std::optional<Vec3> MortonCode::Decode(uint64_t code) const {
  if ((code & ~LowBits(total_bits())) != 0) return std::nullopt;
  const Words words = kHasBmi2 ? ExtractBmi2(code, masks_) : Extract(code, masks_);
  const Vec3 cell = {static_cast<int64_t>(words[0]), static_cast<int64_t>(words[1]),
                     static_cast<int64_t>(words[2])};
  for (size_t d = 0; d < 3; ++d) {
    if (cell[d] >= grid_[d]) return std::nullopt;
  }
  return cell;
}

}  // namespace dolium::volume
