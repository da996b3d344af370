#include "dolium/domain/skeleton/making/block_contacts.h"

#include <array>
#include <cstddef>
#include <limits>
#include <tuple>

#include "dolium/domain/skeleton/making/distance.h"

namespace dolium::skeleton {
namespace {

// The voxel of a component that is farthest from its boundary: of several, the one that
// is nearest to its centre, of several the first.
Vec3 MiddleOf(const Component& component, const LabelBlock& plane,
              const std::vector<float>& distances, const Resolution& resolution) {
  std::array<double, 2> sum = {0, 0};
  for (const Run& run : component.runs) {
    const double count = run.end - run.begin;
    sum[0] += count * (run.begin + run.end - 1) / 2;
    sum[1] += count * run.y;
  }
  const auto voxels = static_cast<double>(component.voxels);
  Vec3 best = {0, 0, 0};
  auto least = std::tuple(std::numeric_limits<float>::max(), 0.0);
  for (const Run& run : component.runs) {
    for (int64_t x = run.begin; x < run.end; ++x) {
      const double dx = (static_cast<double>(x) - sum[0] / voxels) * resolution[0];
      const double dy = (run.y - sum[1] / voxels) * resolution[1];
      const auto here =
          std::tuple(-distances[plane.IndexOf(x, run.y, 0)], dx * dx + dy * dy);
      if (here < least) {
        least = here;
        best = {x, run.y, 0};
      }
    }
  }
  return best;
}

Result<void> AddContacts(const LabelBlock& block, const Box& face, size_t axis,
                         const Resolution& resolution, std::vector<Vec3>& contacts) {
  const size_t across = axis == 0 ? 1 : 0;
  const size_t along = axis == 2 ? 1 : 2;
  LabelBlock plane;
  plane.size = {face.size()[across], face.size()[along], 1};
  for (int64_t z = face.begin[2]; z < face.end[2]; ++z) {
    for (int64_t y = face.begin[1]; y < face.end[1]; ++y) {
      for (int64_t x = face.begin[0]; x < face.end[0]; ++x) {
        plane.labels.push_back(block.labels[block.IndexOf(x, y, z)]);
      }
    }
  }
  const Resolution in_plane = {resolution[across], resolution[along], 1};
  DOLIUM_TRY(const auto distances, DistanceToBoundary(plane, in_plane, /*jobs=*/1));
  const ComponentSet found = FindComponents(plane, {{0, 0, 0}, plane.size});
  for (const Component& component : found.components()) {
    const Vec3 middle = MiddleOf(component, plane, distances, in_plane);
    Vec3 at = face.begin;
    at[across] += middle[0];
    at[along] += middle[1];
    contacts.push_back(at);
  }
  return {};
}

}  // namespace

Result<std::vector<Vec3>> FindContacts(const LabelBlock& block, const BlockCore& core,
                                       const Resolution& resolution) {
  std::vector<Vec3> contacts;
  for (size_t axis = 0; axis < 3; ++axis) {
    for (size_t side = 0; side < 2; ++side) {
      if (!core.shares[axis][side]) continue;
      Box face = core.box;
      if (side == 0) {
        face.end[axis] = face.begin[axis] + 1;
      } else {
        face.begin[axis] = face.end[axis] - 1;
      }
      DOLIUM_TRY_VOID(AddContacts(block, face, axis, resolution, contacts));
    }
  }
  return contacts;
}

}  // namespace dolium::skeleton
