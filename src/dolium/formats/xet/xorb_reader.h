// Reading chunks of a xorb that lies in memory or in a memory map.
#pragma once

#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/xet/xorb_footer.h"
#include "dolium/formats/xet/xorb_record.h"

namespace dolium::xet {

// The index of `object`: from its footer if it has one, else from the headers of its
// chunks, and then without hashes. The raw sizes that a footer of version 0 lacks come
// from the headers as well. With `name`, kCorrupt if the hashes of a footer do not give
// it. No chunk is decompressed: see VerifyXorb() for that. Give the name of objects that
// others made: without it, bytes of a last chunk can pass for a footer.
Result<XorbIndex> OpenXorb(BytesView object, const Hash* name = nullptr);

// Decompresses chunks [first, end) of a xorb into `into`, which has their raw size.
// `records` is where `index` says that their records lie. Each chunk's hash is checked
// where `index` has it; errors name the chunk. Precondition: first <= end <=
// index.size(), and raw sizes are known.
Result<void> ReadChunks(const XorbIndex& index, size_t first, size_t end,
                        BytesView records, ChunkDecompressor& decompressor,
                        MutableBytes into);

}  // namespace dolium::xet
