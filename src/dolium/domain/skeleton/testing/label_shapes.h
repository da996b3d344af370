// Labels of simple shapes, whose centre lines are known.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dolium/domain/skeleton/making/label_components.h"
#include "dolium/domain/skeleton/skeleton.h"

namespace dolium::skeleton {

// An array of labels, x fastest, to which shapes are added. Points are in nanometres.
class LabelShapes {
 public:
  LabelShapes(const Vec3& size, const Resolution& resolution)
      : size_(size),
        resolution_(resolution),
        labels_(static_cast<size_t>(size[0] * size[1] * size[2])) {}

  const Vec3& size() const { return size_; }
  const Resolution& resolution() const { return resolution_; }
  const std::vector<uint32_t>& labels() const { return labels_; }

  // All voxels whose middle is within `radius` of the line from a to b.
  void AddTube(uint32_t label, const Point& a, const Point& b, double radius) {
    std::array<double, 3> along = {};
    double square = 0;
    for (size_t d = 0; d < 3; ++d) {
      along[d] = b[d] - a[d];
      square += along[d] * along[d];
    }
    size_t index = 0;
    for (int64_t z = 0; z < size_[2]; ++z) {
      for (int64_t y = 0; y < size_[1]; ++y) {
        for (int64_t x = 0; x < size_[0]; ++x, ++index) {
          const std::array<int64_t, 3> voxel = {x, y, z};
          std::array<double, 3> from = {};
          double part = 0;
          for (size_t d = 0; d < 3; ++d) {
            from[d] = (static_cast<double>(voxel[d]) + 0.5) * resolution_[d] - a[d];
            part += from[d] * along[d];
          }
          part = square > 0 ? std::clamp(part / square, 0.0, 1.0) : 0;
          const double away =
              std::hypot(from[0] - part * along[0], from[1] - part * along[1],
                         from[2] - part * along[2]);
          if (away <= radius) labels_[index] = label;
        }
      }
    }
  }

  // The voxels of a box as a block.
  LabelBlock Block(const Box& box) const {
    std::vector<uint32_t> part;
    for (int64_t z = box.begin[2]; z < box.end[2]; ++z) {
      for (int64_t y = box.begin[1]; y < box.end[1]; ++y) {
        for (int64_t x = box.begin[0]; x < box.end[0]; ++x) {
          part.push_back(labels_[static_cast<size_t>((z * size_[1] + y) * size_[0] + x)]);
        }
      }
    }
    return *NumberLabels<uint32_t>(part, box.size());
  }
  LabelBlock Block() const { return Block({{0, 0, 0}, size_}); }

 private:
  Vec3 size_;
  Resolution resolution_;
  std::vector<uint32_t> labels_;
};

// What tests ask of a skeleton.
double LengthOf(const Skeleton& skeleton);
size_t EndsOf(const Skeleton& skeleton);   // vertices with one neighbour
size_t ForksOf(const Skeleton& skeleton);  // vertices with more than two
size_t TreesOf(const Skeleton& skeleton);  // parts, if all of them are trees; else 0

}  // namespace dolium::skeleton
