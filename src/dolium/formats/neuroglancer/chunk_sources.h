// The sources that shards are assembled from: memory, a shard that exists, spill files,
// and several of these at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dolium/formats/neuroglancer/info.h"
#include "dolium/formats/neuroglancer/shard_assembler.h"
#include "dolium/formats/neuroglancer/shard_reader.h"
#include "dolium/formats/neuroglancer/unindexed_bytes.h"

namespace dolium::neuroglancer {

// Puts chunks in order of minishard and id.
void SortChunks(const ShardingSpec& spec, std::vector<StoredChunk>& stored_chunks);

// Chunks in one sorted list.
class ListSource : public ChunkSource {
 public:
  // Sorts. `inputs` are those that the chunks name.
  ListSource(const ShardingSpec& spec, std::vector<StoredChunk> stored_chunks,
             std::vector<ChunkInput> inputs);

  Result<void> Load(uint64_t minishard, std::vector<StoredChunk>& stored_chunks) override;
  uint64_t FindNext(uint64_t minishard) override;
  Result<void> Rewind() override;
  std::span<const ChunkInput> inputs() const override { return inputs_; }

 private:
  std::vector<StoredChunk> stored_chunks_;
  std::vector<ChunkInput> inputs_;
  size_t next_ = 0;
};

// The chunks of a shard as it is now. Under a mesh info, each brings the fragments before
// it; in a set of unknown kind, the unindexed bytes before it.
class ShardSource : public ChunkSource {
 public:
  // Reads the shard index. kCorrupt if it, or later a minishard, cannot be trusted.
  static Result<std::unique_ptr<ShardSource>> Open(const ShardReader& reader,
                                                   const ShardObjects& objects,
                                                   Kind kind);

  const Generation& generation() const { return index_info_.generation; }

  Result<void> Load(uint64_t minishard, std::vector<StoredChunk>& stored_chunks) override;
  std::span<const ChunkInput> inputs() const override { return inputs_; }

 private:
  ShardSource(const ShardReader& reader, ShardObjects objects, Kind kind)
      : reader_(reader), objects_(std::move(objects)), kind_(kind) {}

  Result<Minishard> LoadMinishard(uint64_t minishard);

  const ShardReader& reader_;
  const ShardObjects objects_;
  const Kind kind_;
  ObjectInfo index_info_;
  uint64_t body_size_ = 0;
  std::vector<ShardIndexRow> rows_;
  UnindexedBytes unindexed_;
  std::vector<ChunkInput> inputs_;
};

// Several sources as one.
class JoinedSource : public ChunkSource {
 public:
  void Add(std::unique_ptr<ChunkSource> source);

  Result<void> Load(uint64_t minishard, std::vector<StoredChunk>& stored_chunks) override;
  uint64_t FindNext(uint64_t minishard) override;
  Result<void> Rewind() override;
  std::span<const ChunkInput> inputs() const override { return inputs_; }

 private:
  struct Part {
    std::unique_ptr<ChunkSource> source;
    uint32_t first_input = 0;
  };
  std::vector<Part> parts_;
  std::vector<ChunkInput> inputs_;
};

// The bytes of mesh fragments before each of `chunks`, from their manifests, in order.
// Each has its own result. Precondition: the chunks lie within the object.
std::vector<Result<uint64_t>> ReadFragmentBytes(const ShardReader& reader,
                                                const ObjectVersion& object,
                                                std::span<const ChunkLocation> chunks);

}  // namespace dolium::neuroglancer
