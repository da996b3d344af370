// Downsampling: from a dense array to one that is smaller by whole factors.
//
// The array is cut into blocks of factor[0] x factor[1] x factor[2] voxels, from its
// first voxel on; each block becomes one voxel, in each channel. Blocks at the far ends
// may be cut short; what is said of a block below is meant of the voxels really there.
//
//   kAverage   The mean, for images. Integers: the exact mean, rounded to the nearest
//              integer, halves to the even one (0.5 -> 0, 1.5 -> 2, -1.5 -> -2). Rounding
//              up instead would make an image brighter with each scale, truncating
//              darker. There is no overflow for any type or factor. float32: summed as
//              doubles, along z and y, then along x, divided, and rounded once; a NaN in
//              the block gives a NaN.
//   kMode      The most frequent value, for labels; of several the smallest. float32 are
//              compared as bit patterns, in the total order of IEEE 754, so that a -0 is
//              smaller than a 0 and not equal to it.
//   kStride    The first voxel of the block.
//
// For integers these are the results of TensorStore's `mean`, `mode` and `stride`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

enum class DownsampleMethod : uint8_t { kAverage, kMode, kStride };

// "average", "mode", "stride".
std::string_view ToString(DownsampleMethod method);
// Nullopt if there is no such method.
std::optional<DownsampleMethod> ParseDownsampleMethod(std::string_view name);

inline constexpr int64_t kMaxDownsampleFactor = 8;

struct DownsampleSpec {
  Vec3 factor = {2, 2, 1};  // 1 ... kMaxDownsampleFactor each
  DownsampleMethod method = DownsampleMethod::kAverage;
  // kMode: zeros count only in a block that has nothing else, so that thin labels on a
  // background of zeros survive. Zero is the value with all bits clear.
  bool mode_ignores_zero = false;

  friend bool operator==(const DownsampleSpec&, const DownsampleSpec&) = default;
};

// The shape of the result: sizes divided by the factors, rounded up.
// Precondition: factors are at least 1.
ArrayShape Downsampled(const ArrayShape& shape, const Vec3& factor);

// Fills `out`. May be called from many threads; uses the calling one only, and allocates
// nothing. Neither array needs to be aligned.
// Precondition: factors are as in DownsampleSpec, sizes and channels at least 1,
// voxels.size() == shape.bytes(), out.size() == Downsampled(shape, spec.factor).bytes(),
// and the two do not overlap. Aborts if factors or sizes are wrong.
void Downsample(const DownsampleSpec& spec, const ArrayShape& shape, BytesView voxels,
                MutableBytes out);

}  // namespace dolium::volume
