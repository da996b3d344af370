// compresso: labels as the places where they change, and one label for each region that
// these places enclose. The stream is that of the `compresso` package, not the published
// one of the same name.
//
// All functions may be called from many threads; none keeps what it is given.
#pragma once

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

// Fills `voxels`. Reads format versions 0 and 1, any step sizes, connectivity 4 and 6;
// the index of slices at the end of version 1 is not needed, and not checked. kCorrupt if
// `stored` is not a chunk of this shape; `voxels` then holds anything.
// Precondition: integers, one channel, voxels.size() == shape.bytes().
Result<void> DecodeCompresso(const ArrayShape& shape, BytesView stored,
                             MutableBytes voxels);

// Makes the bytes that the package makes by default: version 1, connectivity 4, windows
// of 4 x 4, or 8 x 8 if there are too many different ones. kUnsupported if a side is more
// than 65535 voxels. Precondition: as for DecodeCompresso.
Result<ByteVector> EncodeCompresso(const ArrayShape& shape, BytesView voxels);

}  // namespace dolium::volume
