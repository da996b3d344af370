// Spill files: what had to leave memory before its shard could be laid out.
//
// A spill is one object: the stored bytes of chunks sorted by shard, minishard and id,
// then one row for each chunk in the same order. What is kept in memory is one
// SpillSegment per shard in it, however many chunks there are. Where the bytes are in
// other objects already, a spill has just the rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dolium/bytes/location.h"
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

// The chunks of one shard, to be spilled.
struct SpilledChunks {
  uint64_t shard = 0;
  std::vector<StoredChunk> stored_chunks;  // in memory; any order
};

// Writes a spill; the segments are in the order of `shards`.
Result<std::vector<SpillSegment>> WriteSpill(Store& store, const std::string& object,
                                             const ShardingSpec& spec,
                                             std::span<SpilledChunks> shards);

// Writes the rows of chunks that lie in inputs, which the caller keeps. Sorts the chunks.
Result<SpillSegment> WriteRows(Store& store, const std::string& object,
                               const ShardingSpec& spec,
                               std::vector<StoredChunk>& stored_chunks);

// A folder of this process's own for spills, made when it is first asked for and removed
// with what is in it. One thread at a time.
class SpillFolder {
 public:
  // In `parent`; if that is empty, beside what is in `target`, or (where that is not
  // local) among the system's temporaries.
  SpillFolder(Location target, std::string parent)
      : target_(std::move(target)), parent_(std::move(parent)) {}
  ~SpillFolder();
  SpillFolder(const SpillFolder&) = delete;
  SpillFolder& operator=(const SpillFolder&) = delete;

  Result<Store*> store();

 private:
  const Location target_;
  const std::string parent_;
  std::string path_;  // empty: not made yet
  std::shared_ptr<Store> store_;
};

// Reads one segment back in order, a few rows at a time.
class SpillSource : public ChunkSource {
 public:
  SpillSource(const Store& store, const ShardingSpec& spec, const SpillSegment& segment);

  Result<void> Load(uint64_t minishard, std::vector<StoredChunk>& stored_chunks) override;
  Result<void> Rewind() override;
  // The spill itself; the inputs of WriteRows() are not known here.
  std::span<const ChunkInput> inputs() const override { return {&input_, 1}; }

 private:
  Result<void> Refill();

  const ShardingSpec spec_;
  const SpillSegment segment_;
  const ChunkInput input_;
  uint64_t next_row_ = 0;            // to be read from the spill
  std::vector<StoredChunk> window_;  // read ahead
  size_t next_ = 0;                  // in the window
};

}  // namespace dolium::neuroglancer
