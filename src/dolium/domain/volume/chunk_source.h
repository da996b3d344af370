// ChunkSource: where the chunks of a scale that is being written come from.
#pragma once

#include <memory>
#include <optional>

#include "dolium/base/result.h"
#include "dolium/domain/volume/arrays/array_source.h"
#include "dolium/domain/volume/chunk_storage.h"
#include "dolium/domain/volume/downsample/downsample.h"
#include "dolium/domain/volume/scale.h"

namespace dolium::volume {

// May be used from many threads.
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;

  // The chunk of the target's cell, encoded as the target wants it; nullopt if the source
  // has nothing there.
  virtual Result<std::optional<StoredChunk>> Make(const Scale& target,
                                                  const Vec3& cell) const = 0;
};

// From an array, whose first voxel lies at the begin of the target's bounds. Keeps a
// reference to it.
std::unique_ptr<ChunkSource> FromArray(const ArraySource& array);

// From a finer scale. A voxel t of the target stands for the voxels [t * f, (t + 1) * f)
// of the finer scale, in absolute coordinates, as far as they are there.
// `skip_damaged` is as in BoxOptions.
std::unique_ptr<ChunkSource> FromFinerScale(std::shared_ptr<const Scale> finer,
                                            const DownsampleSpec& spec,
                                            DamageVisitor skip_damaged = {});

// From a scale with the same bounds, type and channels. Where both have the same chunks
// in the same encoding, these are decoded only to see that they can be: the copies are
// equal to them. With `skip_damaged`, those that cannot be are left out.
std::unique_ptr<ChunkSource> FromSameVoxels(std::shared_ptr<const Scale> scale,
                                            bool may_copy,
                                            DamageVisitor skip_damaged = {});

// The voxels of a finer scale that a box of a coarser one stands for, there or not.
Box FinerVoxels(const Box& box, const Vec3& factor);

// The bounds of a scale that stands for the finer `bounds`.
Box DownsampledBounds(const Box& bounds, const Vec3& factor);

}  // namespace dolium::volume
