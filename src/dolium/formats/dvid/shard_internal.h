// What the sources of Shard share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dolium/formats/dvid/ipc.h"
#include "dolium/formats/dvid/label_block.h"

namespace dolium::dvid {

// Whether `voxel` is the corner of `block`.
inline bool IsScaled(const Key& voxel, const Key& block) {
  for (size_t d = 0; d < 3; ++d) {
    if (int64_t{block[d]} * kBlockSide != voxel[d]) return false;
  }
  return true;
}

}  // namespace dolium::dvid
