#include "dolium/formats/neuroglancer/unindexed_bytes.h"

#include <algorithm>

namespace dolium::neuroglancer {

Result<UnindexedBytes> UnindexedBytes::Find(const ShardReader& reader,
                                            const ShardObjects& objects) {
  UnindexedBytes found;
  found.ends_.push_back(objects.body_base);
  DOLIUM_TRY_VOID(ScanMinishards(
      reader, objects,
      [&](const ShardReader::MinishardRow& row, Result<Minishard> minishard) {
        if (const auto range = objects.RangeOf(row.row))
          found.ends_.push_back(range->end());
        if (!minishard) return true;
        uint64_t end = 0;
        for (const ChunkLocation& chunk : minishard->chunks) {
          // A size of 0 is one that the store did not learn.
          const uint64_t size =
              minishard->object_size == 0 ? INT64_MAX : minishard->object_size;
          if (chunk.length == 0 || !chunk.FitsIn(size)) continue;
          if (chunk.offset != end && end != 0) found.ends_.push_back(end);
          end = chunk.range().end();
        }
        if (end != 0) found.ends_.push_back(end);
        return true;
      }));
  std::ranges::sort(found.ends_);
  return found;
}

uint64_t UnindexedBytes::Before(uint64_t offset) const {
  const auto after = std::ranges::upper_bound(ends_, offset);
  return after == ends_.begin() ? 0 : offset - *std::prev(after);
}

}  // namespace dolium::neuroglancer
