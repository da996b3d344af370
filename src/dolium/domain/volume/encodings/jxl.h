// The jxl encoding (JPEG XL), by libjxl.
//
// Several channels are written as several grey frames, one for each: other readers take
// frames one after another as they take planes, but do not part the components of pixels.
// Bare codestreams are written; those in a container are read as well. libjxl runs in the
// calling thread only. All functions may be called from many threads.
#pragma once

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

struct JxlOptions {
  int quality = 85;        // 0 ... 100; 100 is lossless
  int effort = 5;          // 1 ... 9
  int decoding_speed = 0;  // 0 ... 4
};

// The error libjxl may make at a quality below 100, in its own measure: 1 is barely seen.
float JxlDistance(int quality);

// Fills `voxels`. Grey frames are the chunk in parts, as many as there are, channel
// after channel; frames of 3 or 4 components are parts of all channels at once. kCorrupt
// if `stored` is no JPEG XL, is damaged or cut short, or is not of this shape. The size
// is compared before pixels are decoded; but libjxl bounds neither the time nor the
// memory that a frame larger than its image takes. Precondition: uint8, voxels.size() ==
// shape.bytes().
Result<void> DecodeJxl(const ArrayShape& shape, BytesView stored, MutableBytes voxels);

// kUnsupported if no image of this shape has sides that every decoder takes;
// kInvalidArgument if effort or decoding speed are none.
// Precondition: as for DecodeJxl.
Result<ByteVector> EncodeJxl(const ArrayShape& shape, const JxlOptions& options,
                             BytesView voxels);

}  // namespace dolium::volume
