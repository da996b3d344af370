#include "dolium/domain/skeleton/making/line_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace dolium::skeleton {
namespace {

auto OrderOf(const Vec3& place) { return std::tuple(place[2], place[1], place[0]); }

}  // namespace

LineGraph::LineGraph(std::vector<LineVertex> vertices, std::vector<Edge> edges,
                     const Resolution& resolution)
    : vertices_(std::move(vertices)),
      edges_(std::move(edges)),
      resolution_(resolution),
      first_(vertices_.size() + 1) {
  for (const Edge& edge : edges_) {
    for (const uint32_t end : edge) ++first_[end + 1];
  }
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  others_.resize(first_.back());
  std::vector<size_t> next = first_;
  for (const auto& [a, b] : edges_) {
    others_[next[a]++] = b;
    others_[next[b]++] = a;
  }
}

LineGraph LineGraph::Of(std::span<const SkeletonStrand> strands,
                        const Resolution& resolution) {
  std::vector<LineVertex> vertices;
  for (const SkeletonStrand& strand : strands) {
    for (size_t i = 0; i < strand.line.vertices.size(); ++i) {
      vertices.push_back({strand.line.vertices[i], strand.line.radii[i],
                          strand.areas.empty() ? 0 : strand.areas[i]});
    }
  }
  std::ranges::sort(vertices, {},
                    [](const LineVertex& vertex) { return OrderOf(vertex.place); });
  size_t count = 0;
  for (const LineVertex& vertex : vertices) {
    if (count > 0 && vertices[count - 1].place == vertex.place) {
      LineVertex& same = vertices[count - 1];
      same.radius = std::min(same.radius, vertex.radius);
      same.area = std::max(same.area, vertex.area);
    } else {
      vertices[count++] = vertex;
    }
  }
  vertices.resize(count);
  const auto number_of = [&](const Vec3& place) {
    const auto found = std::ranges::lower_bound(
        vertices, OrderOf(place), {},
        [](const LineVertex& vertex) { return OrderOf(vertex.place); });
    return static_cast<uint32_t>(found - vertices.begin());
  };
  std::vector<Edge> edges;
  for (const SkeletonStrand& strand : strands) {
    for (const auto& [a, b] : strand.line.edges) {
      const uint32_t from = number_of(strand.line.vertices[a]);
      const uint32_t to = number_of(strand.line.vertices[b]);
      edges.push_back({std::min(from, to), std::max(from, to)});
    }
  }
  std::ranges::sort(edges);
  const auto repeated = std::ranges::unique(edges);
  edges.erase(repeated.begin(), repeated.end());
  return {std::move(vertices), std::move(edges), resolution};
}

double LineGraph::Length(uint32_t a, uint32_t b) const {
  const Vec3& from = vertices_[a].place;
  const Vec3& to = vertices_[b].place;
  return std::hypot(static_cast<double>(to[0] - from[0]) * resolution_[0],
                    static_cast<double>(to[1] - from[1]) * resolution_[1],
                    static_cast<double>(to[2] - from[2]) * resolution_[2]);
}

Point LineGraph::PositionOf(uint32_t vertex) const {
  Point position = {};
  for (size_t d = 0; d < 3; ++d) {
    position[d] = static_cast<float>(
        (static_cast<double>(vertices_[vertex].place[d]) + 0.5) * resolution_[d]);
  }
  return position;
}

std::vector<std::vector<uint32_t>> LineGraph::Parts() const {
  std::vector<std::vector<uint32_t>> parts;
  std::vector<uint8_t> seen(vertices_.size());
  for (uint32_t start = 0; start < size(); ++start) {
    if (seen[start] != 0) continue;
    seen[start] = 1;
    std::vector<uint32_t> part = {start};
    for (size_t i = 0; i < part.size(); ++i) {
      for (const uint32_t next : NeighboursOf(part[i])) {
        if (seen[next] != 0) continue;
        seen[next] = 1;
        part.push_back(next);
      }
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

LineGraph LineGraph::With(const std::vector<Edge>& edges,
                          const std::vector<uint8_t>& keeps) const {
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> number(vertices_.size(), kNone);
  std::vector<LineVertex> vertices;
  for (uint32_t i = 0; i < size(); ++i) {
    if (keeps[i] == 0) continue;
    number[i] = static_cast<uint32_t>(vertices.size());
    vertices.push_back(vertices_[i]);
  }
  std::vector<Edge> kept;
  kept.reserve(edges.size());
  for (const auto& [a, b] : edges) kept.push_back({number[a], number[b]});
  return {std::move(vertices), std::move(kept), resolution_};
}

}  // namespace dolium::skeleton
