#include "dolium/domain/skeleton/making/center_line.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "dolium/domain/skeleton/making/distance.h"
#include "dolium/domain/skeleton/making/filled_soma.h"
#include "dolium/domain/skeleton/making/queues.h"
#include "dolium/domain/skeleton/making/voxel_graph.h"

namespace dolium::skeleton {
namespace {

constexpr float kUnreached = std::numeric_limits<float>::infinity();
constexpr uint32_t kNoVoxel = std::numeric_limits<uint32_t>::max();
// The largest distance is multiplied by it, so that no penalty is 0.
constexpr float kAboveLargest = 1.01F;
// How far the vertices are apart whose surroundings are covered, of their reach.
constexpr double kCoverStep = 0.2;

}  // namespace

class CenterLineTracer::State {
 public:
  State(const Resolution& resolution, const TeasarOptions& options)
      : resolution_(resolution),
        options_(options),
        lengths_(VoxelGraph::DirectionLengths(resolution)),
        nearest_(BucketQueue(static_cast<float>(std::ranges::min(resolution)))) {}

  CenterLine Trace(const LabelBlock& block, const std::vector<float>& distances,
                   const Component& component, std::span<const Vec3> targets) {
    Load(block, distances, component);
    std::vector<uint32_t> fixed;
    for (const Vec3& target : targets) fixed.push_back(graph_.Find(target));
    const uint32_t root = FindRoot(fixed);
    MeasureFrom(root);
    SetPenalties();
    StartAt(root);
    for (const uint32_t target : fixed) AddPath(target);
    // What ends in this block goes on to its end, however near: what is too short can be
    // seen when the strands are joined.
    if (fixed.size() == 1) AddPath(order_.back());
    for (auto target = order_.rbegin(); target != order_.rend(); ++target) {
      if (!IsCovered(*target)) AddPath(*target);
    }
    return std::move(line_);
  }

 private:
  void Load(const LabelBlock& block, const std::vector<float>& distances,
            const Component& component) {
    graph_.Build(component.runs);
    radii_.clear();
    for (const Run& run : component.runs) {
      const auto from = distances.begin() + static_cast<std::ptrdiff_t>(
                                                block.IndexOf(run.begin, run.y, run.z));
      radii_.insert(radii_.end(), from, from + (run.end - run.begin));
    }
    has_soma_ = false;
    if (Largest() > options_.soma_detection) FillIfSoma(component, block.size);
    line_ = {};
    vertex_of_.assign(graph_.size(), kNoVoxel);
  }

  double Largest() const {
    const float largest = std::ranges::max(radii_);
    return largest < kNoBoundary ? largest : 0;
  }

  void FillIfSoma(const Component& component, const Vec3& block_size) {
    FilledComponent filled = FillHoles(component.runs, block_size, resolution_);
    const float largest = std::ranges::max(filled.distances);
    if (largest <= options_.soma_acceptance || largest >= kNoBoundary) return;
    has_soma_ = true;
    graph_.Build(filled.runs);
    radii_ = std::move(filled.distances);
  }

  uint32_t FindRoot(std::span<const uint32_t> fixed) {
    if (has_soma_) {
      return static_cast<uint32_t>(std::ranges::max_element(radii_) - radii_.begin());
    }
    // Where an object leaves the block it has an end.
    if (!fixed.empty()) return fixed.front();
    MeasureFrom(0);
    return order_.back();
  }

  // The distances from a voxel, within the object, and the voxels in their order.
  void MeasureFrom(uint32_t start) {
    lengths_from_.assign(graph_.size(), kUnreached);
    is_done_.assign(graph_.size(), false);
    reached_by_.resize(graph_.size());
    order_.clear();
    lengths_from_[start] = 0;
    nearest_.Push(0, start);
    nearest_.Drain([&](uint32_t voxel) {
      if (is_done_[voxel]) return;
      is_done_[voxel] = true;
      order_.push_back(voxel);
      const float here = lengths_from_[voxel];
      const auto step = [&](uint32_t next, size_t direction) {
        const float there = here + lengths_[direction];
        if (there >= lengths_from_[next]) return;
        lengths_from_[next] = there;
        reached_by_[next] = static_cast<uint8_t>(direction);
        nearest_.Push(there, next);
      };
      if (voxel != start && graph_.IsInner(voxel)) {
        graph_.ForEachBeyond(voxel, reached_by_[voxel], step);
      } else {
        graph_.ForEachNeighbour(voxel, step);
      }
    });
  }

  void SetPenalties() {
    const auto largest = static_cast<float>(Largest()) * kAboveLargest;
    const float farthest = std::max(lengths_from_[order_.back()], 1.0F);
    const auto scale = static_cast<float>(options_.penalty_scale);
    const auto exponent = static_cast<float>(options_.penalty_exponent);
    penalties_.resize(graph_.size());
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const float part = largest > 0 ? std::max(0.0F, 1 - radii_[i] / largest) : 0.0F;
      const float power =
          exponent == 4 ? part * part * part * part : std::pow(part, exponent);
      penalties_[i] = scale * power + lengths_from_[i] / farthest;
    }
  }

  void StartAt(uint32_t root) {
    costs_.assign(graph_.size(), kUnreached);
    parents_.resize(graph_.size());
    uncovered_.resize(size_t{graph_.size()} + 1);
    std::iota(uncovered_.begin(), uncovered_.end(), 0U);
    AddVertex(root);
    path_.assign(1, root);
    Cover();
  }

