#include "dolium/domain/mesh/making/simplify.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <meshoptimizer.h>

#include "dolium/base/parallel.h"

namespace dolium::mesh {
namespace {

constexpr uint32_t kUnused = std::numeric_limits<uint32_t>::max();
// What has fewer has no inside.
constexpr size_t kLeastTriangles = 4;

// Some triangles of a mesh, with the vertices that they use.
struct MeshPart {
  std::vector<uint32_t> vertices;  // of the mesh
  std::vector<uint32_t> corners;   // of triangles, one after another: of `vertices`
};

// Cuts parts out of a mesh, one after another.
class PartCutter {
 public:
  explicit PartCutter(const Mesh& mesh) : mesh_(mesh), numbers_(mesh.vertices.size()) {}

  MeshPart Cut(std::span<const uint32_t> triangles) {
    MeshPart part;
    part.corners.reserve(triangles.size() * 3);
    for (const uint32_t triangle : triangles) {
      for (const uint32_t vertex : mesh_.triangles[triangle]) {
        // A number of an earlier part is none of a vertex of this one.
        uint32_t& number = numbers_[vertex];
        if (number >= part.vertices.size() || part.vertices[number] != vertex) {
          number = static_cast<uint32_t>(part.vertices.size());
          part.vertices.push_back(vertex);
        }
        part.corners.push_back(number);
      }
    }
    return part;
  }

 private:
  const Mesh& mesh_;
  std::vector<uint32_t> numbers_;
};

// A triangle with its least corner first, so that equal ones are equal.
Triangle Turned(const Triangle& t) {
  if (t[0] < t[1] && t[0] < t[2]) return t;
  return t[1] < t[2] ? Triangle{t[1], t[2], t[0]} : Triangle{t[2], t[0], t[1]};
}

// Removes pairs of triangles that are two sides of one, which are what is left of a bump
// or of a bridge.
void RemovePairs(std::vector<uint32_t>& corners) {
  struct Side {
    Triangle triangle;  // of the pair, the same for both
    bool is_back = false;
    uint32_t number = 0;
  };
  std::vector<Side> sides;
  sides.reserve(corners.size() / 3);
  for (uint32_t i = 0; i < corners.size(); i += 3) {
    Triangle t = Turned({corners[i], corners[i + 1], corners[i + 2]});
    const bool is_back = t[1] > t[2];
    if (is_back) std::swap(t[1], t[2]);
    sides.push_back({t, is_back, i});
  }
  std::ranges::sort(sides, {}, [](const Side& side) {
    return std::tuple(side.triangle, side.number);
  });
  std::vector<uint32_t> removed;
  for (size_t i = 1; i < sides.size(); ++i) {
    if (sides[i - 1].triangle != sides[i].triangle ||
        sides[i - 1].is_back == sides[i].is_back) {
      continue;
    }
    removed.push_back(sides[i - 1].number);
    removed.push_back(sides[i].number);
    ++i;
  }
  if (removed.empty()) return;
  std::ranges::sort(removed);
  std::vector<uint32_t> kept;
  kept.reserve(corners.size());
  for (uint32_t i = 0; i < corners.size(); i += 3) {
    if (std::ranges::binary_search(removed, i)) continue;
    kept.insert(kept.end(), &corners[i], &corners[i] + 3);
  }
  corners = std::move(kept);
}

void SimplifyPart(const Mesh& mesh, const SimplifyOptions& options, bool lock_borders,
                  MeshPart& part) {
  std::vector<float> positions;
  positions.reserve(part.vertices.size() * 3);
  for (const uint32_t vertex : part.vertices) {
    for (size_t d = 0; d < 3; ++d) {
      positions.push_back(
          static_cast<float>(mesh.vertices[vertex][d] * options.unit[d]));
    }
  }
  constexpr size_t kStride = 3 * sizeof(float);
  const float scale =
      meshopt_simplifyScale(positions.data(), part.vertices.size(), kStride);
  if (!(scale > 0)) return;
  const size_t least = lock_borders ? 0 : kLeastTriangles;
  const auto wanted = static_cast<size_t>(
      options.share * static_cast<double>(part.corners.size() / 3));
  std::vector<uint32_t> simpler(part.corners.size());
  const size_t left = meshopt_simplify(
      simpler.data(), part.corners.data(), part.corners.size(), positions.data(),
      part.vertices.size(), kStride, 3 * std::max(wanted, least),
      static_cast<float>(options.error / static_cast<double>(scale)),
      lock_borders ? meshopt_SimplifyLockBorder : 0, nullptr);
  if (left < 3 * least) return;
  simpler.resize(left);
  RemovePairs(simpler);
  if (simpler.size() < 3 * least) return;
  part.corners = std::move(simpler);
}

void AppendPart(const MeshPart& part, std::vector<Triangle>& triangles) {
  for (size_t i = 0; i < part.corners.size(); i += 3) {
    triangles.push_back({part.vertices[part.corners[i]],
                         part.vertices[part.corners[i + 1]],
                         part.vertices[part.corners[i + 2]]});
  }
}

// The cube that a triangle is counted to.
using Cube = std::array<int32_t, 3>;

Cube CubeOf(const Mesh& mesh, const Triangle& triangle, const SimplifyOptions& options) {
  Cube cube;
  for (size_t d = 0; d < 3; ++d) {
    const float low =
        std::min({mesh.vertices[triangle[0]][d], mesh.vertices[triangle[1]][d],
                  mesh.vertices[triangle[2]][d]});
    cube[d] = static_cast<int32_t>(std::floor((low - options.shift) / options.side));
  }
  return cube;
}

Result<void> SimplifyInCubes(Mesh& mesh, const SimplifyOptions& options) {
  std::vector<Cube> cubes;
  cubes.reserve(mesh.triangles.size());
  for (const Triangle& triangle : mesh.triangles) {
    cubes.push_back(CubeOf(mesh, triangle, options));
  }
  std::vector<uint32_t> order(mesh.triangles.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](uint32_t triangle) { return cubes[triangle]; });
  std::vector<Triangle> simpler;
  PartCutter cutter(mesh);
  const size_t at_once = ThreadCount(options.jobs, order.size());
  for (size_t at = 0; at < order.size();) {
    std::vector<MeshPart> parts;
    while (parts.size() < at_once && at < order.size()) {
      const size_t begin = at;
      while (at < order.size() && cubes[order[at]] == cubes[order[begin]]) ++at;
      parts.push_back(cutter.Cut(std::span(order).subspan(begin, at - begin)));
    }
    DOLIUM_TRY_VOID(ParallelFor(parts.size(), at_once, [&](size_t i) -> Result<void> {
      SimplifyPart(mesh, options, /*lock_borders=*/true, parts[i]);
      return {};
    }));
    for (const MeshPart& part : parts) AppendPart(part, simpler);
  }
  if (simpler.size() >= kLeastTriangles) mesh.triangles = std::move(simpler);
  return {};
}

bool IsLarge(const Mesh& mesh, float side) {
  Point low = mesh.vertices.front();
  Point high = low;
  for (const Point& vertex : mesh.vertices) {
    for (size_t d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], vertex[d]);
      high[d] = std::max(high[d], vertex[d]);
    }
  }
  bool is_large = false;
  for (size_t d = 0; d < 3; ++d) is_large = is_large || high[d] - low[d] > side;
  return is_large;
}

}  // namespace

