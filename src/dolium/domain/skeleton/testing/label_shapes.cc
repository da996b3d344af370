#include "dolium/domain/skeleton/testing/label_shapes.h"

#include <functional>
#include <numeric>

namespace dolium::skeleton {
namespace {

std::vector<size_t> DegreesOf(const Skeleton& skeleton) {
  std::vector<size_t> degrees(skeleton.vertices.size());
  for (const Edge& edge : skeleton.edges) {
    for (const uint32_t end : edge) ++degrees[end];
  }
  return degrees;
}

}  // namespace

double LengthOf(const Skeleton& skeleton) {
  double sum = 0;
  for (const auto& [a, b] : skeleton.edges) {
    const Point& from = skeleton.vertices[a];
    const Point& to = skeleton.vertices[b];
    sum += std::hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
  }
  return sum;
}

size_t EndsOf(const Skeleton& skeleton) {
  return static_cast<size_t>(std::ranges::count(DegreesOf(skeleton), size_t{1}));
}

size_t ForksOf(const Skeleton& skeleton) {
  return static_cast<size_t>(
      std::ranges::count_if(DegreesOf(skeleton), [](size_t n) { return n > 2; }));
}

size_t TreesOf(const Skeleton& skeleton) {
  std::vector<uint32_t> roots(skeleton.vertices.size());
  std::iota(roots.begin(), roots.end(), 0U);
  const auto find = [&](uint32_t vertex) {
    while (roots[vertex] != vertex) vertex = roots[vertex] = roots[roots[vertex]];
    return vertex;
  };
  size_t trees = skeleton.vertices.size();
  for (const auto& [a, b] : skeleton.edges) {
    if (find(a) == find(b)) return 0;
    roots[find(a)] = find(b);
    --trees;
  }
  return trees;
}

}  // namespace dolium::skeleton
