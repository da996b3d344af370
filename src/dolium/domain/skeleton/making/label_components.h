// The connected components of the labels of a block of voxels.
//
// A block is read once, into runs: neighbours in x with one label. Components are sets of
// runs, so that what follows takes time and memory for the voxels of an object, and none
// for the box around it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::skeleton {

using volume::Box;
using volume::Resolution;
using volume::Vec3;

// Positions within a block are kept in 16 bits.
inline constexpr int64_t kMaxBlockSide = 65535;

// A dense block of labels, x fastest. They are numbers into `ids`, whose first is 0, no
// label.
struct LabelBlock {
  Vec3 size = {0, 0, 0};
  std::vector<uint32_t> labels;
  std::vector<uint64_t> ids = {0};

  size_t IndexOf(int64_t x, int64_t y, int64_t z) const {
    return static_cast<size_t>((z * size[1] + y) * size[0] + x);
  }
};

// The block of an array of numbers, x fastest. Labels that are not in `wanted`,
// ascending, are left out, if there is one. kInvalidArgument if a side is longer than
// kMaxBlockSide.
template <typename T>
Result<LabelBlock> NumberLabels(std::span<const T> voxels, const Vec3& size,
                                std::span<const uint64_t> wanted = {});

extern template Result<LabelBlock> NumberLabels(std::span<const uint8_t>, const Vec3&,
                                                std::span<const uint64_t>);
extern template Result<LabelBlock> NumberLabels(std::span<const uint16_t>, const Vec3&,
                                                std::span<const uint64_t>);
extern template Result<LabelBlock> NumberLabels(std::span<const uint32_t>, const Vec3&,
                                                std::span<const uint64_t>);
extern template Result<LabelBlock> NumberLabels(std::span<const uint64_t>, const Vec3&,
                                                std::span<const uint64_t>);

// Voxels [begin, end) of a row.
struct Run {
  uint16_t begin = 0;
  uint16_t end = 0;
  uint16_t y = 0;
  uint16_t z = 0;
};

// A set of voxels with one label in which each can be reached from each other, by faces,
// edges and corners.
struct Component {
  uint32_t label = 0;  // as in the block
  uint64_t voxels = 0;
  std::span<const Run> runs;  // in the order of z, y, x
};

class ComponentSet {
 public:
  std::span<const Component> components() const { return components_; }

  // The number of the component that has a voxel of `core`. Precondition: it has a label.
  uint32_t ComponentAt(const Vec3& place) const;

 private:
  friend ComponentSet FindComponents(const LabelBlock& block, const Box& core);

  std::vector<Run> runs_;  // those of a component together
  std::vector<Component> components_;
  // All runs in the order of z, y, x.
  Box core_;
  std::vector<uint32_t> row_first_;
  std::vector<uint16_t> run_ends_;
  std::vector<uint32_t> component_of_;
};

// Those of the voxels in `core`, a box within the block, ordered by their first voxel.
ComponentSet FindComponents(const LabelBlock& block, const Box& core);

}  // namespace dolium::skeleton
