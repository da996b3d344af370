// Spill files: chunks that had to leave memory before their shards could be laid out.
//
// A spill is one object: the stored bytes of chunks sorted by shard, minishard and id,
// then one row for each chunk in the same order. What is kept in memory is one
// SpillSegment per shard in it, however many chunks there are.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dolium/bytes/store.h"
#include "dolium/formats/neuroglancer/shard_assembler.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::neuroglancer {

// The rows of one shard in one spill.
struct SpillSegment {
  std::shared_ptr<const ObjectVersion> object;
  uint64_t rows_offset = 0;  // of the first row, in the object
  uint64_t row_count = 0;
};

// The pieces of one shard, to be spilled.
struct ShardPieces {
  uint64_t shard = 0;
  std::vector<Piece> pieces;  // in memory; any order
};

// Writes a spill; the segments are in the order of `shards`.
Result<std::vector<SpillSegment>> WriteSpill(Store& store, const std::string& object,
                                             const ShardingSpec& spec,
                                             std::span<ShardPieces> shards);

// Reads one segment back in order, a few rows at a time.
class SpillSource : public PieceSource {
 public:
  SpillSource(const Store& store, const ShardingSpec& spec, const SpillSegment& segment);

  Result<void> Load(uint64_t minishard, std::vector<Piece>& pieces) override;
  Result<void> Rewind() override;
  std::span<const PieceInput> inputs() const override { return {&input_, 1}; }

 private:
  Result<void> Refill();

  const ShardingSpec spec_;
  const SpillSegment segment_;
  const PieceInput input_;
  uint64_t next_row_ = 0;      // to be read from the spill
  std::vector<Piece> window_;  // read ahead
  size_t next_ = 0;            // in the window
};

}  // namespace dolium::neuroglancer
