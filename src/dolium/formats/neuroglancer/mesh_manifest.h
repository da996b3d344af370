// The one thing that the sharded format must know of a multi-resolution mesh manifest:
// how many bytes of fragments lie right before it in the shard.
#pragma once

#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium::neuroglancer {

// The sum of the fragment sizes that a decoded manifest lists, over all levels of detail.
// kCorrupt unless the manifest is exactly as long as its counts say.
Result<uint64_t> FragmentBytes(BytesView manifest);

}  // namespace dolium::neuroglancer
