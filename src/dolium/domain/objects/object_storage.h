// ObjectStorage: the values of a folder by uint64, whether each is a file or a chunk of a
// shard.
//
// A file is named `ID` and a suffix (`.index`, `:0`, or none), with or without an ending
// that says how it is compressed; one that was compressed ahead of time under its plain
// name is undone as well. All methods may be called from many threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/codec/codec.h"
#include "dolium/container/chunk_ref.h"
#include "dolium/formats/neuroglancer/sharded_container.h"

namespace dolium::objects {

struct ReadManyOptions {
  size_t jobs = 0;                       // threads; 0: one per core
  uint64_t limit = kDefaultDecodeLimit;  // bytes of one value, stored or decoded
  std::stop_token stop = {};             // ends it between two values
};

// A value, and where its stored bytes are. Valid during the visit only.
struct StoredValue {
  uint64_t id = 0;
  BytesView value;
  const ChunkRef* chunk = nullptr;  // null: it is a file
};

class ObjectStorage {
 public:
  // Whether 0 is an id as others, or no label, which has no value.
  enum class Zero : uint8_t { kNoLabel, kIsId };

  // `info` describes the shards; nullopt: each value is a file. `suffix` is that of the
  // files' names.
  ObjectStorage(Location folder, std::optional<neuroglancer::ShardingInfo> info,
                std::string suffix, uint64_t cache_bytes, Zero zero = Zero::kNoLabel);

  const Location& folder() const { return folder_; }
  bool is_sharded() const { return container_ != nullptr; }
  // The shards as a container; null if there are none.
  const neuroglancer::ShardedContainer* shards() const { return container_.get(); }

  // The ids of all values, ascending, without 0 if that is no label. kUnsupported where
  // the store cannot list.
  Result<std::vector<uint64_t>> ListIds(const std::stop_token& stop = {}) const;

  // Calls `visit(index, value)` for each id, in any order, from several threads at once;
  // a null value is absent. An error of `visit` ends it and is returned, but for
  // kConflict, upon which the id is read and visited again.
  using Visitor = std::function<Result<void>(size_t index, const StoredValue* value)>;
  Result<void> ReadEach(std::span<const uint64_t> ids, const ReadManyOptions& options,
                        const Visitor& visit) const;

  // The name of a value for messages.
  std::string Describe(uint64_t id) const;

 private:
  bool HasValue(uint64_t id) const { return id != 0 || zero_ == Zero::kIsId; }
  Result<void> ReadFile(uint64_t id, size_t index, uint64_t limit,
                        const Visitor& visit) const;
  Result<void> ReadBatch(std::span<const uint64_t> ids, std::span<const size_t> indexes,
                         const ReadManyOptions& options, const Visitor& visit) const;
  Result<void> ReadSome(std::span<const uint64_t> ids, std::span<const size_t> indexes,
                        std::span<const ChunkRef> chunks, uint64_t bytes,
                        const ReadManyOptions& options, const Visitor& visit) const;
  Result<void> ReadAgain(uint64_t id, size_t index, const ReadManyOptions& options,
                         const Visitor& visit) const;
  Result<void> VisitChunk(uint64_t id, size_t index, const ChunkRef& chunk,
                          BytesView stored, uint64_t limit, ByteVector& scratch,
                          const Visitor& visit) const;
  Result<std::vector<uint64_t>> ListFiles() const;
  Result<std::vector<uint64_t>> ListShards(const std::stop_token& stop) const;

  const Location folder_;
  const std::string suffix_;
  const Zero zero_;
  const bool is_local_;
  std::unique_ptr<neuroglancer::ShardedContainer> container_;
  CodecChain codecs_;
};

// The whole of a small object, whatever is around it: as a value that is a file. Nullopt
// if it is there under no name. kCorrupt if it has more than `limit` bytes.
Result<std::optional<Bytes>> ReadWrapped(const Location& object, uint64_t limit);

// What is in a file of that name, of which `stored` are the bytes. kCorrupt as above.
Result<Bytes> UnwrapFile(std::string_view name, Bytes stored, uint64_t limit);

}  // namespace dolium::objects
