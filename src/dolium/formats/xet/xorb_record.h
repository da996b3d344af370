// A chunk within a xorb: a header of eight bytes, then the stored bytes.
#pragma once

#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/xet/compression.h"
#include "dolium/formats/xet/hash.h"

namespace dolium::xet {

inline constexpr uint64_t kChunkHeaderSize = 8;
inline constexpr uint64_t kMaxRawChunk = 131072;
inline constexpr uint64_t kMaxStoredChunk = 262144;
inline constexpr uint64_t kMaxRecord = kChunkHeaderSize + kMaxStoredChunk;

// What all xorbs keep to.
inline constexpr uint64_t kMaxXorbRaw = uint64_t{64} << 20;
inline constexpr uint64_t kMaxXorbChunks = 8192;

struct ChunkHeader {
  uint32_t stored = 0;  // bytes behind the header
  Scheme scheme = Scheme::kNone;
  uint32_t raw = 0;  // bytes when decompressed; at least one

  uint64_t record_size() const { return kChunkHeaderSize + stored; }
};

// Refuses versions and schemes that are not known, and sizes beyond the limits.
// Precondition: kChunkHeaderSize bytes.
Result<ChunkHeader> ParseChunkHeader(BytesView bytes);
// Precondition: kChunkHeaderSize bytes are writable at `to`.
void StoreChunkHeader(const ChunkHeader& header, std::byte* to);

// Decompresses the record that `record` is, whole, into `into`, which has the size that
// its header says. With `expected`, kCorrupt if the chunk has another hash.
Result<void> ReadRecord(BytesView record, ChunkDecompressor& decompressor,
                        const Hash* expected, MutableBytes into);

}  // namespace dolium::xet
