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

// Puts pieces in order of minishard and id.
void SortPieces(const ShardingSpec& spec, std::vector<Piece>& pieces);

// Pieces in one sorted list.
class ListSource : public PieceSource {
 public:
  // Sorts. `inputs` are those that the pieces name.
  ListSource(const ShardingSpec& spec, std::vector<Piece> pieces,
             std::vector<PieceInput> inputs);

  Result<void> Load(uint64_t minishard, std::vector<Piece>& pieces) override;
  Result<void> Rewind() override;
  std::span<const PieceInput> inputs() const override { return inputs_; }

 private:
  std::vector<Piece> pieces_;
  std::vector<PieceInput> inputs_;
  size_t next_ = 0;
};

// The chunks of a shard as it is now. Under a mesh info, each brings the fragments before
// it; in a set of unknown kind, the unindexed bytes before it.
class ShardSource : public PieceSource {
 public:
  // Reads the shard index. kCorrupt if it, or later a minishard, cannot be trusted.
  static Result<std::unique_ptr<ShardSource>> Open(const ShardReader& reader,
                                                   const ShardObjects& objects,
                                                   Kind kind);

  const Generation& generation() const { return index_info_.generation; }

  Result<void> Load(uint64_t minishard, std::vector<Piece>& pieces) override;
  std::span<const PieceInput> inputs() const override { return inputs_; }

 private:
  ShardSource(const ShardReader& reader, ShardObjects objects, Kind kind)
      : reader_(reader), objects_(std::move(objects)), kind_(kind) {}

  Result<Minishard> LoadMinishard(uint64_t minishard);

  const ShardReader& reader_;
  const ShardObjects objects_;
  const Kind kind_;
  ObjectInfo index_info_;
  std::vector<ShardIndexRow> rows_;
  UnindexedBytes unindexed_;
  std::vector<PieceInput> inputs_;
};

// Several sources as one.
class JoinedSource : public PieceSource {
 public:
  void Add(std::unique_ptr<PieceSource> source);

  Result<void> Load(uint64_t minishard, std::vector<Piece>& pieces) override;
  Result<void> Rewind() override;
  std::span<const PieceInput> inputs() const override { return inputs_; }

 private:
  struct Part {
    std::unique_ptr<PieceSource> source;
    uint32_t first_input = 0;
  };
  std::vector<Part> parts_;
  std::vector<PieceInput> inputs_;
};

// The bytes of mesh fragments before each of `chunks`, from their manifests, in order.
// Each has its own result. Precondition: the chunks lie within the object.
std::vector<Result<uint64_t>> ReadFragmentBytes(const ShardReader& reader,
                                                const ObjectVersion& object,
                                                std::span<const ChunkLocation> chunks);

}  // namespace dolium::neuroglancer
