#include "dolium/domain/volume/grid.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"

namespace dolium::volume {
namespace {

// Takes `begin-end` from the front of `text`; returns begin.
std::optional<int64_t> TakeRange(std::string_view& text) {
  int64_t begin = 0;
  int64_t end = 0;
  const char* const last = text.data() + text.size();
  const auto first_number = std::from_chars(text.data(), last, begin);
  if (first_number.ec != std::errc() || first_number.ptr == last ||
      *first_number.ptr != '-') {
    return std::nullopt;
  }
  const auto second_number = std::from_chars(first_number.ptr + 1, last, end);
  if (second_number.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(second_number.ptr - text.data()));
  return begin;
}

}  // namespace

Result<Grid> Grid::Make(const Box& bounds, const Vec3& chunk_size) {
  Grid grid;
  grid.bounds_ = bounds;
  grid.chunk_size_ = chunk_size;
  grid.cell_count_ = 1;
  for (size_t d = 0; d < 3; ++d) {
    if (bounds.begin[d] < -kMaxCoordinate || bounds.end[d] > kMaxCoordinate ||
        bounds.end[d] < bounds.begin[d]) {
      return InvalidArgument(fmt::format("voxels {}, expected ranges within -{}:{}",
                                         ToString(bounds), kMaxCoordinate,
                                         kMaxCoordinate));
    }
    if (chunk_size[d] < 1) {
      return InvalidArgument(
          fmt::format("chunks of {}, expected sizes from 1", ToString(chunk_size)));
    }
    const int64_t size = bounds.end[d] - bounds.begin[d];
    grid.shape_[d] = size == 0 ? 0 : (size - 1) / chunk_size[d] + 1;
  }
  for (const int64_t cells : grid.shape_) {
    const auto count = CheckedMul(grid.cell_count_, static_cast<uint64_t>(cells));
    if (!count) {
      return InvalidArgument(fmt::format(
          "{} voxels in chunks of {} are {} chunks, more than 2^64",
          ToString(bounds.size()), ToString(chunk_size), fmt::join(grid.shape_, " x ")));
    }
    grid.cell_count_ = *count;
  }
  return grid;
}

Box Grid::VoxelsOf(const Vec3& cell) const {
  return VoxelsOf(Box{cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}});
}

Box Grid::VoxelsOf(const Box& cells) const {
  Box voxels;
  for (size_t d = 0; d < 3; ++d) {
    voxels.begin[d] = bounds_.begin[d] + cells.begin[d] * chunk_size_[d];
    // The product is formed only where it stays within the bounds.
    voxels.end[d] = cells.end[d] == shape_[d]
                        ? bounds_.end[d]
                        : bounds_.begin[d] + cells.end[d] * chunk_size_[d];
  }
  return voxels;
}

Box Grid::CellsTouching(const Box& voxels) const {
  const Box common = bounds_.Intersect(voxels);
  if (common.empty()) return {};
  Box cells;
  for (size_t d = 0; d < 3; ++d) {
    cells.begin[d] = (common.begin[d] - bounds_.begin[d]) / chunk_size_[d];
    cells.end[d] = (common.end[d] - 1 - bounds_.begin[d]) / chunk_size_[d] + 1;
  }
  return cells;
}

std::string Grid::NameOf(const Vec3& cell) const {
  const Box voxels = VoxelsOf(cell);
  return fmt::format("{}-{}_{}-{}_{}-{}", voxels.begin[0], voxels.end[0], voxels.begin[1],
                     voxels.end[1], voxels.begin[2], voxels.end[2]);
}

std::optional<Vec3> Grid::ParseName(std::string_view name) const {
  Vec3 cell;
  std::string_view rest = name;
  for (size_t d = 0; d < 3; ++d) {
    if (d > 0) {
      if (!rest.starts_with('_')) return std::nullopt;
      rest.remove_prefix(1);
    }
    const auto begin = TakeRange(rest);
    if (!begin || *begin < bounds_.begin[d] || *begin >= bounds_.end[d]) {
      return std::nullopt;
    }
    cell[d] = (*begin - bounds_.begin[d]) / chunk_size_[d];
  }
  // All else, from the ends to leading zeros, must be as we would write it.
  if (NameOf(cell) != name) return std::nullopt;
  return cell;
}

}  // namespace dolium::volume
