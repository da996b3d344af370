// Laying out one shard, front to back, from chunks that lie elsewhere.
//
// Every way of making a shard ends here: writing, merging what spilled, copying from
// another set, changing a few chunks. The layout is TensorStore's: the shard index, then
// for each minishard its values in order of id and its minishard index. So equal chunks
// give equal files, whatever they came from.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/store.h"
#include "dolium/container/entry.h"
#include "dolium/container/writer.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::neuroglancer {

// An object that chunks are copied from.
struct ChunkInput {
  const Store* store = nullptr;
  std::shared_ptr<const ObjectVersion> object;
};

// One chunk as stored, with the unindexed bytes right before it.
struct StoredChunk {
  uint64_t id = 0;
  uint64_t length = 0;     // stored bytes of the chunk
  uint64_t preceding = 0;  // bytes before them
  // The first byte (a preceding one, if any): in memory, or else in an input.
  const std::byte* memory = nullptr;
  uint64_t offset = 0;
  uint32_t input = 0;
  uint32_t minishard = 0;  // set by SortChunks(), for sources to sort by

  uint64_t total() const { return preceding + length; }
};

// Where the chunks come from, minishard by minishard.
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;

  // Appends the chunks of one minishard to `stored_chunks`, in any order. Called with
  // ascending numbers.
  virtual Result<void> Load(uint64_t minishard,
                            std::vector<StoredChunk>& stored_chunks) = 0;

  // The first minishard from this one on that may have chunks; any number past the last
  // if there is none. Numbers ascend, and those of Load() are no smaller.
  virtual uint64_t FindNext(uint64_t minishard) { return minishard; }

  // The next Load starts over from the first minishard.
  virtual Result<void> Rewind() { return {}; }

  virtual std::span<const ChunkInput> inputs() const { return {}; }
};

struct AssembleOptions {
  uint64_t memory = uint64_t{64} << 20;  // for indexes and chunks kept between two passes
  std::stop_token stop = {};
  // Called after each minishard: how many more entries are laid out, and their bytes.
  std::function<void(uint64_t entries, uint64_t bytes)> progress = {};
};

// Appends a whole shard to `out`, which must be empty; does not commit it. If the source
// has no chunks, nothing is appended and the summary has no entries. An id given twice is
// kInvalidArgument.
Result<WriteSummary> AssembleShard(const ShardingSpec& spec, ChunkSource& source,
                                   ObjectWriter& out, const AssembleOptions& options);

}  // namespace dolium::neuroglancer
