#include "dolium/domain/skeleton/making/cross_section.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_set>

namespace dolium::skeleton {
namespace {

using Vector = std::array<double, 3>;

// So many vertices in each direction make up the direction of the line.
constexpr size_t kWindow = 5;

double Dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector Cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
          a[0] * b[1] - a[1] * b[0]};
}

Vector Normalized(const Vector& vector) {
  const double length = std::sqrt(Dot(vector, vector));
  if (length == 0) return {0, 0, 1};
  return {vector[0] / length, vector[1] / length, vector[2] / length};
}

// Which vertices each one is connected to.
class Links {
 public:
  explicit Links(const CenterLine& line) : first_(line.vertices.size() + 1) {
    for (const Edge& edge : line.edges) {
      for (const uint32_t end : edge) ++first_[end + 1];
    }
    for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    others_.resize(first_.back());
    std::vector<size_t> next = first_;
    for (const Edge& edge : line.edges) {
      others_[next[edge[0]]++] = edge[1];
      others_[next[edge[1]]++] = edge[0];
    }
  }

  size_t CountOf(uint32_t vertex) const { return first_[vertex + 1] - first_[vertex]; }

  // The vertex that a walk of kWindow steps ends at, or less at an end or a branch point.
  uint32_t Walk(uint32_t vertex, size_t link) const {
    uint32_t before = vertex;
    uint32_t at = others_[first_[vertex] + link];
    for (size_t i = 1; i < kWindow && CountOf(at) == 2; ++i) {
      const uint32_t next =
          others_[first_[at]] == before ? others_[first_[at] + 1] : others_[first_[at]];
      before = at;
      at = next;
    }
    return at;
  }

 private:
  std::vector<size_t> first_;
  std::vector<uint32_t> others_;
};

// The plane with this normal through the middle of a voxel, and how it cuts others.
class Plane {
 public:
  Plane(const Vector& normal, const Resolution& resolution)
      : normal_(normal), size_(resolution) {
    // Two directions in the plane.
    const Vector helper = std::abs(normal[0]) < 0.9 ? Vector{1, 0, 0} : Vector{0, 1, 0};
    across_ = Normalized(Cross(normal_, helper));
    along_ = Cross(normal_, across_);
    for (size_t d = 0; d < 3; ++d) extent_ += std::abs(normal_[d]) * size_[d] / 2;
  }

  // The area of the plane in the voxel at this place relative to its own.
  double AreaIn(const Vec3& place) const {
    Vector middle = {};
    for (size_t d = 0; d < 3; ++d) middle[d] = static_cast<double>(place[d]) * size_[d];
    const double height = Dot(middle, normal_);
    // A plane between two layers of voxels belongs to one of them.
    if (height >= extent_ || height < -extent_) return 0;
    return AreaOf(middle);
  }

 private:
  struct Corner {
    double angle;
    double across;
    double along;
  };

  // Of the polygon in which the plane cuts the twelve edges of a voxel.
  double AreaOf(const Vector& middle) const {
    std::array<Corner, 24> corners = {};
    size_t count = 0;
    for (size_t axis = 0; axis < 3; ++axis) {
      const size_t second = (axis + 1) % 3;
      const size_t third = (axis + 2) % 3;
      if (std::abs(normal_[axis]) < 1e-12) continue;
      for (const double b : {-0.5, 0.5}) {
        for (const double c : {-0.5, 0.5}) {
          Vector point = middle;
          point[second] += b * size_[second];
          point[third] += c * size_[third];
          const double away = -Dot(point, normal_) / normal_[axis];
          if (std::abs(away) > size_[axis] / 2) continue;
          point[axis] += away;
          corners[count++] = {0, Dot(point, across_), Dot(point, along_)};
        }
      }
    }
    if (count < 3) return 0;
    return AreaAround(std::span(corners).first(count));
  }

  static double AreaAround(std::span<Corner> corners) {
    double across = 0;
    double along = 0;
    for (const Corner& corner : corners) {
      across += corner.across / static_cast<double>(corners.size());
      along += corner.along / static_cast<double>(corners.size());
    }
    for (Corner& corner : corners) {
      corner.angle = std::atan2(corner.along - along, corner.across - across);
    }
    std::ranges::sort(corners, {}, &Corner::angle);
    double twice = 0;
    for (size_t i = 0; i < corners.size(); ++i) {
      const Corner& a = corners[i];
      const Corner& b = corners[(i + 1) % corners.size()];
      twice += a.across * b.along - b.across * a.along;
    }
    return std::abs(twice) / 2;
  }

  Vector normal_;
  Vector across_ = {};
  Vector along_ = {};
  Resolution size_;
  double extent_ = 0;  // half of the height of a voxel over the plane
};

// The sum of the areas in voxels that are connected by faces and edges within the plane.
double AreaAt(const LabelBlock& block, const Vec3& start, const Plane& plane) {
  const uint32_t label = block.labels[block.IndexOf(start[0], start[1], start[2])];
  std::unordered_set<size_t> seen;
  std::vector<Vec3> next = {start};
  seen.insert(block.IndexOf(start[0], start[1], start[2]));
  double sum = 0;
  while (!next.empty()) {
    const Vec3 at = next.back();
    next.pop_back();
    const double area =
        plane.AreaIn({at[0] - start[0], at[1] - start[1], at[2] - start[2]});
    if (area <= 0 && at != start) continue;
    sum += area;
    for (int64_t z = std::max<int64_t>(at[2] - 1, 0);
         z < std::min(at[2] + 2, block.size[2]); ++z) {
      for (int64_t y = std::max<int64_t>(at[1] - 1, 0);
           y < std::min(at[1] + 2, block.size[1]); ++y) {
        for (int64_t x = std::max<int64_t>(at[0] - 1, 0);
             x < std::min(at[0] + 2, block.size[0]); ++x) {
          const size_t index = block.IndexOf(x, y, z);
          if (block.labels[index] != label || !seen.insert(index).second) continue;
          next.push_back({x, y, z});
        }
      }
    }
  }
  return sum;
}

Vector DirectionAt(const CenterLine& line, const Links& links, uint32_t vertex,
                   const Resolution& resolution) {
  const size_t count = links.CountOf(vertex);
  if (count == 0) return {0, 0, 1};
  const uint32_t from = count > 1 ? links.Walk(vertex, 1) : vertex;
  const uint32_t to = links.Walk(vertex, 0);
  Vector direction = {};
  for (size_t d = 0; d < 3; ++d) {
    direction[d] = static_cast<double>(line.vertices[to][d] - line.vertices[from][d]) *
                   resolution[d];
  }
  return Normalized(direction);
}

}  // namespace

std::vector<float> MeasureCrossSections(const LabelBlock& block, const CenterLine& line,
                                        const Resolution& resolution) {
  const Links links(line);
  std::vector<float> areas;
  areas.reserve(line.vertices.size());
  for (uint32_t i = 0; i < line.vertices.size(); ++i) {
    const Plane plane(DirectionAt(line, links, i, resolution), resolution);
    areas.push_back(static_cast<float>(AreaAt(block, line.vertices[i], plane)));
  }
  return areas;
}

}  // namespace dolium::skeleton
