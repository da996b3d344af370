#include "dolium/domain/skeleton/making/line_paths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>

#include "dolium/domain/skeleton/making/distance.h"

namespace dolium::skeleton {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr uint32_t kNoVertex = std::numeric_limits<uint32_t>::max();
// A little more than 1, as for voxels.
constexpr double kAboveMost = 1.01;

using CellKey = std::array<int64_t, 3>;
struct CellHash {
  size_t operator()(const CellKey& cell) const {
    uint64_t hash = 0;
    for (const int64_t number : cell) {
      hash = (hash ^ static_cast<uint64_t>(number)) * 0x9E3779B97F4A7C15;
      hash ^= hash >> 29;
    }
    return static_cast<size_t>(hash);
  }
};

// The vertices that no path covers, by cells of space.
class UncoveredVertices {
 public:
  UncoveredVertices(const LineGraph& lines, double cell) : lines_(lines), cell_(cell) {
    is_covered_.resize(lines.size());
    for (uint32_t i = 0; i < lines.size(); ++i)
      cells_[CellOf(lines.PositionOf(i))].push_back(i);
  }

  bool IsCovered(uint32_t vertex) const { return is_covered_[vertex] != 0; }

  void Cover(uint32_t vertex, double reach) {
    const Point at = lines_.PositionOf(vertex);
    Point low = at;
    Point high = at;
    for (size_t d = 0; d < 3; ++d) {
      low[d] -= static_cast<float>(reach);
      high[d] += static_cast<float>(reach);
    }
    const CellKey first = CellOf(low);
    const CellKey last = CellOf(high);
    for (int64_t z = first[2]; z <= last[2]; ++z) {
      for (int64_t y = first[1]; y <= last[1]; ++y) {
        for (int64_t x = first[0]; x <= last[0]; ++x) {
          const auto found = cells_.find({x, y, z});
          if (found == cells_.end()) continue;
          CoverCell(found->second, vertex, reach);
          if (found->second.empty()) cells_.erase(found);
        }
      }
    }
  }

 private:
  void CoverCell(std::vector<uint32_t>& cell, uint32_t vertex, double reach) {
    std::erase_if(cell, [&](uint32_t other) {
      if (lines_.Length(vertex, other) > reach) return false;
      is_covered_[other] = 1;
      return true;
    });
  }

  CellKey CellOf(const Point& position) const {
    CellKey cell = {};
    for (size_t d = 0; d < 3; ++d) {
      cell[d] = static_cast<int64_t>(std::floor(position[d] / cell_));
    }
    return cell;
  }

  const LineGraph& lines_;
  const double cell_;
  std::vector<uint8_t> is_covered_;
  std::unordered_map<CellKey, std::vector<uint32_t>, CellHash> cells_;
};

class PathChooser {
 public:
  PathChooser(const LineGraph& lines, const JoinOptions& options)
      : lines_(lines),
        teasar_(options.teasar),
        uncovered_(lines, std::max(2 * options.teasar.constant, 1.0)),
        lengths_(lines.size(), kFar),
        costs_(lines.size(), kFar),
        parents_(lines.size(), kNoVertex),
        chosen_(lines.size()) {}

  LineGraph Choose() {
    for (const std::vector<uint32_t>& part : lines_.Parts()) ChooseIn(part);
    return lines_.With(edges_, chosen_);
  }

 private:
  double RadiusOf(uint32_t vertex) const {
    const float radius = lines_.vertices()[vertex].radius;
    return radius < kNoBoundary ? radius : 0;
  }

