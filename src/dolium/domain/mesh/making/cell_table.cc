#include "dolium/domain/mesh/making/cell_table.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace dolium::mesh {
namespace {

constexpr uint8_t kNoEdge = kCellEdges;

// The edge between two corners that differ in one axis.
uint8_t EdgeBetween(unsigned a, unsigned b) {
  const unsigned differing = a ^ b;
  const unsigned low = a & b;
  if (differing == 1) return static_cast<uint8_t>(low >> 1);
  if (differing == 2) return static_cast<uint8_t>(4 + ((low & 1) | (low >> 2) << 1));
  return static_cast<uint8_t>(8 + (low & 3));
}

// The corners of a face, counterclockwise as seen from outside of the cell.
std::array<unsigned, 4> CornersOf(size_t face) {
  const size_t axis = face / 2;
  const bool is_high = face % 2 != 0;
  const unsigned u = 1U << (axis + 1) % 3;
  const unsigned v = 1U << (axis + 2) % 3;
  const unsigned base = is_high ? 1U << axis : 0;
  std::array<unsigned, 4> corners = {base, base | u, base | u | v, base | v};
  if (!is_high) std::reverse(corners.begin() + 1, corners.end());
  return corners;
}

// The faces that each edge is on, bit by bit.
std::array<unsigned, kCellEdges> FacesOfEdges() {
  std::array<unsigned, kCellEdges> faces = {};
  for (size_t face = 0; face < 6; ++face) {
    const auto corners = CornersOf(face);
    for (size_t i = 0; i < 4; ++i) {
      faces[EdgeBetween(corners[i], corners[(i + 1) % 4])] |= 1U << face;
    }
  }
  return faces;
}

// Where the outline goes on from each edge: on each face, it cuts off each row of corners
// that are inside.
std::array<uint8_t, kCellEdges> OutlineOf(unsigned inside) {
  std::array<uint8_t, kCellEdges> next;
  next.fill(kNoEdge);
  const auto is_inside = [&](unsigned corner) { return (inside >> corner & 1) != 0; };
  for (size_t face = 0; face < 6; ++face) {
    const auto corners = CornersOf(face);
    for (size_t i = 0; i < 4; ++i) {
      if (is_inside(corners[i]) || !is_inside(corners[(i + 1) % 4])) continue;
      size_t last = (i + 1) % 4;
      while (is_inside(corners[(last + 1) % 4])) last = (last + 1) % 4;
      const uint8_t enters = EdgeBetween(corners[i], corners[(i + 1) % 4]);
      const uint8_t leaves = EdgeBetween(corners[last], corners[(last + 1) % 4]);
      next[enters] = leaves;
    }
  }
  return next;
}

// Cuts polygons into triangles without a side across a face.
class PolygonCutter {
 public:
  PolygonCutter() : faces_(FacesOfEdges()) {}

  void Cut(const std::vector<uint8_t>& polygon, CellCase& into) const {
    CutRange(polygon, 0, polygon.size() - 1, into);
  }

 private:
  bool IsSide(const std::vector<uint8_t>& polygon, size_t a, size_t b) const {
    if (b == a + 1 || (a == 0 && b + 1 == polygon.size())) return true;
    return (faces_[polygon[a]] & faces_[polygon[b]]) == 0;
  }

  // The part between two vertices, which are joined. Returns false if it cannot be cut.
  bool CutRange(const std::vector<uint8_t>& polygon, size_t from, size_t to,
                CellCase& into) const {
    if (to - from < 2) return true;
    for (size_t middle = from + 1; middle < to; ++middle) {
      if (!IsSide(polygon, from, middle) || !IsSide(polygon, middle, to)) continue;
      const uint8_t before = into.count;
      into.triangles[into.count++] = {polygon[from], polygon[middle], polygon[to]};
      if (CutRange(polygon, from, middle, into) && CutRange(polygon, middle, to, into)) {
        return true;
      }
      into.count = before;
    }
    return false;
  }

  const std::array<unsigned, kCellEdges> faces_;
};

std::array<CellCase, 256> MakeCases() {
  const PolygonCutter cutter;
  std::array<CellCase, 256> cases;
  for (unsigned inside = 0; inside < cases.size(); ++inside) {
    auto next = OutlineOf(inside);
    for (size_t first = 0; first < kCellEdges; ++first) {
      std::vector<uint8_t> polygon;
      for (size_t edge = first; next[edge] != kNoEdge;) {
        polygon.push_back(static_cast<uint8_t>(edge));
        edge = std::exchange(next[edge], kNoEdge);
      }
      if (!polygon.empty()) cutter.Cut(polygon, cases[inside]);
    }
  }
  return cases;
}

}  // namespace

const std::array<CellCase, 256>& CellCases() {
  static const std::array<CellCase, 256> cases = MakeCases();
  return cases;
}

}  // namespace dolium::mesh
