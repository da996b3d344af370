// The png encoding, by libspng.
//
// 1 to 4 channels are grey, grey and alpha, RGB, RGBA; 16-bit samples are big-endian in
// the file. All functions may be called from many threads.
#pragma once

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

// Fills `voxels`. Interlaced images are read, and palettes as 3 channels of 8 bits (their
// transparency is ignored). kCorrupt if `stored` is no PNG, is damaged or cut short, or
// is not of this shape; kUnsupported for grey of fewer than 8 bits, whose values other
// readers do not agree about. The size is compared before anything is allocated by it.
// Precondition: uint8 or uint16, 1 to 4 channels, voxels.size() == shape.bytes().
Result<void> DecodePng(const ArrayShape& shape, BytesView stored, MutableBytes voxels);

// `level` is zlib's, 0 to 9. kUnsupported if no image of this shape has sides that other
// readers take.
// Precondition: as for DecodePng.
Result<ByteVector> EncodePng(const ArrayShape& shape, int level, BytesView voxels);

}  // namespace dolium::volume
