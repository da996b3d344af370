// MortonCode: the number of a chunk in a sharded scale.
//
// The "compressed Morton code" takes bits from x, y, z in turn, lowest first, and leaves
// out those that are zero in every cell of the grid: dimension d has bit i if and only if
// 2^i < n[d], n being the grid's size in chunks. (Old texts of the format say `<=`; no
// program does that.) Codes are dense only if every n[d] is a power of two.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "dolium/base/result.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

// A value; may be used from many threads.
class MortonCode {
 public:
  // kInvalidArgument if a size is negative, or the grid needs more than 64 bits.
  static Result<MortonCode> Make(const Vec3& grid);

  // Precondition: the cell is in the grid.
  uint64_t Encode(const Vec3& cell) const;
  // Nullopt if no cell of the grid has this code.
  std::optional<Vec3> Decode(uint64_t code) const;

  const Vec3& grid() const { return grid_; }
  const std::array<unsigned, 3>& bits() const { return bits_; }
  unsigned total_bits() const { return bits_[0] + bits_[1] + bits_[2]; }
  // The bits of a code that come from x, from y and from z.
  const std::array<uint64_t, 3>& masks() const { return masks_; }

 private:
  MortonCode() = default;

  Vec3 grid_ = {0, 0, 0};
  std::array<unsigned, 3> bits_ = {0, 0, 0};
  std::array<uint64_t, 3> masks_ = {0, 0, 0};
};

}  // namespace dolium::volume
