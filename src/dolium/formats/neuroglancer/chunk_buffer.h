// Chunks of one shard, held in memory until they are laid out or spilled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "dolium/base/bytes.h"

namespace dolium::neuroglancer {

// Large blocks of memory that are used again, so that the kernel need not clear new pages
// for each. Safe for many threads. Must outlive the buffers that take from it.
class BlockPool {
 public:
  static constexpr size_t kBlockBytes = size_t{1} << 20;

  std::unique_ptr<std::byte[]> Take();
  void Give(std::unique_ptr<std::byte[]> block);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::byte[]>> free_;
};

// A chunk as given: preceding bytes, then the value, in one run.
struct BufferedChunk {
  uint64_t id = 0;
  const std::byte* data = nullptr;
  uint64_t preceding = 0;
  uint64_t length = 0;
  bool encoded = false;

  BytesView preceding_view() const { return {data, preceding}; }
  BytesView value() const { return {data + preceding, length}; }
};

// Copies chunks into blocks that grow with the buffer. One thread at a time.
class ChunkBuffer {
 public:
  explicit ChunkBuffer(BlockPool& pool) : pool_(pool) {}
  ~ChunkBuffer();
  ChunkBuffer(const ChunkBuffer&) = delete;
  ChunkBuffer& operator=(const ChunkBuffer&) = delete;

  void Add(uint64_t id, BytesView value, BytesView preceding, bool encoded);

  const std::vector<BufferedChunk>& chunks() const { return chunks_; }
  // Bytes of memory taken, payload and bookkeeping.
  uint64_t memory() const { return memory_; }
  bool has_preceding() const { return has_preceding_; }

 private:
  std::byte* Allocate(size_t size);

  BlockPool& pool_;
  std::vector<BufferedChunk> chunks_;
  std::vector<std::pair<std::unique_ptr<std::byte[]>, size_t>> blocks_;
  size_t used_ = 0;  // of the last block
  uint64_t memory_ = 0;
  bool has_preceding_ = false;
};

}  // namespace dolium::neuroglancer
