// The entries of a part as chunks to be copied, in bounded memory.
//
// Chunks gather in memory; when they fill it, they leave it as sorted rows in a spill.
// Loading merges all spills with what is left in memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/container/entry.h"
#include "dolium/formats/neuroglancer/chunk_sources.h"
#include "dolium/formats/neuroglancer/spill.h"

namespace dolium::neuroglancer {

class PartChunks : public ChunkSource {
 public:
  // Holds about `memory` bytes. `store` is that of the entries, `spills` takes what does
  // not fit; both must outlive it.
  PartChunks(const ShardingSpec& spec, const Store& store, SpillFolder& spills,
             uint64_t memory);

  // False if the entry cannot be copied as one chunk, or if the entries lie in more
  // objects than memory allows: the part must be made in another way then. Of the codecs,
  // only the caller can say whether they are right.
  Result<bool> Add(const Entry& entry);

  // After the last Add.
  void Finish();

  Result<void> Load(uint64_t minishard, std::vector<StoredChunk>& stored_chunks) override;
  Result<void> Rewind() override;
  std::span<const ChunkInput> inputs() const override { return inputs_; }

 private:
  uint32_t InputOf(const std::shared_ptr<const ObjectVersion>& object);
  Result<void> Spill();

  const ShardingSpec spec_;
  const Store& store_;
  SpillFolder& spills_;
  const size_t max_chunks_;
  const size_t max_inputs_;

  std::vector<StoredChunk> stored_chunks_;
  std::vector<ChunkInput> inputs_;
  // By name and generation, which inputs_ owns: scans may make several of one object.
  std::map<std::pair<std::string_view, std::string_view>, uint32_t> numbers_;
  std::shared_ptr<const ObjectVersion> last_object_;
  uint32_t last_input_ = 0;
  std::vector<std::unique_ptr<ChunkSource>> sorted_;  // spills; from Finish() on, all
};

}  // namespace dolium::neuroglancer
