// Writing a whole sharded set from chunks in any order, in bounded memory.
//
// Chunks gather in one buffer per shard. When memory is full, the shard that was not
// touched for longest leaves it: laid out right away if this may be all of it (chunks
// that come in shard order are thus written once), or spilled together with the others if
// the buffers are small. Finish() lays out the rest, merging what spilled. The files
// depend on the chunks alone: not on their order, the memory or the number of threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dolium/base/worker_pool.h"
#include "dolium/bytes/location.h"
#include "dolium/container/writer.h"
#include "dolium/formats/neuroglancer/chunk_buffer.h"
#include "dolium/formats/neuroglancer/shard_assembler.h"
#include "dolium/formats/neuroglancer/shard_reader.h"
#include "dolium/formats/neuroglancer/spill.h"

namespace dolium::neuroglancer {

class ShardedWriter : public Writer {
 public:
  // With kEarly, a shard's object may appear before it is complete; else just once, in
  // Finish(), so that its being there means that it is done.
  enum class Appear : uint8_t { kEarly, kOnce };
  ShardedWriter(Location folder, const ShardingSpec& spec, const WriterOptions& options,
                Appear appear = Appear::kEarly);
  ~ShardedWriter() override;

  Result<void> Add(const NewEntry& entry) override;

  // The same for a key that is a number already.
  Result<void> AddChunk(uint64_t id, BytesView value, BytesView preceding, bool encoded);

  Result<WriteSummary> Finish() override;

 private:
  struct ShardState {
    std::unique_ptr<ChunkBuffer> buffer;  // nullptr: nothing in memory
    std::list<uint64_t>::iterator turn;   // in turns_, while there is a buffer
    bool laid_out = false;                // the shard's object holds chunks already
    // Guarded by mutex_: set by workers.
    std::vector<SpillSegment> spills;
    uint64_t stored_bytes = 0;
  };
  // A buffer on its way out of memory.
  struct Leaving {
    uint64_t shard = 0;
    std::shared_ptr<ChunkBuffer> buffer;
  };

  Result<void> MakeRoom();
  Leaving Take(uint64_t shard);
  void LayOut(Leaving leaving);
  Result<void> Spill(std::vector<Leaving> leaving);
  // Runs `work` on a worker, as soon as there is room for `memory`, which counts as taken
  // until it is over.
  void Start(uint64_t memory, WorkerPool::Work work);

  Result<void> WriteShard(uint64_t shard, ChunkSource& source, size_t writers);
  Result<void> FinishShard(uint64_t shard, ShardState& state, size_t writers);

  const Location folder_;
  const ShardingSpec spec_;
  const WriterOptions options_;
  const Appear appear_;
  const size_t jobs_;
  const uint64_t buffer_limit_;  // of all buffers that are being filled

  BlockPool pool_;
  std::map<uint64_t, ShardState> shards_;  // inserted into under mutex_
  std::list<uint64_t> turns_;   // shards with buffers, least recently touched first
  uint64_t buffered_cost_ = 0;  // memory that those buffers take on their way out
  uint64_t entries_ = 0;
  uint64_t value_bytes_ = 0;

  std::optional<SpillFolder> spills_;  // until Finish()
  Store* spill_store_ = nullptr;       // of that, once there are spills
  uint64_t spill_count_ = 0;

  std::mutex mutex_;
  std::condition_variable memory_freed_;
  uint64_t in_flight_ = 0;  // memory of work under way

  WorkerPool workers_;  // last: its threads use the members above
};

// Parses a key of the sharded format: decimal digits of a uint64.
Result<uint64_t> ParseKey(std::string_view key);

}  // namespace dolium::neuroglancer
