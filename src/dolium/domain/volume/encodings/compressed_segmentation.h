// compressed_segmentation: labels as blocks, each with a sorted table of its labels and a
// packed index into it for each voxel.
//
// The encoder makes the bytes that Neuroglancer and TensorStore make. Both directions use
// AVX2 where the processor has it. All functions may be called from many threads; none
// keeps what it is given.
#pragma once

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

// Fills `voxels`. kCorrupt if `stored` is not a chunk of this shape; `voxels` then holds
// anything.
// Precondition: uint32 or uint64, block sizes of 1 or more, voxels.size() ==
// shape.bytes().
Result<void> DecodeCompressedSegmentation(const ArrayShape& shape, const Vec3& block_size,
                                          BytesView stored, MutableBytes voxels);

// kUnsupported if the chunk would take 2^24 words (64 MiB) or more: the format has 24
// bits for where a table begins, and readers have no more for anything else.
// Precondition: as for DecodeCompressedSegmentation.
Result<ByteVector> EncodeCompressedSegmentation(const ArrayShape& shape,
                                                const Vec3& block_size, BytesView voxels);

}  // namespace dolium::volume
