// DVID's label blocks as chunks of compressed_segmentation.
//
// Both cut a chunk into sub-blocks of 8x8x8 in the same order, each with its labels and
// packed indexes: these are translated, and no voxel is decoded.
#pragma once

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/dvid/label_block.h"

namespace dolium::volume {

// The bytes that encoding the block's voxels with labels of `list`, in blocks of 8x8x8,
// would give. kCorrupt as dvid::DecodeBlock(); kUnsupported if they are too many for the
// format. May be called from many threads.
Result<ByteVector> TranscodeDvidBlock(const dvid::LabelBlock& block,
                                      const dvid::LabelList& list);

}  // namespace dolium::volume
