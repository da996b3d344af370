// Grid: a scale cut into chunks of one size.
//
// Cell g covers the voxels [offset + g * chunk, offset + min((g + 1) * chunk, size)):
// chunks at the far edges are truncated, never padded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

// Voxels lie in [-kMaxCoordinate, kMaxCoordinate), so that no sum or difference of two
// coordinates overflows. It is TensorStore's largest
// index.
inline constexpr int64_t kMaxCoordinate = (int64_t{1} << 62) - 2;

// A value; may be used from many threads.
class Grid {
 public:
  // `bounds` begins at the voxel offset and may be empty. kInvalidArgument if it leaves
  // the coordinates above, a chunk's side is less than 1, or the cells do not count in 64
  // bits.
  static Result<Grid> Make(const Box& bounds, const Vec3& chunk_size);

  const Box& bounds() const { return bounds_; }
  const Vec3& chunk_size() const { return chunk_size_; }
  const Vec3& shape() const { return shape_; }  // in cells
  Box cells() const { return {{0, 0, 0}, shape_}; }
  uint64_t cell_count() const { return cell_count_; }

  // The voxels of one cell, and of a box of cells. Precondition: they are in the grid.
  Box VoxelsOf(const Vec3& cell) const;
  Box VoxelsOf(const Box& cells) const;

  // The cells that have a voxel of `voxels`; empty if none has.
  Box CellsTouching(const Box& voxels) const;

  // The file of a cell in an unsharded scale: `x0-x1_y0-y1_z0-z1`, ends exclusive;
  // negative numbers have a minus of their own: `-10-6_-20--4_5-21`.
  std::string NameOf(const Vec3& cell) const;
  // The cell whose name this is, exactly; nullopt if it is the name of none.
  std::optional<Vec3> ParseName(std::string_view name) const;

  friend bool operator==(const Grid&, const Grid&) = default;

 private:
  Grid() = default;

  Box bounds_;
  Vec3 chunk_size_ = {1, 1, 1};
  Vec3 shape_ = {0, 0, 0};
  uint64_t cell_count_ = 0;
};

}  // namespace dolium::volume
