// PutSession: takes chunks, stores those that the store lacks, and notes what files are
// made of.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/base/worker_pool.h"
#include "dolium/domain/cas/catalog.h"
#include "dolium/domain/cas/chunk_pipeline.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/lease.h"
#include "dolium/domain/cas/version.h"
#include "dolium/domain/cas/xorb_cache.h"
#include "dolium/domain/cas/xorb_file.h"
#include "dolium/formats/xet/compression.h"
#include "dolium/formats/xet/merkle.h"
#include "dolium/formats/xet/xorb_writer.h"

namespace dolium::cas {

// The name of a file that ended, and its size.
struct StoredName {
  xet::Hash hash;
  uint64_t size = 0;
};

// Chunks are looked for among those of this session, then in the catalog. New ones are
// compressed on the pool and appended to a xorb in tmp/, which gets its name when it is
// full. Where xorbs end depends on the chunks alone, so equal puts into equal stores make
// equal xorbs. Every few xorbs a shard is written, so that a put that is killed and done
// again does not store them again.
//
// One thread at a time. After an error, only destruction is left; nothing that was stored
// is taken back, and nothing of it is a part of any version.
class PutSession : public ChunkConsumer {
 public:
  PutSession(std::shared_ptr<Catalog> catalog, std::shared_ptr<XorbCache> xorbs,
             Lease& lease, WorkerPool& pool, MemoryBudget& budget);
  ~PutSession() override;

  Result<void> TakeChunks(std::span<const HashedChunk> chunks,
                          std::shared_ptr<const ChunkBlock> block) override;
  Result<void> EndFile(const ChunkInput& input,
                       const std::optional<Error>& failed) override;
  Result<bool> Poll() override;

  // Takes a file that was read before, if the store has it yet; else it has to be read.
  // `is_covered`: whether the lease keeps it already, by the folder that it is of.
  Result<bool> TakeKnown(const StoredName& name, bool is_covered);

  // Called with each file that ended, in order: its name, or why it could not be read.
  using FileEnded =
      std::function<Result<void>(const ChunkInput&, const Result<StoredName>&)>;
  void set_file_ended(FileEnded ended) { file_ended_ = std::move(ended); }

  // Called now and then, when the totals have changed.
  void set_advanced(std::function<void()> advanced) { advanced_ = std::move(advanced); }

  // Makes all xorbs and shards durable: files are in the store when it returns.
  Result<void> Finish();

  const PutTotals& totals() const { return totals_; }

 private:
  // Of a file: a run of chunks of a xorb of this session, or of one that was there.
  struct OpenTerm {
    OpenTerm() : chunks(xet::kVerificationKey) {}

    std::optional<size_t> own;  // number in xorbs_
    xet::Hash other;
    uint32_t first = 0;
    uint32_t end = 0;
    uint64_t raw = 0;
    xet::KeyedHasher chunks;
  };
  struct ClosedTerm {
    std::optional<size_t> own;
    xet::Term term;
    xet::Hash verification;
  };
  struct FileRecord {
    xet::Hash hash;
    std::vector<ClosedTerm> terms;
  };
  // A xorb that is being made, or was made by this session.
  struct OwnXorb {
    std::vector<xet::Hash> chunks;
    std::vector<uint32_t> raw_ends;
    std::vector<uint32_t> record_ends;  // as batches come back
    std::optional<xet::Hash> hash;      // once it is closed
    std::shared_ptr<XorbFile> file;     // while it is written, by the thread for that
    uint32_t stored = 0;
    bool is_written = false;  // or will be, before all that is sent to the disk now
  };
  struct ChunkLocation {
    uint32_t xorb = 0;
    uint32_t chunk = 0;
  };
  struct NewChunk {
    BytesView raw;
    bool begins_file = false;
  };
  // Chunks that are compressed together.
  struct Batch {
    size_t xorb = 0;
    std::vector<NewChunk> chunks;
    std::vector<std::shared_ptr<const ChunkBlock>> blocks;
    uint64_t raw = 0;
    uint64_t held = 0;  // bytes of small blocks
    bool closes_xorb = false;
    MemoryBudget::Reservation buffer;  // what follows is in there
    size_t records = 0;                // bytes
    std::vector<uint32_t> sizes;
    std::atomic<bool> is_done{false};
  };

  bool ContinuesTerm(const xet::Hash& hash);
  std::optional<ChunkLocation> FindOwn(const xet::Hash& hash) const;
  Result<bool> FindOther(const xet::Hash& hash);
  void AddNew(const HashedChunk& chunk, const std::shared_ptr<const ChunkBlock>& block);
  void AddToTerm(const std::optional<size_t>& own, const xet::Hash& other, uint32_t chunk,
                 const HashedChunk& hashed);
  void CloseTerm();
  void CloseXorb();
  void FlushBatch();
  Result<void> TakeBatch(Batch& batch);
  Result<void> WriteXorb(Batch& batch);
  Result<bool> PinXorb(const xet::Hash& hash);
  Result<bool> PinXorbsOf(const FoundFile& found);
  Result<std::optional<uint64_t>> ChunksOfKnown(const StoredName& name, bool is_covered);
  bool IsShardFull() const;
  void SubmitSessionShard();
  Result<xet::Hash> WriteShard(BytesView bytes);
  Result<void> Flush();
  Result<void> WriteFinalShard();
  static xet::XorbInfo InfoOf(const OwnXorb& xorb);

  const std::shared_ptr<Catalog> catalog_;
  const std::shared_ptr<XorbCache> cache_;
  Lease& lease_;
  WorkerPool& pool_;
  MemoryBudget& budget_;
  FileEnded file_ended_;
  std::function<void()> advanced_;
  PutTotals totals_;

  // The current file.
  xet::MerkleBuilder tree_;
  std::vector<ClosedTerm> terms_;
  std::optional<OpenTerm> term_;
  std::shared_ptr<const OpenedXorb> term_xorb_;  // if that is one that was there
  bool begins_file_ = true;

  // What this session made and the final shards do not have yet.
  std::vector<FileRecord> files_;
  // Also those it knew; with the numbers of their chunks.
  std::unordered_map<xet::Hash, uint64_t, xet::HashOfHash> file_names_;
  uint64_t records_ = 0;  // of files_ in a shard
  std::vector<OwnXorb> xorbs_;
  std::unordered_map<xet::Hash, ChunkLocation, xet::HashOfHash> own_;
  uint64_t open_raw_ = 0;         // of the last of xorbs_
  bool has_open_ = false;         // whether that takes chunks
  size_t in_session_shards_ = 0;  // of xorbs_
  uint64_t shard_chunks_ = 0;     // new chunks that are in final shards
  std::unordered_map<xet::Hash, bool, xet::HashOfHash> pinned_;

  std::unique_ptr<Batch> batch_;                // being gathered
  std::deque<std::shared_ptr<Batch>> batches_;  // on the pool, in order
  std::mutex shards_mutex_;
  std::vector<xet::Hash> session_shards_;  // to be removed when the final ones are there
  std::shared_ptr<std::atomic<size_t>> running_ =
      std::make_shared<std::atomic<size_t>>(0);
  std::unique_ptr<WorkerPool> disk_;  // one thread; last, so that it ends first
};

}  // namespace dolium::cas
