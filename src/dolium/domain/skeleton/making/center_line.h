// The centre lines of one component, by the TEASAR method.
//
// The root is the voxel that is farthest from another, or the middle of a cell body.
// Paths go from the farthest voxel that no path is near to the nearest one, and keep away
// from the boundary. Each makes the voxels around it need no other: those within a
// distance that grows with the radius, measured within the object.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dolium/domain/skeleton/making/label_components.h"
#include "dolium/domain/skeleton/skeleton.h"

namespace dolium::skeleton {

// Lengths are in nanometres.
struct TeasarOptions {
  // A path makes voxels within scale * radius + constant of it need no other.
  double scale = 1.5;
  double constant = 300;
  // How much a path keeps away from the boundary: the penalty of a voxel is
  // penalty_scale * (1 - distance / largest distance) ^ penalty_exponent.
  double penalty_scale = 100'000;
  double penalty_exponent = 4;
  // A component with a larger radius may be a cell body: holes in it are filled. Then,
  // with a radius above the second, it is one.
  double soma_detection = 1100;
  double soma_acceptance = 3500;
  double soma_scale = 2;
  double soma_constant = 300;

  friend bool operator==(const TeasarOptions&, const TeasarOptions&) = default;
};

// Vertices are voxels of the block.
struct CenterLine {
  std::vector<Vec3> vertices;
  std::vector<Edge> edges;
  std::vector<float> radii;  // distance to the boundary
};

// Traces one component after another, and keeps its memory for the next. One thread.
class CenterLineTracer {
 public:
  CenterLineTracer(const Resolution& resolution, const TeasarOptions& options);
  ~CenterLineTracer();
  CenterLineTracer(CenterLineTracer&&) noexcept;
  CenterLineTracer& operator=(CenterLineTracer&&) noexcept;

  // `distances` are those of DistanceToBoundary() for the block. The line leads through
  // all of `targets`, which are voxels of the component.
  CenterLine Trace(const LabelBlock& block, const std::vector<float>& distances,
                   const Component& component, std::span<const Vec3> targets);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace dolium::skeleton
