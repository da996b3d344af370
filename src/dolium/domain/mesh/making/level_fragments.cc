#include "dolium/domain/mesh/making/level_fragments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "dolium/base/parallel.h"
#include "dolium/domain/mesh/draco.h"

namespace dolium::mesh {
namespace {

// Cuts triangles at planes; a side of two triangles is cut once.
class PlaneCutter {
 public:
  PlaneCutter(Mesh& mesh, size_t axis, float step)
      : mesh_(mesh), axis_(axis), step_(step) {}

  void CutAll() {
    std::vector<Triangle> whole;
    std::swap(whole, mesh_.triangles);
    mesh_.triangles.reserve(whole.size());
    for (const Triangle& triangle : whole) {
      left_.push_back(triangle);
      while (!left_.empty()) {
        const Triangle next = left_.back();
        left_.pop_back();
        Cut(next);
      }
    }
  }

 private:
  float At(uint32_t vertex) const { return mesh_.vertices[vertex][axis_]; }

  // Takes the part before the first plane; what is behind it is left to do.
  void Cut(const Triangle& t) {
    const float low = std::min({At(t[0]), At(t[1]), At(t[2])});
    const float high = std::max({At(t[0]), At(t[1]), At(t[2])});
    const float plane = (std::floor(low / step_) + 1) * step_;
    if (plane >= high) {
      mesh_.triangles.push_back(t);
      return;
    }
    polygon_[0].clear();
    polygon_[1].clear();
    for (size_t i = 0; i < 3; ++i) {
      const uint32_t vertex = t[i];
      const uint32_t next = t[(i + 1) % 3];
      const float at = At(vertex);
      if (at <= plane) polygon_[0].push_back(vertex);
      if (at >= plane) polygon_[1].push_back(vertex);
      if ((at < plane && At(next) > plane) || (at > plane && At(next) < plane)) {
        const uint32_t cut = VertexBetween(vertex, next, plane);
        polygon_[0].push_back(cut);
        polygon_[1].push_back(cut);
      }
    }
    AddPolygon(polygon_[0], mesh_.triangles);
    AddPolygon(polygon_[1], left_);
  }

  static void AddPolygon(const std::vector<uint32_t>& polygon,
                         std::vector<Triangle>& to) {
    for (size_t i = 2; i < polygon.size(); ++i) {
      to.push_back({polygon[0], polygon[i - 1], polygon[i]});
    }
  }

  uint32_t VertexBetween(uint32_t a, uint32_t b, float plane) {
    // The same numbers, whichever triangle asks.
    if (a > b) std::swap(a, b);
    const auto [entry, is_new] = cuts_.try_emplace(
        uint64_t{a} << 32 | b, static_cast<uint32_t>(mesh_.vertices.size()));
    if (!is_new) return entry->second;
    const Point from = mesh_.vertices[a];
    const Point to = mesh_.vertices[b];
    const double share = (static_cast<double>(plane) - from[axis_]) /
                         (static_cast<double>(to[axis_]) - from[axis_]);
    Point& vertex = mesh_.vertices.emplace_back();
    for (size_t d = 0; d < 3; ++d) {
      vertex[d] =
          static_cast<float>(from[d] + share * (static_cast<double>(to[d]) - from[d]));
    }
    vertex[axis_] = plane;
    return entry->second;
  }

