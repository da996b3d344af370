// Chunks as images: what the jpeg, png and jxl encodings have in common.
//
// The rows of the image, one after another, are the voxels with x fastest, so that any
// width and height of the right area will do. Components are the channels: interleaved
// pixel by pixel in the image, one plane after another in the chunk.
#pragma once

#include <cstdint>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

struct ImageSize {
  uint32_t width = 0;
  uint32_t height = 0;

  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

// The image to write: x wide and y * z high, as other writers have it. Where that is over
// `max_side`, x * y wide and z high; kUnsupported where that is, too. `format` is for the
// message. Precondition: max_side < 2^32.
Result<ImageSize> ImageSizeFor(const ArrayShape& shape, uint64_t max_side,
                               std::string_view format);

// kCorrupt unless there is a pixel for each voxel and a component for each channel.
Result<void> CheckImage(const ArrayShape& shape, uint64_t width, uint64_t height,
                        uint64_t components);

// Puts whole pixels into the planes of `voxels`, from voxel `first` of each plane on.
// Precondition: they fit; 1 to 4 channels of 1 or 2 bytes.
void SplitChannels(const ArrayShape& shape, BytesView pixels, uint64_t first,
                   MutableBytes voxels);

// The reverse: fills `pixels` from voxel `first` of each plane on.
void JoinChannels(const ArrayShape& shape, BytesView voxels, uint64_t first,
                  MutableBytes pixels);

}  // namespace dolium::volume
