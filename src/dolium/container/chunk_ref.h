// ChunkRef: stored bytes of one chunk, as hot paths name them.
#pragma once

#include <memory>

#include "dolium/base/byte_range.h"
#include "dolium/container/entry.h"

namespace dolium {

// Where they are, in which generation of the object.
struct ChunkRef {
  std::shared_ptr<const ObjectVersion> object;
  ByteRange range;
};

}  // namespace dolium