  // The voxel of the line that is reached from the target at the least cost; parents_
  // lead back. The search ends there, so that it sees little but the branch that it is
  // in.
  uint32_t FindLine(uint32_t target) {
    cheapest_.Clear();
    touched_.clear();
    costs_[target] = 0;
    parents_[target] = kNoVoxel;
    touched_.push_back(target);
    cheapest_.Push(0, target);
    uint32_t found = target;
    while (!cheapest_.empty()) {
      const auto [cost, voxel] = cheapest_.Pop();
      if (cost > costs_[voxel]) continue;
      found = voxel;
      if (vertex_of_[voxel] != kNoVoxel) break;
      graph_.ForEachNeighbour(voxel, [&](uint32_t next, size_t /*direction*/) {
        const float there = cost + penalties_[next];
        if (there >= costs_[next]) return;
        if (costs_[next] == kUnreached) touched_.push_back(next);
        costs_[next] = there;
        parents_[next] = voxel;
        cheapest_.Push(there, next);
      });
    }
    for (const uint32_t voxel : touched_) costs_[voxel] = kUnreached;
    return found;
  }

  void AddPath(uint32_t target) {
    path_.clear();
    uint32_t voxel = FindLine(target);
    while (parents_[voxel] != kNoVoxel && voxel != target) {
      const uint32_t next = parents_[voxel];
      AddVertex(next);
      path_.push_back(next);
      line_.edges.push_back({vertex_of_[voxel], vertex_of_[next]});
      voxel = next;
    }
    Cover();
  }

  void AddVertex(uint32_t voxel) {
    vertex_of_[voxel] = static_cast<uint32_t>(line_.vertices.size());
    line_.vertices.push_back(graph_.PlaceOf(voxel));
    line_.radii.push_back(radii_[voxel]);
  }

  // How far a vertex makes voxels need no path.
  double ReachOf(uint32_t voxel) const {
    const double radius = radii_[voxel] < kNoBoundary ? radii_[voxel] : 0;
    const bool is_soma = has_soma_ && radius > options_.soma_acceptance;
    return is_soma ? options_.soma_scale * radius + options_.soma_constant
                   : options_.scale * radius + options_.constant;
  }

  // Marks what is within reach of path_. Not of all its vertices: between two that are
  // much nearer than they reach, the tube around the path is as wide but for a hundredth.
  void Cover() {
    size_t last = 0;
    for (size_t i = 0; i < path_.size(); ++i) {
      const double reach = ReachOf(path_[i]);
      const bool is_end = i == 0 || i + 1 == path_.size();
      const bool is_close = DistanceOf(path_[i], path_[last]) < reach * kCoverStep &&
                            reach < ReachOf(path_[last]) * (1 + kCoverStep);
      if (!is_end && is_close) continue;
      last = i;
      graph_.ForEachRowAround(path_[i], reach, resolution_,
                              [&](uint32_t first, uint32_t end) {
                                for (uint32_t voxel = NextUncovered(first); voxel < end;
                                     voxel = NextUncovered(voxel)) {
                                  uncovered_[voxel] = voxel + 1;
                                }
                              });
    }
  }

  bool IsCovered(uint32_t voxel) const { return uncovered_[voxel] != voxel; }

  uint32_t NextUncovered(uint32_t voxel) {
    while (uncovered_[voxel] != voxel) {
      uncovered_[voxel] = uncovered_[uncovered_[voxel]];
      voxel = uncovered_[voxel];
    }
    return voxel;
  }

  double DistanceOf(uint32_t a, uint32_t b) const {
    const Vec3 from = graph_.PlaceOf(a);
    const Vec3 to = graph_.PlaceOf(b);
    return std::hypot(static_cast<double>(to[0] - from[0]) * resolution_[0],
                      static_cast<double>(to[1] - from[1]) * resolution_[1],
                      static_cast<double>(to[2] - from[2]) * resolution_[2]);
  }

  const Resolution resolution_;
  const TeasarOptions options_;
  const std::array<float, VoxelGraph::kDirections> lengths_;
  VoxelGraph graph_;
  BucketQueue nearest_;
  RadixQueue cheapest_;
  bool has_soma_ = false;
  CenterLine line_;
  // Of each voxel.
  std::vector<float> radii_;
  std::vector<float> lengths_from_;
  std::vector<float> penalties_;
  std::vector<float> costs_;
  std::vector<uint32_t> parents_;
  std::vector<uint32_t> vertex_of_;
  std::vector<uint8_t> reached_by_;
  std::vector<uint32_t> uncovered_;  // leads to the next that no path covers
  std::vector<uint8_t> is_done_;
  // Lists of voxels.
  std::vector<uint32_t> order_;
  std::vector<uint32_t> path_;
  std::vector<uint32_t> touched_;  // by FindLine()
};

CenterLineTracer::CenterLineTracer(const Resolution& resolution,
                                   const TeasarOptions& options)
    : state_(std::make_unique<State>(resolution, options)) {}
CenterLineTracer::~CenterLineTracer() = default;
CenterLineTracer::CenterLineTracer(CenterLineTracer&&) noexcept = default;
CenterLineTracer& CenterLineTracer::operator=(CenterLineTracer&&) noexcept = default;

CenterLine CenterLineTracer::Trace(const LabelBlock& block,
                                   const std::vector<float>& distances,
                                   const Component& component,
                                   std::span<const Vec3> targets) {
  return state_->Trace(block, distances, component, targets);
}

}  // namespace dolium::skeleton
