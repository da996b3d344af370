// Mesh: triangles, as everything above the formats sees them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/objects/object_info.h"

namespace dolium::mesh {

using objects::Point;
using Triangle = std::array<uint32_t, 3>;

struct Mesh {
  std::vector<Point> vertices;
  std::vector<Triangle> triangles;  // indices of vertices

  friend bool operator==(const Mesh&, const Mesh&) = default;
};

// What a fragment holds: vertices in units of its cell's extent / (2^bits - 1).
struct QuantizedMesh {
  std::vector<std::array<uint32_t, 3>> vertices;
  std::vector<Triangle> triangles;

  friend bool operator==(const QuantizedMesh&, const QuantizedMesh&) = default;
};

// Makes one vertex of all that are equal, the first of them, and leaves all triangles:
// what joins fragments at their borders.
void WeldVertices(Mesh& mesh);

// The same for quantised vertices; also drops triangles without area, and vertices that
// no triangle uses.
void CleanMesh(QuantizedMesh& mesh);

void Transform(const objects::Transform& transform, Mesh& mesh);

// Adds the vertices and triangles of another mesh. kUnsupported if the vertices are more
// than 2^32.
Result<void> AppendMesh(Mesh& to, const Mesh& mesh);

// kInvalidArgument if an index is none of a vertex, or a vertex is not finite.
Result<void> Validate(const Mesh& mesh);

}  // namespace dolium::mesh
