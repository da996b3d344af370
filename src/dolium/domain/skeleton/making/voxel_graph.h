// VoxelGraph: the voxels of one component, and which are neighbours.
//
// Voxels are numbered in the order of z, y, x. In each of the nine rows around a voxel
// its neighbours are up to three, and their numbers follow each other: so the number of
// the first, and three bits that say which there are, are all that is kept.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dolium/domain/skeleton/making/label_components.h"

namespace dolium::skeleton {

class VoxelGraph {
 public:
  static constexpr size_t kRows = 9;
  static constexpr size_t kDirections = 3 * kRows;

  // Takes the place of what it had, and keeps the memory. Runs are in the order of z, y,
  // x, and fewer than 2^32 voxels.
  void Build(std::span<const Run> runs);

  uint32_t size() const { return static_cast<uint32_t>(places_.size()); }
  Vec3 PlaceOf(uint32_t voxel) const {
    const auto [x, y, z] = places_[voxel];
    return {x, y, z};
  }
  // The number of a voxel of the component. Precondition: it is one.
  uint32_t Find(const Vec3& place) const;

  // Calls visit(neighbour, direction); direction is the index of DirectionLengths().
  template <typename Visit>
  void ForEachNeighbour(uint32_t voxel, const Visit& visit) const {
    const Links& links = links_[voxel];
    for (size_t row = 0; row < kRows; ++row) {
      uint32_t bits = (links.mask >> (3 * row)) & 7U;
      uint32_t neighbour = links.first[row];
      while (bits != 0) {
        visit(neighbour, 3 * row + static_cast<size_t>(std::countr_zero(bits)));
        ++neighbour;
        bits &= bits - 1;
      }
    }
  }

  // Whether it has all neighbours that there can be.
  bool IsInner(uint32_t voxel) const { return links_[voxel].mask == kAllNeighbours; }

  // The same for an inner voxel that was reached in a direction at the least distance,
  // but only for neighbours that have no way as short that turns sooner. The long steps
  // of a shortest way can be taken first wherever all neighbours are there, so that no
  // voxel is left out and each has its least distance.
  template <typename Visit>
  void ForEachBeyond(uint32_t voxel, size_t reached, const Visit& visit) const {
    const Links& links = links_[voxel];
    const Successors& beyond = kSuccessors[reached];
    for (size_t i = 0; i < beyond.count; ++i) {
      const size_t direction = beyond.directions[i];
      visit(links.first[direction / 3] + static_cast<uint32_t>(direction % 3), direction);
    }
  }

  // Calls visit(first, end) for the voxels of each row with some within `reach` of a
  // voxel, in units of `resolution`.
  template <typename Visit>
  void ForEachRowAround(uint32_t voxel, double reach, const Resolution& resolution,
                        const Visit& visit) const;

  // How far the centres of neighbours are apart.
  static std::array<float, kDirections> DirectionLengths(const Resolution& resolution);

 private:
  struct Links {
    std::array<uint32_t, kRows> first;
    uint32_t mask;
  };
  // The voxels of a row, by number.
  struct Row {
    uint16_t y = 0;
    uint16_t z = 0;
    uint32_t begin = 0;
    uint32_t end = 0;
  };

  static constexpr uint32_t kAllNeighbours = (1U << kDirections) - 1;
  struct Successors {
    std::array<uint8_t, 7> directions = {};
    uint8_t count = 0;
  };
  // Of each direction, those that take a part of its steps, and no other.
  static constexpr std::array<Successors, kDirections> MakeSuccessors() {
    std::array<Successors, kDirections> all = {};
    for (size_t from = 0; from < kDirections; ++from) {
      for (size_t to = 0; to < kDirections; ++to) {
        bool is_part = to != kDirections / 2;
        for (size_t unit = 1; unit < kDirections; unit *= 3) {
          const size_t step = to / unit % 3;
          is_part = is_part && (step == 1 || step == from / unit % 3);
        }
        if (is_part) all[from].directions[all[from].count++] = static_cast<uint8_t>(to);
      }
    }
    return all;
  }
  static const std::array<Successors, kDirections> kSuccessors;

  // The voxels of a row whose x is in [begin, end).
  std::array<uint32_t, 2> VoxelsOf(const Row& row, int64_t begin, int64_t end) const;
  void LinkRow(const Row& row, const Row& other, size_t direction);

  std::vector<std::array<uint16_t, 3>> places_;
  std::vector<Links> links_;
  std::vector<Row> rows_;
  // The box around the rows, and the number of each row in it, counted from 1.
  std::array<int64_t, 2> corner_ = {0, 0};  // y, z
  std::array<int64_t, 2> sides_ = {0, 0};
  std::vector<uint32_t> row_at_;
};

template <typename Visit>
void VoxelGraph::ForEachRowAround(uint32_t voxel, double reach,
                                  const Resolution& resolution,
                                  const Visit& visit) const {
  const Vec3 at = PlaceOf(voxel);
  const auto steps = [&](double distance, size_t d) {
    return static_cast<int64_t>(
        std::min(distance / resolution[d], static_cast<double>(kMaxBlockSide)));
  };
  const int64_t depth = steps(reach, 2);
  const int64_t z_end = std::min(at[2] + depth + 1, corner_[1] + sides_[1]);
  for (int64_t z = std::max(at[2] - depth, corner_[1]); z < z_end; ++z) {
    const double dz = static_cast<double>(z - at[2]) * resolution[2];
    const double in_plane = std::sqrt(std::max(0.0, reach * reach - dz * dz));
    const int64_t height = steps(in_plane, 1);
    const int64_t y_end = std::min(at[1] + height + 1, corner_[0] + sides_[0]);
    for (int64_t y = std::max(at[1] - height, corner_[0]); y < y_end; ++y) {
      const uint32_t row =
          row_at_[static_cast<size_t>((z - corner_[1]) * sides_[0] + y - corner_[0])];
      if (row == 0) continue;
      const double dy = static_cast<double>(y - at[1]) * resolution[1];
      const int64_t width =
          steps(std::sqrt(std::max(0.0, in_plane * in_plane - dy * dy)), 0);
      const auto [first, end] =
          VoxelsOf(rows_[row - 1], at[0] - width, at[0] + width + 1);
      if (first < end) visit(first, end);
    }
  }
}

}  // namespace dolium::skeleton
