#include "dolium/domain/skeleton/making/filled_soma.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "dolium/domain/skeleton/making/distance.h"

namespace dolium::skeleton {
namespace {

constexpr uint32_t kUnknown = 0;
constexpr uint32_t kInside = 1;
constexpr uint32_t kOutside = 2;

// With a margin of one voxel where the block has one: there the component ends.
Box BoxAround(std::span<const Run> runs, const Vec3& block_size) {
  Box box = {{runs.front().begin, runs.front().y, runs.front().z}, {0, 0, 0}};
  for (const Run& run : runs) {
    const Vec3 first = {run.begin, run.y, run.z};
    const Vec3 end = {run.end, run.y + 1, run.z + 1};
    for (size_t d = 0; d < 3; ++d) {
      box.begin[d] = std::min(box.begin[d], first[d]);
      box.end[d] = std::max(box.end[d], end[d]);
    }
  }
  for (size_t d = 0; d < 3; ++d) {
    box.begin[d] = std::max<int64_t>(box.begin[d] - 1, 0);
    box.end[d] = std::min(box.end[d] + 1, block_size[d]);
  }
  return box;
}

// Marks all that can be reached, by faces, from the sides of the block.
void MarkOutside(LabelBlock& block) {
  std::vector<Vec3> next;
  const auto visit = [&](int64_t x, int64_t y, int64_t z) {
    uint32_t& label = block.labels[block.IndexOf(x, y, z)];
    if (label != kUnknown) return;
    label = kOutside;
    next.push_back({x, y, z});
  };
  const Vec3& size = block.size;
  for (int64_t z = 0; z < size[2]; ++z) {
    for (int64_t y = 0; y < size[1]; ++y) {
      const bool is_side = z == 0 || y == 0 || z + 1 == size[2] || y + 1 == size[1];
      const int64_t step = is_side ? 1 : std::max<int64_t>(size[0] - 1, 1);
      for (int64_t x = 0; x < size[0]; x += step) visit(x, y, z);
    }
  }
  while (!next.empty()) {
    const Vec3 at = next.back();
    next.pop_back();
    for (size_t d = 0; d < 3; ++d) {
      for (const int64_t step : {-1, 1}) {
        Vec3 there = at;
        there[d] += step;
        if (there[d] < 0 || there[d] >= size[d]) continue;
        visit(there[0], there[1], there[2]);
      }
    }
  }
}

}  // namespace

FilledComponent FillHoles(std::span<const Run> runs, const Vec3& block_size,
                          const Resolution& resolution) {
  const Box box = BoxAround(runs, block_size);
  LabelBlock block;
  block.size = box.size();
  block.labels.assign(static_cast<size_t>(block.size[0] * block.size[1] * block.size[2]),
                      kUnknown);
  for (const Run& run : runs) {
    const size_t begin = block.IndexOf(run.begin - box.begin[0], run.y - box.begin[1],
                                       run.z - box.begin[2]);
    std::fill_n(block.labels.begin() + static_cast<std::ptrdiff_t>(begin),
                run.end - run.begin, kInside);
  }
  MarkOutside(block);
  for (uint32_t& label : block.labels) label = label == kOutside ? 0 : kInside;
  // It has no thread of its own: errors are those of stop requests.
  const auto distances = DistanceToBoundary(block, resolution, /*jobs=*/1);
  FilledComponent filled;
  for (int64_t z = 0; z < block.size[2]; ++z) {
    for (int64_t y = 0; y < block.size[1]; ++y) {
      const size_t row = block.IndexOf(0, y, z);
      for (int64_t x = 0; x < block.size[0];) {
        const int64_t begin = x;
        while (x < block.size[0] && block.labels[row + static_cast<size_t>(x)] != 0) ++x;
        if (x == begin) {
          ++x;
          continue;
        }
        filled.runs.push_back({static_cast<uint16_t>(begin + box.begin[0]),
                               static_cast<uint16_t>(x + box.begin[0]),
                               static_cast<uint16_t>(y + box.begin[1]),
                               static_cast<uint16_t>(z + box.begin[2])});
        filled.distances.insert(
            filled.distances.end(),
            distances->begin() + static_cast<std::ptrdiff_t>(row) + begin,
            distances->begin() + static_cast<std::ptrdiff_t>(row) + x);
      }
    }
  }
  return filled;
}

}  // namespace dolium::skeleton
