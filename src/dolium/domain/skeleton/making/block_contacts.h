// Where objects leave a block.
#pragma once

#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/skeleton/making/block_skeletons.h"

namespace dolium::skeleton {

// The middle of each contact of a label with a face that is shared, in coordinates of the
// block. It follows from the voxels of the face alone.
Result<std::vector<Vec3>> FindContacts(const LabelBlock& block, const BlockCore& core,
                                       const Resolution& resolution);

}  // namespace dolium::skeleton
