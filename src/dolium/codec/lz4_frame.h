// LZ4 frames over whole buffers.
#pragma once

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium {

// Fills `into` exactly from one frame and nothing else, or it is damaged. Checksums that
// the frame has are checked.
Result<void> Lz4FrameDecodeInto(BytesView stored, MutableBytes into);

// One frame with the size of its content and no checksums.
ByteVector Lz4FrameEncode(BytesView value);

}  // namespace dolium
