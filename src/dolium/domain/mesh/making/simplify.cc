#include "dolium/domain/mesh/making/simplify.h"

#include <meshoptimizer.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

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
  std::ranges::sort(
      sides, {}, [](const Side& side) { return std::tuple(side.triangle, side.number); });
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
      positions.push_back(static_cast<float>(mesh.vertices[vertex][d] * options.unit[d]));
    }
  }
  constexpr size_t kStride = 3 * sizeof(float);
  const float scale =
      meshopt_simplifyScale(positions.data(), part.vertices.size(), kStride);
  if (!(scale > 0)) return;
  const size_t least = lock_borders ? 0 : kLeastTriangles;
  const size_t triangles = part.corners.size() / 3;
  const auto wanted = static_cast<size_t>(options.share * static_cast<double>(triangles));
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

// A side of a triangle, from one vertex to another.
struct DirectedSide {
  uint32_t from = 0;
  uint32_t to = 0;
  uint32_t triangle = 0;

  auto vertices() const { return std::minmax(from, to); }
};

// How far a triangle is turned around the line through a side, as an angle from some
// direction.
double AngleAround(const Mesh& mesh, const DirectedSide& side) {
  const Triangle& t = mesh.triangles[side.triangle];
  uint32_t apex = t[0];
  for (const uint32_t vertex : t) {
    if (vertex != side.from && vertex != side.to) apex = vertex;
  }
  using Vector = std::array<double, 3>;
  const auto between = [&](uint32_t a, uint32_t b) {
    Vector vector;
    for (size_t d = 0; d < 3; ++d) {
      vector[d] = double{mesh.vertices[b][d]} - double{mesh.vertices[a][d]};
    }
    return vector;
  };
  const auto cross = [](const Vector& a, const Vector& b) {
    return Vector{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                  a[0] * b[1] - a[1] * b[0]};
  };
  const auto dot = [](const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  };
  // The same line for both directions.
  const auto [low, high] = side.vertices();
  const Vector line = between(low, high);
  Vector axis = {0, 0, 0};
  size_t least = 0;
  for (size_t d = 1; d < 3; ++d) {
    if (std::abs(line[d]) < std::abs(line[least])) least = d;
  }
  axis[least] = 1;
  const Vector x = cross(line, axis);
  const Vector y = cross(line, x);
  const Vector direction = between(low, apex);
  const double length = std::sqrt(dot(line, line));
  return std::atan2(dot(direction, y) / std::max(length, 1e-30), dot(direction, x));
}

// Splits the triangles at sides that more than two have, so that two and two have a side
// of their own: the inside lies between them. A collapse may leave such a side where it
// closes a gap. Returns whether there was one.
bool SplitRepeatedSides(Mesh& mesh) {
  std::vector<DirectedSide> sides;
  sides.reserve(mesh.triangles.size() * 3);
  for (uint32_t i = 0; i < mesh.triangles.size(); ++i) {
    const Triangle& t = mesh.triangles[i];
    for (size_t k = 0; k < 3; ++k) sides.push_back({t[k], t[(k + 1) % 3], i});
  }
  std::ranges::sort(sides, {}, [](const DirectedSide& side) {
    return std::tuple(side.vertices(), side.from, side.triangle);
  });
  std::vector<bool> is_split(mesh.triangles.size());
  bool found = false;
  for (size_t begin = 0, end = 0; begin < sides.size(); begin = end) {
    while (end < sides.size() && sides[end].vertices() == sides[begin].vertices()) ++end;
    if (end - begin <= 2) continue;
    std::vector<DirectedSide> forth;
    std::vector<DirectedSide> back;
    bool is_touched = false;
    for (size_t i = begin; i < end; ++i) {
      (sides[i].from == sides[begin].vertices().first ? forth : back).push_back(sides[i]);
      is_touched = is_touched || is_split[sides[i].triangle];
    }
    if (is_touched || forth.size() != back.size()) continue;
    for (size_t i = 0; i + 1 < forth.size(); ++i) {
      // From a triangle, the inside is where the angle falls.
      const double angle = AngleAround(mesh, forth[i]);
      const auto fall = [&](const DirectedSide& side) {
        const double turn = angle - AngleAround(mesh, side);
        return turn < 0 ? turn + 2 * std::numbers::pi : turn;
      };
      const auto partner = std::ranges::min_element(back, {}, fall);
      const float share = static_cast<float>(i + 1) / static_cast<float>(forth.size());
      const Point from = mesh.vertices[forth[i].from];
      const Point to = mesh.vertices[forth[i].to];
      const auto middle = static_cast<uint32_t>(mesh.vertices.size());
      Point& vertex = mesh.vertices.emplace_back();
      for (size_t d = 0; d < 3; ++d) vertex[d] = from[d] + share * (to[d] - from[d]);
      for (const DirectedSide& side : {forth[i], *partner}) {
        Triangle other = mesh.triangles[side.triangle];
        std::ranges::replace(other, side.from, middle);
        std::ranges::replace(mesh.triangles[side.triangle], side.to, middle);
        mesh.triangles.push_back(other);
        is_split[side.triangle] = true;
      }
      back.erase(partner);
      found = true;
    }
  }
  return found;
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
  // A triangle with several of them is split again.
  constexpr int kMostRounds = 8;
  for (int round = 0; round < kMostRounds && SplitRepeatedSides(mesh); ++round) continue;
  return {};
}

}  // namespace dolium::mesh
