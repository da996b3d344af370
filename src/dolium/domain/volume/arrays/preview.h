// Preview: one picture of a volume, from three slices through it.
//
//     xy | zy      Columns of xz are under those of xy, and rows of zy beside them.
//     ---+---
//     xz |
#pragma once

#include <array>
#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

// A dense array of two dimensions, the one named first being the fastest, and channel.
struct PreviewSlice {
  int64_t width = 1;
  int64_t height = 1;
  BytesView voxels = {};
};

struct PreviewRequest {
  DataType type = DataType::kUint8;
  int64_t channels = 1;
  bool labels = false;  // colours for identifiers, black for 0
  PreviewSlice xy = {};
  PreviewSlice xz = {};
  PreviewSlice yz = {};
  std::array<double, 3> voxel_size = {1, 1, 1};  // only their ratios matter
  int64_t longest_side = 1024;                   // of the picture; 16 to 16384
};

// An RGB PNG. Images of 3 channels of uint8 are colours; of others the first channel is
// shown in grey, from black at the 1st percentile to white at the 99th, except uint8,
// which is shown as it is. No voxel becomes more than a pixel along its shortest side.
// kInvalidArgument if sizes of the slices contradict each other, or the rest makes no
// sense. May be called from many threads.
Result<ByteVector> RenderPreview(const PreviewRequest& request);

}  // namespace dolium::volume