void RemoveUnused(Mesh& mesh) {
  std::vector<uint32_t> numbers(mesh.vertices.size(), kUnused);
  for (const Triangle& triangle : mesh.triangles) {
    for (const uint32_t vertex : triangle) numbers[vertex] = 0;
  }
  uint32_t kept = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == kUnused) continue;
    mesh.vertices[kept] = mesh.vertices[i];
    numbers[i] = kept++;
  }
  mesh.vertices.resize(kept);
  for (Triangle& triangle : mesh.triangles) {
    for (uint32_t& vertex : triangle) vertex = numbers[vertex];
  }
}

Result<void> Simplify(Mesh& mesh, const SimplifyOptions& options) {
  if (mesh.triangles.empty() || !(options.error > 0)) {
    RemoveUnused(mesh);
    return {};
  }
  if (!options.keep_borders && IsLarge(mesh, options.side)) {
    DOLIUM_TRY_VOID(SimplifyInCubes(mesh, options));
  } else {
    std::vector<uint32_t> all(mesh.triangles.size());
    std::iota(all.begin(), all.end(), 0U);
    MeshPart part = PartCutter(mesh).Cut(all);
    SimplifyPart(mesh, options, options.keep_borders, part);
    mesh.triangles.clear();
    AppendPart(part, mesh.triangles);
  }
  RemoveUnused(mesh);
  return {};
}

}  // namespace dolium::mesh
