#include "dolium/domain/skeleton/making/voxel_graph.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace dolium::skeleton {
namespace {

// The direction of a row around a voxel, in the order of z and y.
constexpr size_t DirectionOf(int64_t dy, int64_t dz) {
  return static_cast<size_t>((dz + 1) * 3 + dy + 1);
}
constexpr size_t kOwnRow = DirectionOf(0, 0);

}  // namespace

constexpr std::array<VoxelGraph::Successors, VoxelGraph::kDirections>
    VoxelGraph::kSuccessors = MakeSuccessors();

std::array<float, VoxelGraph::kDirections> VoxelGraph::DirectionLengths(
    const Resolution& resolution) {
  std::array<float, kDirections> lengths = {};
  for (int64_t dz = -1; dz <= 1; ++dz) {
    for (int64_t dy = -1; dy <= 1; ++dy) {
      for (int64_t dx = -1; dx <= 1; ++dx) {
        lengths[DirectionOf(dy, dz) * 3 + static_cast<size_t>(dx + 1)] =
            static_cast<float>(std::hypot(static_cast<double>(dx) * resolution[0],
                                          static_cast<double>(dy) * resolution[1],
                                          static_cast<double>(dz) * resolution[2]));
      }
    }
  }
  return lengths;
}

void VoxelGraph::Build(std::span<const Run> runs) {
  places_.clear();
  rows_.clear();
  corner_ = {runs.front().y, runs.front().z};
  sides_ = {0, runs.back().z - corner_[1] + 1};
  int64_t last_y = 0;
  for (const Run& run : runs) {
    corner_[0] = std::min<int64_t>(corner_[0], run.y);
    last_y = std::max<int64_t>(last_y, run.y);
  }
  sides_[0] = last_y - corner_[0] + 1;
  row_at_.assign(static_cast<size_t>(sides_[0] * sides_[1]), 0);
  for (const Run& run : runs) {
    if (rows_.empty() || rows_.back().y != run.y || rows_.back().z != run.z) {
      rows_.push_back({run.y, run.z, size(), size()});
      row_at_[static_cast<size_t>((run.z - corner_[1]) * sides_[0] + run.y -
                                  corner_[0])] = static_cast<uint32_t>(rows_.size());
    }
    for (uint16_t x = run.begin; x < run.end; ++x) places_.push_back({x, run.y, run.z});
    rows_.back().end = size();
  }
  links_.assign(places_.size(), Links{});
  // Of each direction, the row that is next to be looked at.
  std::array<size_t, kRows> next = {};
  for (const Row& row : rows_) {
    for (int64_t dz = -1; dz <= 1; ++dz) {
      for (int64_t dy = -1; dy <= 1; ++dy) {
        const size_t direction = DirectionOf(dy, dz);
        if (direction == kOwnRow) {
          LinkRow(row, row, direction);
          continue;
        }
        const auto wanted = std::tuple(row.z + dz, row.y + dy);
        size_t& at = next[direction];
        while (at < rows_.size() &&
               std::tuple<int64_t, int64_t>(rows_[at].z, rows_[at].y) < wanted) {
          ++at;
        }
        if (at < rows_.size() &&
            std::tuple<int64_t, int64_t>(rows_[at].z, rows_[at].y) == wanted) {
          LinkRow(row, rows_[at], direction);
        }
      }
    }
  }
}

void VoxelGraph::LinkRow(const Row& row, const Row& other, size_t direction) {
  const auto shift = static_cast<uint32_t>(3 * direction);
  if (direction == kOwnRow) {
    for (uint32_t voxel = row.begin; voxel < row.end; ++voxel) {
      const uint32_t x = places_[voxel][0];
      const bool before = voxel > row.begin && places_[voxel - 1][0] + 1U == x;
      const bool after = voxel + 1 < row.end && places_[voxel + 1][0] == x + 1U;
      // Itself is one, so that numbers follow each other; ForEachNeighbour() of callers
      // never finds it nearer than it is.
      links_[voxel].first[direction] = before ? voxel - 1 : voxel;
      links_[voxel].mask |= ((before ? 1U : 0U) | 2U | (after ? 4U : 0U)) << shift;
    }
    return;
  }
  uint32_t first = other.begin;
  for (uint32_t voxel = row.begin; voxel < row.end; ++voxel) {
    const uint32_t x = places_[voxel][0];
    while (first < other.end && places_[first][0] + 1U < x) ++first;
    uint32_t bits = 0;
    uint32_t at = first;
    for (uint32_t bit = 0; bit < 3; ++bit) {
      if (at < other.end && places_[at][0] + 1U == x + bit) {
        bits |= 1U << bit;
        ++at;
      }
    }
    links_[voxel].first[direction] = first;
    links_[voxel].mask |= bits << shift;
  }
}

std::array<uint32_t, 2> VoxelGraph::VoxelsOf(const Row& row, int64_t begin,
                                             int64_t end) const {
  const auto first = places_.begin() + row.begin;
  const auto last = places_.begin() + row.end;
  const auto x_of = [](const std::array<uint16_t, 3>& place) -> int64_t {
    return place[0];
  };
  const auto from = std::ranges::lower_bound(first, last, begin, {}, x_of);
  const auto to = std::ranges::lower_bound(from, last, end, {}, x_of);
  return {static_cast<uint32_t>(from - places_.begin()),
          static_cast<uint32_t>(to - places_.begin())};
}

uint32_t VoxelGraph::Find(const Vec3& place) const {
  const uint32_t row = row_at_[static_cast<size_t>((place[2] - corner_[1]) * sides_[0] +
                                                   place[1] - corner_[0])];
  return VoxelsOf(rows_[row - 1], place[0], place[0] + 1)[0];
}

}  // namespace dolium::skeleton
