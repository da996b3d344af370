#include "dolium/formats/neuroglancer/unindexed_bytes.h"

#include <algorithm>

namespace dolium::neuroglancer {

Result<UnindexedBytes> UnindexedBytes::Find(const ShardReader& reader,
                                            const ShardObjects& objects) {
  UnindexedBytes found;
  found.Add({0, objects.body_base});
  DOLIUM_TRY(const ObjectInfo index,
             ScanMinishards(
                 reader, objects, std::nullopt,
                 [&](const ShardReader::MinishardRow& row, Result<Minishard> minishard) {
                   if (const auto range = objects.RangeOf(row.row)) found.Add(*range);
                   if (!minishard) return true;
                   // A size of 0 is one that the store did not learn.
                   const uint64_t size =
                       minishard->object_size == 0 ? INT64_MAX : minishard->object_size;
                   for (const ChunkLocation& chunk : minishard->chunks) {
                     if (chunk.FitsIn(size)) found.Add(chunk.range());
                   }
                   return true;
                 }));
  found.generation_ = index.generation;
  found.Merge();
  return found;
}

// Chunks mostly follow one another, so what is kept is runs of them.
void UnindexedBytes::Add(ByteRange range) {
  if (range.empty()) return;
  if (!indexed_.empty() && indexed_.back().end() == range.offset) {
    indexed_.back().length += range.length;
  } else {
    indexed_.push_back(range);
  }
}

void UnindexedBytes::Merge() {
  std::ranges::sort(indexed_, {}, &ByteRange::offset);
  size_t last = 0;
  for (size_t i = 1; i < indexed_.size(); ++i) {
    if (indexed_[i].offset > indexed_[last].end()) {
      indexed_[++last] = indexed_[i];
    } else if (indexed_[i].end() > indexed_[last].end()) {
      indexed_[last].length = indexed_[i].end() - indexed_[last].offset;
    }
  }
  if (!indexed_.empty()) indexed_.resize(last + 1);
}

uint64_t UnindexedBytes::Before(uint64_t offset) const {
  const auto run = std::ranges::lower_bound(indexed_, offset, {}, &ByteRange::offset);
  if (run == indexed_.end() || run->offset != offset) return 0;  // Within a run.
  return run == indexed_.begin() ? offset : offset - std::prev(run)->end();
}

}  // namespace dolium::neuroglancer
