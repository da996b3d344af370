// CellGrid: one level of a spatial index as a grid of cells, and which of them an
// annotation is in.
//
// A point is in one cell; all else is in every cell that it meets. What lies outside of
// the bounds is in the cells at their edge.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/annotation/annotation_info.h"

namespace dolium::annotation {

// A closed box of coordinates.
struct Region {
  std::vector<double> lower;
  std::vector<double> upper;
};

// What a geometry reaches.
Region RegionOf(AnnotationType type, size_t rank, std::span<const float> geometry);

// Whether a geometry has a point in the region. A polyline and a line are their segments,
// a box and an ellipsoid are solid.
bool Intersects(AnnotationType type, size_t rank, std::span<const float> geometry,
                const Region& region);

using Cell = std::vector<uint64_t>;

// A value; may be used from many threads.
class CellGrid {
 public:
  // Precondition: Validate(info) holds, or the grid and the cells are as it has them.
  CellGrid(const std::vector<double>& lower_bound, const SpatialLevel& level);

  size_t rank() const { return shape_.size(); }
  // Of all cells; the largest number if they do not count in 64 bits.
  uint64_t cell_count() const;

  // The compressed Morton code of a cell: the key of its list in shards.
  uint64_t Encode(std::span<const uint64_t> cell) const;
  // Nullopt if no cell has the code.
  std::optional<Cell> Decode(uint64_t code) const;
  // `i_j_k`: the file of its list.
  static std::string NameOf(std::span<const uint64_t> cell);
  std::optional<Cell> ParseName(std::string_view name) const;

  // Calls `visit(cell)` for each cell that an annotation is in.
  using CellVisitor = std::function<void(std::span<const uint64_t> cell)>;
  void VisitCells(AnnotationType type, std::span<const float> geometry,
                  const CellVisitor& visit) const;
  // The code of the one cell that a point is in.
  uint64_t CodeOfPoint(std::span<const float> point) const;

  // The first and the last cell in each dimension that may have something in the region.
  struct CellRange {
    Cell first;
    Cell last;

    uint64_t count() const;
    bool Contains(std::span<const uint64_t> cell) const;
  };
  CellRange RangeOf(const Region& region) const;

 private:
  uint64_t IndexOf(size_t dimension, double coordinate) const;
  void Split(AnnotationType type, std::span<const float> geometry, Cell& first,
             Cell& last, const CellVisitor& visit) const;
  Region RegionOf(const Cell& first, const Cell& last) const;

  std::vector<double> lower_;
  std::vector<double> chunk_;
  Cell shape_;
  std::vector<unsigned> bits_;  // of each dimension's coordinates
};

}  // namespace dolium::annotation
