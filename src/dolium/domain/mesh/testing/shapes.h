// Meshes of shapes for tests.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <vector>

#include "dolium/domain/mesh/mesh.h"

namespace dolium::mesh {

// A closed sphere of `rings` rings and 2 * rings columns.
inline Mesh Sphere(const Point& centre, float radius, uint32_t rings) {
  Mesh mesh;
  const uint32_t columns = 2 * rings;
  const auto add = [&](double theta, double phi) {
    mesh.vertices.push_back(
        {static_cast<float>(centre[0] + radius * std::sin(theta) * std::cos(phi)),
         static_cast<float>(centre[1] + radius * std::sin(theta) * std::sin(phi)),
         static_cast<float>(centre[2] + radius * std::cos(theta))});
  };
  add(0, 0);
  for (uint32_t ring = 1; ring < rings; ++ring) {
    for (uint32_t column = 0; column < columns; ++column) {
      add(std::numbers::pi * ring / rings, 2 * std::numbers::pi * column / columns);
    }
  }
  add(std::numbers::pi, 0);
  const auto last = static_cast<uint32_t>(mesh.vertices.size() - 1);
  const auto at = [&](uint32_t ring, uint32_t column) {
    return 1 + (ring - 1) * columns + column % columns;
  };
  for (uint32_t column = 0; column < columns; ++column) {
    mesh.triangles.push_back({0, at(1, column), at(1, column + 1)});
    for (uint32_t ring = 1; ring + 1 < rings; ++ring) {
      const uint32_t a = at(ring, column);
      const uint32_t b = at(ring, column + 1);
      const uint32_t c = at(ring + 1, column);
      const uint32_t d = at(ring + 1, column + 1);
      mesh.triangles.push_back({a, c, d});
      mesh.triangles.push_back({a, d, b});
    }
    mesh.triangles.push_back({last, at(rings - 1, column + 1), at(rings - 1, column)});
  }
  return mesh;
}

// A flat sheet of size x size squares, one step apart.
inline QuantizedMesh Sheet(uint32_t size) {
  QuantizedMesh mesh;
  for (uint32_t y = 0; y <= size; ++y) {
    for (uint32_t x = 0; x <= size; ++x) mesh.vertices.push_back({x, y, 0});
  }
  for (uint32_t y = 0; y < size; ++y) {
    for (uint32_t x = 0; x < size; ++x) {
      const uint32_t a = y * (size + 1) + x;
      const uint32_t b = a + size + 1;
      mesh.triangles.push_back({a, a + 1, b});
      mesh.triangles.push_back({a + 1, b + 1, b});
    }
  }
  return mesh;
}

// A mesh whatever the order of its vertices and triangles: its triangles as positions,
// each beginning with its smallest corner, sorted.
template <typename AnyMesh>
auto Corners(const AnyMesh& mesh) {
  using Vertex = typename decltype(mesh.vertices)::value_type;
  std::vector<std::array<Vertex, 3>> triangles;
  for (const auto& t : mesh.triangles) {
    std::array<Vertex, 3> corners = {mesh.vertices[t[0]], mesh.vertices[t[1]],
                                     mesh.vertices[t[2]]};
    std::rotate(corners.begin(), std::min_element(corners.begin(), corners.end()),
                corners.end());
    triangles.push_back(corners);
  }
  std::sort(triangles.begin(), triangles.end());
  return triangles;
}

}  // namespace dolium::mesh
