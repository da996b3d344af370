#include "dolium/domain/mesh/mesh.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace dolium::mesh {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// What vertices are compared by: -0.0 is 0.0.
std::array<uint32_t, 3> KeyOf(const Point& point) {
  std::array<uint32_t, 3> key;
  for (size_t d = 0; d < 3; ++d) key[d] = std::bit_cast<uint32_t>(point[d] + 0.0F);
  return key;
}
std::array<uint32_t, 3> KeyOf(const std::array<uint32_t, 3>& point) { return point; }

uint64_t HashOf(const std::array<uint32_t, 3>& key) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  uint64_t hash = key[0] | uint64_t{key[1]} << 32;
  hash = (hash ^ (hash >> 29)) * kFactor;
  hash = (hash ^ key[2] ^ (hash >> 32)) * kFactor;
  return hash ^ (hash >> 32);
}

// Moves the first vertex of each kind to the front and returns where each has gone.
template <typename Vertex>
std::vector<uint32_t> MergeEqual(std::vector<Vertex>& vertices) {
  const size_t slots = std::bit_ceil(vertices.size() * 2 + 1);
  std::vector<uint32_t> table(slots, kNone);
  std::vector<uint32_t> renamed(vertices.size());
  uint32_t kept = 0;
  for (size_t i = 0; i < vertices.size(); ++i) {
    const auto key = KeyOf(vertices[i]);
    size_t slot = HashOf(key) & (slots - 1);
    while (table[slot] != kNone && KeyOf(vertices[table[slot]]) != key) {
      slot = (slot + 1) & (slots - 1);
    }
    if (table[slot] == kNone) {
      table[slot] = kept;
      vertices[kept++] = vertices[i];
    }
    renamed[i] = table[slot];
  }
  vertices.resize(kept);
  return renamed;
}

void Rename(std::vector<Triangle>& triangles, const std::vector<uint32_t>& renamed) {
  for (Triangle& triangle : triangles) {
    for (uint32_t& index : triangle) index = renamed[index];
  }
}

}  // namespace

void WeldVertices(Mesh& mesh) { Rename(mesh.triangles, MergeEqual(mesh.vertices)); }

void CleanMesh(QuantizedMesh& mesh) {
  Rename(mesh.triangles, MergeEqual(mesh.vertices));
  std::erase_if(mesh.triangles, [](const Triangle& t) {
    return t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
  });
  std::vector<uint32_t> renamed(mesh.vertices.size(), kNone);
  for (const Triangle& triangle : mesh.triangles) {
    for (const uint32_t index : triangle) renamed[index] = 0;
  }
  uint32_t kept = 0;
  for (size_t i = 0; i < renamed.size(); ++i) {
    if (renamed[i] == kNone) continue;
    mesh.vertices[kept] = mesh.vertices[i];
    renamed[i] = kept++;
  }
  mesh.vertices.resize(kept);
  Rename(mesh.triangles, renamed);
}

void Transform(const objects::Transform& transform, Mesh& mesh) {
  if (transform == objects::kIdentity) return;
  for (Point& vertex : mesh.vertices) vertex = objects::Apply(transform, vertex);
}

Result<void> AppendMesh(Mesh& to, const Mesh& mesh) {
  if (to.vertices.size() + mesh.vertices.size() > kNone) {
    return Unsupported("a mesh of more than 2^32 vertices");
  }
  const auto base = static_cast<uint32_t>(to.vertices.size());
  to.vertices.insert(to.vertices.end(), mesh.vertices.begin(), mesh.vertices.end());
  to.triangles.reserve(to.triangles.size() + mesh.triangles.size());
  for (const Triangle& t : mesh.triangles) {
    to.triangles.push_back({t[0] + base, t[1] + base, t[2] + base});
  }
  return {};
}

Result<void> Validate(const Mesh& mesh) {
  for (size_t i = 0; i < mesh.vertices.size(); ++i) {
    const Point& vertex = mesh.vertices[i];
    if (std::ranges::all_of(vertex, [](float number) { return std::isfinite(number); })) {
      continue;
    }
    return InvalidArgument(
        fmt::format("vertex {} is ({}, {}, {}), expected finite numbers", i, vertex[0],
                    vertex[1], vertex[2]));
  }
  for (size_t i = 0; i < mesh.triangles.size(); ++i) {
    for (const uint32_t index : mesh.triangles[i]) {
      if (index < mesh.vertices.size()) continue;
      return InvalidArgument(fmt::format("triangle {} has vertex {}, there are {}", i,
                                         index, mesh.vertices.size()));
    }
  }
  return {};
}

}  // namespace dolium::mesh
