// ChunkReader: the entries of a container whose keys are numbers, by uint64.
//
// The capability for hot paths: no key as text, no virtual call and no allocation for a
// chunk. The caller says where stored bytes and values go, so that they can be read into
// memory that it has. A value; the container outlives it. May be used from many threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/codec/codec.h"
#include "dolium/container/chunk_ref.h"
#include "dolium/container/container.h"
#include "dolium/ops/read_key.h"

namespace dolium {

namespace neuroglancer {
class ShardedContainer;
struct ShardingSpec;
}  // namespace neuroglancer

class ChunkReader {
 public:
  // For WhileReplaced(): a busy writer may win many times in a row. Of a batch, the
  // chunks are better read one by one then.
  static constexpr int kAttempts = 64;
  static constexpr int kBatchAttempts = 3;

  // Nullopt if the keys of the container are no numbers.
  static std::optional<ChunkReader> Of(const Container& container);

  const neuroglancer::ShardingSpec& sharding() const;
  // Whether values are what is stored.
  bool is_raw() const { return codecs_.empty(); }

  // Finds a chunk; nullopt if it is not there. kCorrupt if it takes more than
  // kDefaultDecodeLimit bytes.
  Result<std::optional<ChunkRef>> Locate(uint64_t id) const;

  // Reads stored bytes. kConflict if the object was replaced since Locate().
  // Precondition: as many bytes as the chunk's range has.
  Result<void> Read(const ChunkRef& chunk, MutableBytes into) const;
  // The same for many, batched by object.
  Result<void> Read(std::span<const ChunkRef> chunks,
                    std::span<const MutableBytes> into) const;

  // The size of the value, if stored bytes tell it before they are decoded.
  std::optional<uint64_t> SizeOf(BytesView stored) const;
  // False if the size turns out to be another.
  Result<bool> DecodeInto(uint64_t id, const ChunkRef& chunk, BytesView stored,
                          MutableBytes value) const;
  Result<Bytes> Decode(uint64_t id, const ChunkRef& chunk, BytesView stored) const;

  // Does `read`, which gives a Result, and does it again, a number of times, while it
  // says that a shard of these chunks was replaced or removed since Locate(): what leads
  // to them is forgotten in between.
  template <typename Read>
  auto WhileReplaced(std::span<const uint64_t> ids, int attempts,
                     const Read& read) const {
    for (int attempt = 1;; ++attempt) {
      auto done = read();
      if (done || !IsReplaced(done.error()) || attempt >= attempts) return done;
      for (const uint64_t id : ids) Forget(id);
    }
  }

 private:
  // Forgets what leads to the chunk.
  void Forget(uint64_t id) const;

  explicit ChunkReader(const neuroglancer::ShardedContainer& container);

  Error About(uint64_t id, const ChunkRef& chunk, const Error& error) const;

  const neuroglancer::ShardedContainer* container_;
  CodecChain codecs_;
};

// The number that a key stands for; kInvalidArgument if it is none.
Result<uint64_t> ParseChunkId(std::string_view key);

}  // namespace dolium
