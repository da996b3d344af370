// LineGraph: lines that are joined, as vertices and who is connected to whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dolium/domain/skeleton/making/block_skeletons.h"
#include "dolium/domain/skeleton/skeleton.h"

namespace dolium::skeleton {

struct LineVertex {
  Vec3 place = {0, 0, 0};
  float radius = 0;
  float area = 0;
};

class LineGraph {
 public:
  LineGraph(std::vector<LineVertex> vertices, std::vector<Edge> edges,
            const Resolution& resolution);

  // Of strands; vertices with one place are one. It has the least of their radii, as a
  // block does not see a boundary beyond it, and for the same reason the largest area.
  static LineGraph Of(std::span<const SkeletonStrand> strands,
                      const Resolution& resolution);

  uint32_t size() const { return static_cast<uint32_t>(vertices_.size()); }
  const std::vector<LineVertex>& vertices() const { return vertices_; }
  const std::vector<Edge>& edges() const { return edges_; }

  std::span<const uint32_t> NeighboursOf(uint32_t vertex) const {
    return std::span(others_).subspan(first_[vertex],
                                      first_[vertex + 1] - first_[vertex]);
  }
  double Length(uint32_t a, uint32_t b) const;
  Point PositionOf(uint32_t vertex) const;

  // The vertices of each part that is connected, by their first.
  std::vector<std::vector<uint32_t>> Parts() const;

  // What is left of it with these edges, and the vertices that `keeps` says.
  LineGraph With(const std::vector<Edge>& edges, const std::vector<uint8_t>& keeps) const;

 private:
  std::vector<LineVertex> vertices_;
  std::vector<Edge> edges_;
  Resolution resolution_;
  std::vector<size_t> first_;
  std::vector<uint32_t> others_;
};

}  // namespace dolium::skeleton
