// Boxes of voxels in the caller's memory, in whatever order that has them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

// Bytes from one voxel to the next in x, y, z and channel. May be negative or zero.
using Strides = std::array<int64_t, 4>;

// Strides of a dense array: x fastest, then y, z, channel.
Strides DenseStrides(const ArrayShape& shape);

// Half-open.
struct ChannelRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  friend bool operator==(const ChannelRange&, const ChannelRange&) = default;
};

// Does not own. `data` is the voxel with the least coordinates, of the first channel.
struct VoxelView {
  const std::byte* data = nullptr;
  ArrayShape shape;
  Strides strides = {0, 0, 0, 0};

  static VoxelView Dense(const ArrayShape& shape, const std::byte* data) {
    return {data, shape, DenseStrides(shape)};
  }
  // The part of the view that `part` is, if the view shows `whole`. Precondition: it lies
  // within.
  VoxelView Part(const Box& whole, const Box& part) const;
  // Of `count` voxels from the first on, every step'th. Precondition: there are so many.
  VoxelView Every(const Vec3& step, const Vec3& count) const;
  // Some of the channels. Precondition: the view has them.
  VoxelView Channels(const ChannelRange& channels) const;
};

struct MutableVoxelView {
  std::byte* data = nullptr;
  ArrayShape shape;
  Strides strides = {0, 0, 0, 0};

  static MutableVoxelView Dense(const ArrayShape& shape, std::byte* data) {
    return {data, shape, DenseStrides(shape)};
  }
  MutableVoxelView Part(const Box& whole, const Box& part) const;
  MutableVoxelView Channels(const ChannelRange& channels) const;
  bool is_dense() const { return strides == DenseStrides(shape); }
};

// Precondition: the shapes are equal, the memory does not overlap.
void CopyVoxels(const VoxelView& from, const MutableVoxelView& to);

// The same for those voxels alone whose number in `mask`, of uint8, is not 0.
void CopyMaskedVoxels(const VoxelView& from, const VoxelView& mask,
                      const MutableVoxelView& to);

// Whether any number of a mask is not 0.
bool HasAnyVoxel(const VoxelView& mask);

void ClearVoxels(const MutableVoxelView& view);

}  // namespace dolium::volume