  void ChooseIn(const std::vector<uint32_t>& part) {
    const auto thickest = *std::ranges::max_element(
        part, {}, [&](uint32_t vertex) { return RadiusOf(vertex); });
    uint32_t root = thickest;
    if (RadiusOf(thickest) <= teasar_.soma_acceptance) {
      Search(part.front(), lengths_,
             [&](uint32_t a, uint32_t b) { return lines_.Length(a, b); });
      root = FarthestOf(part);
      for (const uint32_t vertex : part) lengths_[vertex] = kFar;
    }
    Search(root, lengths_, [&](uint32_t a, uint32_t b) { return lines_.Length(a, b); });
    const double most = std::max(RadiusOf(thickest) * kAboveMost, 1e-9);
    Search(root, costs_, [&](uint32_t a, uint32_t b) {
      const double outer = std::max(0.0, 1 - RadiusOf(b) / most);
      return lines_.Length(a, b) *
             (1 + teasar_.penalty_scale * std::pow(outer, teasar_.penalty_exponent));
    });
    chosen_[root] = 1;
    Cover(root);
    std::vector<uint32_t> order = part;
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](uint32_t vertex) { return lengths_[vertex]; });
    for (const uint32_t target : order) {
      if (!uncovered_.IsCovered(target)) AddPath(target);
    }
  }

  uint32_t FarthestOf(const std::vector<uint32_t>& part) const {
    return *std::ranges::max_element(part, {},
                                     [&](uint32_t vertex) { return lengths_[vertex]; });
  }

  // Dijkstra's; parents_ are those of the last one.
  template <typename Cost>
  void Search(uint32_t root, std::vector<double>& costs, const Cost& cost_of) {
    using Item = std::pair<double, uint32_t>;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
    costs[root] = 0;
    parents_[root] = kNoVertex;
    queue.emplace(0.0, root);
    while (!queue.empty()) {
      const auto [cost, vertex] = queue.top();
      queue.pop();
      if (cost > costs[vertex]) continue;
      for (const uint32_t next : lines_.NeighboursOf(vertex)) {
        const double there = cost + cost_of(vertex, next);
        if (there >= costs[next]) continue;
        costs[next] = there;
        parents_[next] = vertex;
        queue.emplace(there, next);
      }
    }
  }

  void AddPath(uint32_t target) {
    std::vector<uint32_t> path;
    for (uint32_t vertex = target; chosen_[vertex] == 0; vertex = parents_[vertex]) {
      path.push_back(vertex);
      edges_.push_back({vertex, parents_[vertex]});
      chosen_[vertex] = 1;
    }
    for (const uint32_t vertex : path) Cover(vertex);
  }

  void Cover(uint32_t vertex) {
    const double radius = RadiusOf(vertex);
    uncovered_.Cover(vertex, radius > teasar_.soma_acceptance
                                 ? teasar_.soma_scale * radius + teasar_.soma_constant
                                 : teasar_.scale * radius + teasar_.constant);
  }

  const LineGraph& lines_;
  const TeasarOptions& teasar_;
  UncoveredVertices uncovered_;
  std::vector<double> lengths_;
  std::vector<double> costs_;
  std::vector<uint32_t> parents_;
  std::vector<uint8_t> chosen_;
  std::vector<Edge> edges_;
};

// A branch from an end to a vertex where branches meet.
struct Twig {
  double length = 0;
  uint32_t fork = kNoVertex;
  std::vector<uint32_t> vertices;  // without the fork
};

// Nullopt if it leads to another end, or is longer.
std::optional<Twig> TwigFrom(const LineGraph& lines, uint32_t end, double shortest) {
  Twig twig;
  uint32_t before = kNoVertex;
  uint32_t at = end;
  while (lines.NeighboursOf(at).size() <= 2) {
    twig.vertices.push_back(at);
    const auto neighbours = lines.NeighboursOf(at);
    const auto next = std::ranges::find_if(
        neighbours, [&](uint32_t vertex) { return vertex != before; });
    if (next == neighbours.end()) return std::nullopt;
    twig.length += lines.Length(at, *next);
    if (twig.length >= shortest) return std::nullopt;
    before = at;
    at = *next;
  }
  twig.fork = at;
  return twig;
}

// One round: at each fork the shortest goes, as it may be none for what is left then.
LineGraph WithoutShortestTwigs(const LineGraph& lines, double shortest) {
  std::vector<Twig> twigs;
  for (uint32_t i = 0; i < lines.size(); ++i) {
    if (lines.NeighboursOf(i).size() != 1) continue;
    auto twig = TwigFrom(lines, i, shortest);
    if (twig) twigs.push_back(*std::move(twig));
  }
  std::ranges::stable_sort(twigs, {}, &Twig::length);
  std::vector<uint8_t> is_changed(lines.size());
  std::vector<uint8_t> keeps(lines.size(), 1);
  for (const Twig& twig : twigs) {
    if (is_changed[twig.fork] != 0) continue;
    is_changed[twig.fork] = 1;
    for (const uint32_t vertex : twig.vertices) keeps[vertex] = 0;
  }
  std::vector<Edge> edges;
  for (const Edge& edge : lines.edges()) {
    if (keeps[edge[0]] != 0 && keeps[edge[1]] != 0) edges.push_back(edge);
  }
  return lines.With(edges, keeps);
}

}  // namespace

LineGraph ChoosePaths(const LineGraph& lines, const JoinOptions& options) {
  return PathChooser(lines, options).Choose();
}

LineGraph WithoutTicks(const LineGraph& lines, double shortest) {
  LineGraph left = lines;
  while (true) {
    LineGraph next = WithoutShortestTwigs(left, shortest);
    if (next.size() == left.size()) return left;
    left = std::move(next);
  }
}

LineGraph WithoutDust(const LineGraph& lines, double shortest) {
  std::vector<uint8_t> keeps(lines.size());
  for (const std::vector<uint32_t>& part : lines.Parts()) {
    double length = 0;
    for (const uint32_t vertex : part) {
      for (const uint32_t next : lines.NeighboursOf(vertex)) {
        length += lines.Length(vertex, next) / 2;
      }
    }
    if (length < shortest) continue;
    for (const uint32_t vertex : part) keeps[vertex] = 1;
  }
  std::vector<Edge> edges;
  for (const Edge& edge : lines.edges()) {
    if (keeps[edge[0]] != 0) edges.push_back(edge);
  }
  return lines.With(edges, keeps);
}

}  // namespace dolium::skeleton
