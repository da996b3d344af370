#include "dolium/domain/mesh/making/cell_mesh.h"

#include <array>
#include <bit>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "dolium/domain/mesh/making/cell_table.h"

namespace dolium::mesh {
namespace {

// A cell has the three edges that meet in its last corner; it shares each other one with
// a cell before it, whose last corner they are at.
//
// The neighbour that has an edge, as the distance to it, and the edge's axis.
struct EdgeOwner {
  size_t neighbour = 0;  // of kNeighbours
  unsigned axis = 0;
};

constexpr uint64_t kStepX = uint64_t{1} << CellList::kXShift;
constexpr uint64_t kStepY = uint64_t{1} << CellList::kYShift;
constexpr uint64_t kStepZ = uint64_t{1} << CellList::kZShift;
constexpr uint64_t kCoordinate = (uint64_t{1} << 18) - 1;

// How far back the owners of edges are, the cell itself first.
constexpr std::array<uint64_t, 7> kNeighbours = {
    0, kStepX, kStepY, kStepZ, kStepX + kStepY, kStepX + kStepZ, kStepY + kStepZ};

constexpr std::array<EdgeOwner, kCellEdges> MakeOwners() {
  constexpr std::array<std::array<uint64_t, 2>, 3> kOthers = {
      {{kStepY, kStepZ}, {kStepX, kStepZ}, {kStepX, kStepY}}};
  std::array<EdgeOwner, kCellEdges> owners;
  for (unsigned edge = 0; edge < kCellEdges; ++edge) {
    const unsigned axis = edge / 4;
    const uint64_t back = ((edge & 1) == 0 ? kOthers[axis][0] : 0) +
                          ((edge & 2) == 0 ? kOthers[axis][1] : 0);
    size_t neighbour = 0;
    while (kNeighbours[neighbour] != back) ++neighbour;
    owners[edge] = {neighbour, axis};
  }
  return owners;
}
constexpr std::array<EdgeOwner, kCellEdges> kOwners = MakeOwners();

// Which of its own edges a cell has a vertex on, bit by bit by axis: where the last
// corner and the one before it on that axis differ.
constexpr unsigned OwnVertices(unsigned corners) {
  const unsigned last = (corners >> 7 & 1) * 7;
  return ((corners >> 6 & 1) | (corners >> 5 & 1) << 1 | (corners >> 3 & 1) << 2) ^ last;
}

class SurfaceMaker {
 public:
  explicit SurfaceMaker(const CellList& cells)
      : cells_(cells.packed()), first_vertex_(cells_.size()) {}

  Result<Mesh> Make(const volume::Box& part) {
    const auto& cases = CellCases();
    for (size_t i = 0; i < cells_.size(); ++i) {
      const uint64_t cell = cells_[i];
      // One before the origin is 0.
      const std::array<uint64_t, 3> at = {cell >> CellList::kXShift & kCoordinate,
                                          cell >> CellList::kYShift & kCoordinate,
                                          cell >> CellList::kZShift & kCoordinate};
      if (mesh_.vertices.size() > std::numeric_limits<uint32_t>::max() - 3) {
        return Unsupported("a surface of more than 2^32 vertices");
      }
      first_vertex_[i] = static_cast<uint32_t>(mesh_.vertices.size());
      AddVertices(OwnVertices(cell & 0xFF), at);
      bool is_inside = true;
      for (size_t d = 0; d < 3; ++d) {
        is_inside =
            is_inside && at[d] >= 1 && static_cast<int64_t>(at[d]) - 1 < part.size()[d];
      }
      if (is_inside) DOLIUM_TRY_VOID(AddTriangles(i, cases[cell & 0xFF]));
    }
    return std::move(mesh_);
  }

 private:
  void AddVertices(unsigned axes, const std::array<uint64_t, 3>& at) {
    if (axes == 0) return;
    // The centre of the last voxel; the one before the origin has its at -1.
    const Point last = {2 * static_cast<float>(at[0]) + 1,
                        2 * static_cast<float>(at[1]) + 1,
                        2 * static_cast<float>(at[2]) + 1};
    for (size_t d = 0; d < 3; ++d) {
      if ((axes >> d & 1) == 0) continue;
      Point& vertex = mesh_.vertices.emplace_back(last);
      vertex[d] -= 1;
    }
  }

  Result<void> AddTriangles(size_t index, const CellCase& shape) {
    std::array<uint32_t, kCellEdges> vertices;
    std::array<bool, kCellEdges> known = {};
    for (const auto& edges : shape.used()) {
      Triangle& triangle = mesh_.triangles.emplace_back();
      for (size_t i = 0; i < 3; ++i) {
        const uint8_t edge = edges[i];
        if (!known[edge]) {
          DOLIUM_TRY(vertices[edge], VertexOn(edge, index));
          known[edge] = true;
        }
        triangle[i] = vertices[edge];
      }
    }
    return {};
  }

  // The owner of an edge comes before the cell, and after the owner of the same edge of
  // the cell before: each is found by going on from there.
  Result<uint32_t> VertexOn(uint8_t edge, size_t index) {
    const auto [neighbour, axis] = kOwners[edge];
    size_t owner = index;
    if (neighbour != 0) {
      const uint64_t wanted = (cells_[index] >> CellList::kXShift << CellList::kXShift) -
                              kNeighbours[neighbour];
      size_t& at = reached_[neighbour];
      while (cells_[at] < wanted) ++at;
      owner = at;
      if (cells_[at] - wanted > 0xFF) return MissingCell();
    }
    const unsigned own = OwnVertices(cells_[owner] & 0xFF);
    if ((own >> axis & 1) == 0) return MissingCell();
    const unsigned before = own & ((1U << axis) - 1);
    return first_vertex_[owner] + static_cast<uint32_t>(std::popcount(before));
  }

  static Error MissingCell() {
    return Corrupt("cells of a surface are missing, or do not fit each other");
  }

  const std::vector<uint64_t>& cells_;
  std::vector<uint32_t> first_vertex_;
  std::array<size_t, kNeighbours.size()> reached_ = {};
  Mesh mesh_;
};

}  // namespace

Result<Mesh> MakeSurface(const CellList& cells, const volume::Box& part) {
  return SurfaceMaker(cells).Make(part);
}

}  // namespace dolium::mesh
