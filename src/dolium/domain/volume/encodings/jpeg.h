// The jpeg encoding, by libjpeg.
//
// Any JPEG of 8-bit samples is read: baseline or progressive, whatever its subsampling.
// Damage that libjpeg would paper over, such as a missing end, is an error. All functions
// may be called from many threads.
#pragma once

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

// Fills `voxels`. kCorrupt if `stored` is no JPEG, is damaged, or is not of this shape.
// The size is compared before anything is allocated by it; progressive images take a few
// times the chunk's size. Precondition: uint8, 1 or 3 channels, voxels.size() ==
// shape.bytes().
Result<void> DecodeJpeg(const ArrayShape& shape, BytesView stored, MutableBytes voxels);

// A baseline JPEG; 3 channels as RGB, with chroma at half the resolution. `quality` is 0
// to 100. kUnsupported if no image of this shape has sides that a JPEG can have.
// Precondition: as for DecodeJpeg.
Result<ByteVector> EncodeJpeg(const ArrayShape& shape, int quality, BytesView voxels);

}  // namespace dolium::volume
