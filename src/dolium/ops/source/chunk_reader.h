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

  // The size of the value, if stored bytes say it before they are decoded.
  std::optional<uint64_t> SizeOf(BytesView stored) const;
  // False if the size turns out to be another.
  Result<bool> DecodeInto(uint64_t id, const ChunkRef& chunk, BytesView stored,
                          MutableBytes value) const;
  Result<Bytes> Decode(uint64_t id, const ChunkRef& chunk, BytesView stored) const;

  // The result of `read`, which locates and reads one chunk; done again if its shard is
  // replaced or removed in between.
  template <typename Read>
  auto ReadCurrent(uint64_t id, const Read& read) const {
    return WhileReplaced(kReplacedAttempts, read, [&] { Forget(id); });
  }

  // The same for many: `read_all` does it for all of them, as one batch; where a writer
  // keeps replacing their shards, `read_one` does it for each, by its position.
  template <typename ReadAll, typename ReadOne>
  Result<void> ReadEachCurrent(std::span<const uint64_t> ids, const ReadAll& read_all,
                               const ReadOne& read_one) const {
    Result<void> done = WhileReplaced(kBatchAttempts, read_all, [&] {
      for (const uint64_t id : ids) Forget(id);
    });
    if (done || !IsReplaced(done.error())) return done;
    for (size_t i = 0; i < ids.size(); ++i) {
      DOLIUM_TRY_VOID(ReadCurrent(ids[i], [&] { return read_one(i); }));
    }
    return {};
  }

 private:
  static constexpr int kBatchAttempts = 3;

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
