// Reading shards: the typed index that hot paths use.
//
// ShardReader finds chunks by id. Index blocks are read once and kept in a bounded cache,
// each with the generation of its object; a chunk is read only from that generation, so a
// shard that is replaced meanwhile never gives wrong bytes. All methods may be called
// from many threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/generation_cache.h"
#include "dolium/bytes/location.h"
#include "dolium/container/chunk_ref.h"
#include "dolium/container/entry.h"
#include "dolium/formats/neuroglancer/shard_index.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::neuroglancer {

// The objects that make up one shard: one `.shard`, or the obsolete `.index` and `.data`.
struct ShardObjects {
  std::string index;       // path of the object that begins with the shard index
  std::string body;        // path of the object that holds everything else
  uint64_t body_base = 0;  // where offset 0 of the index lies in `body`

  bool is_pair() const { return index != body; }

  // Where a row says that its minishard index lies in the body; nullopt if that is
  // nowhere.
  std::optional<ByteRange> RangeOf(const ShardIndexRow& row) const {
    const auto begin = CheckedAdd(body_base, row.begin);
    if (row.end < row.begin || !begin) return std::nullopt;
    return ByteRange::Make(*begin, row.end - row.begin);
  }

  // Whether a row says that its minishard has no chunks. A place outside the body
  // (`body_size` bytes, 0: not known) says nothing: that is damage.
  bool IsVoid(const ShardIndexRow& row, uint64_t body_size) const {
    if (!row.empty()) return false;
    const auto range = RangeOf(row);
    return row.begin == 0 || body_size == 0 || (range && range->end() <= body_size);
  }
};

// One decoded minishard index, ids ascending.
struct Minishard {
  std::shared_ptr<const ObjectVersion> object;  // that holds the chunks
  uint64_t object_size = 0;                     // 0: not known
  std::vector<ChunkLocation> chunks;            // offsets absolute in the object

  const ChunkLocation* Find(uint64_t id) const;
};

class ShardReader {
 public:
  ShardReader(Location folder, const ShardingSpec& spec, uint64_t cache_bytes);

  const Location& folder() const { return folder_; }
  const ShardingSpec& spec() const { return spec_; }
  const Store& store() const { return *folder_.store; }
  // Whether reads are cheap calls rather than requests.
  bool is_local() const { return local_; }

  // Finds a chunk; nullopt if it is not there. Two reads cold, none warm.
  Result<std::optional<ChunkRef>> Locate(uint64_t id) const;

  // The same in given objects, whatever they are named. kNotFound if they are not there.
  Result<std::optional<ChunkRef>> LocateIn(const ShardObjects& objects,
                                           uint64_t id) const;

  // Reads a chunk's stored bytes. kConflict if the shard was replaced since Locate.
  // Precondition: into.size() == chunk.range.length.
  Result<void> ReadChunk(const ChunkRef& chunk, MutableBytes into) const;

  // The same for many chunks, batched by object. Precondition: equal sizes.
  Result<void> ReadChunks(std::span<const ChunkRef> chunks,
                          std::span<const MutableBytes> into) const;

  // Finds and reads and decodes, again if the shard was replaced in between. kCorrupt if
  // a chunk takes more than `limit` bytes, stored or decoded.
  Result<std::optional<Bytes>> Get(uint64_t id,
                                   uint64_t limit = kDefaultDecodeLimit) const;
  // The same without decoding.
  Result<std::optional<Bytes>> GetStored(uint64_t id,
                                         uint64_t limit = kDefaultDecodeLimit) const;
  Result<std::vector<std::optional<Bytes>>> GetMany(
      std::span<const uint64_t> ids, uint64_t limit = kDefaultDecodeLimit) const;

  // Forgets the index blocks that lead to the chunk: call it after a kConflict.
  void Forget(uint64_t id) const;

  // The objects that a shard would be made of, as one file or as the obsolete pair.
  ShardObjects ObjectsOf(uint64_t shard, bool pair) const;

