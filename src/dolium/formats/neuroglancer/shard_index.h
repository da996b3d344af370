// The two levels of index in a shard, as bytes.
//
// A shard begins with the shard index: for each minishard, where its minishard index
// lies, relative to the end of the shard index. A decoded minishard index is three rows
// of n numbers: ids, offsets, sizes, the first two delta coded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dolium/base/byte_range.h"
#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium::neuroglancer {

// One row of the shard index, as stored. begin == end: the minishard is empty.
struct ShardIndexRow {
  uint64_t begin = 0;
  uint64_t end = 0;

  bool empty() const { return begin == end; }
  friend bool operator==(const ShardIndexRow&, const ShardIndexRow&) = default;
};

struct ChunkLocation {
  uint64_t id = 0;
  uint64_t offset = 0;
  uint64_t length = 0;

  // Whether the bytes lie within an object of `size` bytes. What a file says may not.
  bool FitsIn(uint64_t size) const { return length <= size && offset <= size - length; }
  ByteRange range() const { return {offset, length}; }
  friend bool operator==(const ChunkLocation&, const ChunkLocation&) = default;
};

// Precondition: `raw` is a multiple of 16 bytes long.
std::vector<ShardIndexRow> DecodeShardIndex(BytesView raw);
ByteVector EncodeShardIndex(std::span<const ShardIndexRow> rows);

// Undoes the deltas, in stored order; `base` is added to every offset. Sums wrap by
// design (an index that is not ascending is legal), so ranges are checked where the
// object's size is known. kCorrupt if `raw` is not a whole number of columns.
Result<std::vector<ChunkLocation>> DecodeMinishardIndex(BytesView raw, uint64_t base);

// The reverse, for offsets relative to the end of the shard index.
ByteVector EncodeMinishardIndex(std::span<const ChunkLocation> chunks);

}  // namespace dolium::neuroglancer
