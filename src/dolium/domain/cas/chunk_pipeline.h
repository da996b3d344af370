// ChunkPipeline: reads files, cuts them into chunks and hashes those, on many threads and
// in bounded memory, and hands the chunks over in order.
//
// Small files are taken whole, one task each. Large ones and streams are read in
// blocks: marks are found in each block by itself, cuts are made from them in order (the
// cheap part), and the chunks of a block are hashed together. Neither shows in the cuts.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/base/worker_pool.h"
#include "dolium/bytes/unique_fd.h"
#include "dolium/domain/cas/memory_budget.h"
#include "dolium/formats/xet/chunker.h"
#include "dolium/formats/xet/hash.h"

namespace dolium::cas {

// A file to be read.
struct ChunkInput {
  std::string label;  // for messages
  std::string path;   // opened when its turn has come; empty: `fd`
  UniqueFd fd = {};   // a stream
  uint64_t size = 0;  // as far as known; not of streams
  // The state that the file of `path` must have before and after it is read.
  std::optional<struct stat> state = {};
  uint64_t number = 0;              // the caller's
  std::vector<uint64_t> cuts = {};  // forced, ascending
};

// Bytes that chunks lie in.
struct ChunkBlock {
  MemoryBudget::Reservation buffer;
};

struct HashedChunk {
  xet::Hash hash;
  BytesView raw;
};

// Takes what comes out, on the thread that calls Run().
class ChunkConsumer {
 public:
  virtual ~ChunkConsumer() = default;
  // Chunks of the current file, which lie in `block`.
  virtual Result<void> TakeChunks(std::span<const HashedChunk> chunks,
                                  std::shared_ptr<const ChunkBlock> block) = 0;
  // The current file has ended; the next one begins. `failed` is why it could not be read
  // as a whole; then what was taken of it is to be forgotten. kConflict: it changed.
  // Errors do not name the file.
  virtual Result<void> EndFile(const ChunkInput& input,
                               const std::optional<Error>& failed) = 0;
  // Work that became possible meanwhile. Whether there was any.
  virtual Result<bool> Poll() = 0;
};

// One thread calls Run().
class ChunkPipeline {
 public:
  // `pool`, of `threads` threads, and `budget` may be used by others too, and must
  // outlive this.
  ChunkPipeline(WorkerPool& pool, size_t threads, MemoryBudget& budget,
                std::stop_token stop)
      : pool_(pool), threads_(threads), budget_(budget), stop_(std::move(stop)) {}
  ~ChunkPipeline();

  // Gives the next file. kLater: not before some that were given have ended.
  enum class Next : uint8_t { kFile, kLater, kEnd };
  using NextInput = std::function<Result<Next>(ChunkInput& input)>;
  Result<void> Run(const NextInput& next, ChunkConsumer& consumer);

 private:
  struct File;
  struct Segment;

  bool HasRoom() const;
  Result<bool> Fill(const NextInput& next);
  Result<void> AddSegments(const std::shared_ptr<File>& file);
  void SubmitWhole(const std::shared_ptr<Segment>& segment);
  void SubmitScan(const std::shared_ptr<Segment>& segment);
  void SubmitHash(const std::shared_ptr<Segment>& segment);
  void Submit(const std::shared_ptr<Segment>& segment,
              std::function<Result<void>(Segment&)> work);
  void Select(Segment& segment);
  void Fail(const std::shared_ptr<Segment>& segment, Error error);
  Result<bool> Step(ChunkConsumer& consumer);

  WorkerPool& pool_;
  const size_t threads_;
  MemoryBudget& budget_;
  const std::stop_token stop_;
  std::deque<std::shared_ptr<Segment>> segments_;
  uint64_t waiting_bytes_ = 0;  // of segments_
  size_t selected_ = 0;         // segments_ before this have their cuts
  std::shared_ptr<File> open_;  // has blocks that are not begun
  bool has_more_ = true;
  std::shared_ptr<Segment> before_;  // the block whose end is not cut yet
  // Work that was submitted and has not ended; counted by the work itself, maybe late.
  std::shared_ptr<std::atomic<size_t>> running_ =
      std::make_shared<std::atomic<size_t>>(0);
};

}  // namespace dolium::cas