  // The objects of a shard that is there; nullopt if it is absent in both forms. kCorrupt
  // if something has its name that is no file, here and in all other calls.
  Result<std::optional<ShardObjects>> FindShard(uint64_t shard) const;

  // Reads a whole shard index, in blocks; `visit` gets each row with its number, and ends
  // the reading by returning false. Not cached.
  using RowVisitor = std::function<bool(uint64_t minishard, const ShardIndexRow& row)>;
  Result<ObjectInfo> ReadShardIndex(const ShardObjects& objects,
                                    const RowVisitor& visit) const;

  // The size of the body; 0 where it is not known. `index` is what ReadShardIndex
  // returned, here and below.
  Result<uint64_t> BodySize(const ShardObjects& objects, const ObjectInfo& index) const;

  // Reads and decodes one minishard index, in stored order. Not cached.
  Result<Minishard> ReadMinishard(const ShardObjects& objects, const ObjectInfo& index,
                                  uint64_t minishard, const ShardIndexRow& row) const;

  // The same for many rows at once, with as few requests as the store can make of them.
  // Each has its own result; one is decoded at a time. False if `visit` ended it by
  // returning false.
  struct MinishardRow {
    uint64_t minishard = 0;
    ShardIndexRow row;
  };
  using MinishardVisitor =
      std::function<bool(const MinishardRow& row, Result<Minishard> minishard)>;
  bool ReadMinishards(const ShardObjects& objects, const ObjectInfo& index,
                      std::span<const MinishardRow> rows,
                      const MinishardVisitor& visit) const;

 private:
  struct IndexBlock {
    ObjectInfo info;
    std::vector<ShardIndexRow> rows;
  };

  Result<std::optional<ChunkRef>> LocateWithin(uint64_t id, uint64_t limit) const;
  // Finds and reads, again if the shard was replaced in between.
  struct ReadResult {
    ChunkRef chunk;
    Bytes stored;
  };
  Result<std::optional<ReadResult>> LocateAndRead(uint64_t id, uint64_t limit) const;
  Result<Bytes> DecodeChunk(uint64_t id, const ChunkRef& chunk, const Bytes& stored,
                            uint64_t limit) const;
  // Whether it is worth asking for the obsolete pair of an absent `.shard`.
  bool MayHavePairs() const;
  // Reads of the object that begins with the shard index.
  Result<ReadRangesResult> ReadIndex(const ShardObjects& objects, ByteRange range,
                                     const ReadOptions& options = {}) const;
  Result<std::shared_ptr<const Minishard>> CachedMinishard(const ShardObjects& objects,
                                                           uint64_t minishard) const;
  Result<std::shared_ptr<const IndexBlock>> CachedIndexBlock(const ShardObjects& objects,
                                                             uint64_t block) const;
  void ForgetBlocks(const ShardObjects& objects, uint64_t minishard) const;
  Result<Minishard> DecodeMinishard(std::shared_ptr<const ObjectVersion> object,
                                    uint64_t object_size, uint64_t minishard,
                                    const ShardObjects& objects, ByteRange range,
                                    const Bytes& stored) const;
  static std::string RowProblem(const ShardObjects& objects, const ShardIndexRow& row,
                                uint64_t body_size);

  const Location folder_;
  const ShardingSpec spec_;
  const bool local_;  // reads are cheap calls, not requests
  mutable GenerationCache<IndexBlock> index_blocks_;
  mutable GenerationCache<Minishard> minishards_;
  mutable std::atomic<bool> no_pairs_{false};  // a listing showed that there are none
};

// Reads every minishard index of a shard, many at a time; `visit` gets each that is not
// empty, in order, and ends the reading by returning false. The answer has the size and
// generation of the object with the shard index. With `generation`, kConflict if that is
// another one by now, before anything is visited. Those before `first` are passed over.
Result<ObjectInfo> ScanMinishards(const ShardReader& reader, const ShardObjects& objects,
                                  const std::optional<Generation>& generation,
                                  const ShardReader::MinishardVisitor& visit,
                                  uint64_t first = 0);

}  // namespace dolium::neuroglancer