  Mesh& mesh_;
  const size_t axis_;
  const float step_;
  std::vector<Triangle> left_;
  std::vector<uint32_t> polygon_[2];  // before the plane, and behind it
  std::unordered_map<uint64_t, uint32_t> cuts_;
};

// Between which planes a triangle lies that has been cut; one in a plane is counted to
// the side before it.
uint32_t SlabOf(const Mesh& mesh, const Triangle& t, size_t axis, float step) {
  const float low = std::min(
      {mesh.vertices[t[0]][axis], mesh.vertices[t[1]][axis], mesh.vertices[t[2]][axis]});
  const float high = std::max(
      {mesh.vertices[t[0]][axis], mesh.vertices[t[1]][axis], mesh.vertices[t[2]][axis]});
  const auto slab = static_cast<uint32_t>(std::floor(low / step));
  const bool is_on_plane = low == high && static_cast<float>(slab) * step == low;
  return is_on_plane && slab > 0 ? slab - 1 : slab;
}

Cell ParentOf(const Cell& cell) { return {cell[0] >> 1, cell[1] >> 1, cell[2] >> 1}; }

// A position as a number of steps from the beginning of its cell. Those on borders, and
// in the middle of a cell that is cut there, are set, not computed.
uint32_t QuantizedAt(float position, float begin, const LevelGrid& grid, float side) {
  const uint32_t most = (uint32_t{1} << grid.bits) - 1;
  if (position == begin) return 0;
  if (position == begin + side) return most;
  if (grid.halves && position == begin + side / 2) return uint32_t{1} << (grid.bits - 1);
  const double share = (static_cast<double>(position) - begin) / side;
  return static_cast<uint32_t>(
      std::clamp(std::round(share * most), 0.0, static_cast<double>(most)));
}

// The triangles of one cell.
QuantizedMesh Quantize(const Mesh& mesh, std::span<const uint32_t> triangles,
                       const Cell& cell, const LevelGrid& grid) {
  QuantizedMesh fragment;
  std::unordered_map<uint32_t, uint32_t> numbers;
  numbers.reserve(triangles.size());
  fragment.triangles.reserve(triangles.size());
  for (const uint32_t triangle : triangles) {
    Triangle& corners = fragment.triangles.emplace_back();
    for (size_t i = 0; i < 3; ++i) {
      const uint32_t vertex = mesh.triangles[triangle][i];
      const auto [entry, is_new] =
          numbers.try_emplace(vertex, static_cast<uint32_t>(fragment.vertices.size()));
      corners[i] = entry->second;
      if (!is_new) continue;
      auto& position = fragment.vertices.emplace_back();
      for (size_t d = 0; d < 3; ++d) {
        const float begin = static_cast<float>(cell[d]) * grid.cell[d];
        position[d] = QuantizedAt(mesh.vertices[vertex][d], begin, grid, grid.cell[d]);
      }
    }
  }
  return fragment;
}

}  // namespace

void CutAtPlanes(Mesh& mesh, size_t axis, float step) {
  PlaneCutter(mesh, axis, step).CutAll();
}

Result<LevelFragments> MakeFragments(Mesh mesh, const LevelGrid& grid, size_t jobs) {
  // Of what is cut: cells, or eighths of them.
  std::array<float, 3> step = grid.cell;
  for (size_t d = 0; d < 3; ++d) {
    if (grid.halves) step[d] /= 2;
    CutAtPlanes(mesh, d, step[d]);
  }
  std::vector<Cell> small_cells;
  small_cells.reserve(mesh.triangles.size());
  for (const Triangle& triangle : mesh.triangles) {
    Cell& cell = small_cells.emplace_back();
    for (size_t d = 0; d < 3; ++d) cell[d] = SlabOf(mesh, triangle, d, step[d]);
  }
  // Z order of eighths is one of cells as well.
  std::vector<uint32_t> order(mesh.triangles.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, CellBefore, [&](uint32_t t) { return small_cells[t]; });

  LevelFragments level;
  std::vector<std::pair<size_t, size_t>> ranges;
  for (size_t i = 0; i < order.size(); ++i) {
    const Cell& small_cell = small_cells[order[i]];
    const bool is_new = i == 0 || small_cells[order[i - 1]] != small_cell;
    if (is_new && grid.halves) level.finer_cells.push_back(small_cell);
    const Cell cell = grid.halves ? ParentOf(small_cell) : small_cell;
    if (level.fragments.empty() || level.fragments.back().cell != cell) {
      level.fragments.push_back({cell, {}});
      ranges.emplace_back(i, i);
    }
    ranges.back().second = i + 1;
  }
  DOLIUM_TRY_VOID(ParallelFor(ranges.size(), jobs, [&](size_t i) -> Result<void> {
    const auto triangles =
        std::span(order).subspan(ranges[i].first, ranges[i].second - ranges[i].first);
    LevelFragments::Fragment& fragment = level.fragments[i];
    DOLIUM_TRY(fragment.bytes,
               EncodeFragment(Quantize(mesh, triangles, fragment.cell, grid), grid.bits));
    return {};
  }));
  std::erase_if(level.fragments, [](const LevelFragments::Fragment& fragment) {
    return fragment.bytes.empty();
  });
  return level;
}

}  // namespace dolium::mesh
