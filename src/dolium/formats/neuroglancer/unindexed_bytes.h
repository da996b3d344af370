// Bytes of a shard that no index mentions, for sets of which nobody knows what they hold.
//
// Mesh shards keep fragments right before each manifest, and only the info of the set
// says so. Where there is no such info, whatever lies unindexed before a chunk is taken
// to belong to it, so that no rewrite loses it.
#pragma once

#include <cstdint>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/formats/neuroglancer/shard_reader.h"

namespace dolium::neuroglancer {

class UnindexedBytes {
 public:
  // Reads every minishard index of the shard; those that are damaged are passed over.
  // Memory is a few numbers per minishard, and per gap.
  static Result<UnindexedBytes> Find(const ShardReader& reader,
                                     const ShardObjects& objects);

  // Of the object with the shard index, that they were found in.
  const Generation& generation() const { return generation_; }

  // How many unindexed bytes lie right before a chunk that begins at `offset`.
  uint64_t Before(uint64_t offset) const;

 private:
  void Add(ByteRange range);
  void Merge();

  Generation generation_;
  std::vector<ByteRange>
      indexed_;  // chunks and indexes: ascending, none touches the next
};

}  // namespace dolium::neuroglancer
