// Index: which shard knows a chunk or a file. A cache, made from the shards alone.
//
// Rows are found by the first eight bytes of a hash and say where in a shard to look. The
// caller compares what is there with what it wants, so a row that is stale or wrong costs
// a miss and nothing else. Shards have numbers, which are never given twice.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/formats/xet/hash.h"
#include "dolium/formats/xet/mdb_reader.h"

struct MDB_env;
struct MDB_txn;

namespace dolium::cas {

// Where the records of a thing begin in a shard, as BlockAt() takes it.
struct ChunkRow {
  uint32_t shard = 0;
  uint32_t xorb = 0;
  uint32_t chunk = 0;  // within the xorb
};
struct FileRow {
  uint32_t shard = 0;
  uint32_t file = 0;
};

// The kind of error that says: the index is damaged, and must be rebuilt.
constexpr std::string_view kDamagedIndex = "damaged_index";

// An LMDB environment. Any number of threads and processes; writers take turns.
class Index {
 public:
  // Opens the folder, or makes it. Processes that open it twice get the same object.
  // Damage that is seen is of the kind kDamagedIndex, here and in all that follows.
  static Result<std::shared_ptr<Index>> Open(const std::string& folder);
  ~Index();
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  // Shards that are in it, with their numbers.
  Result<std::map<xet::Hash, uint32_t>> Shards() const;

  // Adds all rows of a shard, durably, in one step. Rows for what is known already are
  // replaced. Nothing happens if the shard is there.
  Result<void> Add(const xet::Hash& name, const xet::ShardView& shard);

  // Removes a shard, and the rows that point into it. `shard` may be absent: then rows
  // stay, and are misses.
  Result<void> Remove(const xet::Hash& name, const xet::ShardView* shard);

  // A state of the index to look things up in. Keep it for a moment: old states take
  // space. One thread at a time; not longer than the Index.
  class View {
   public:
    ~View();
    View(View&& other) noexcept;
    View& operator=(View&&) = delete;

    std::optional<ChunkRow> FindChunk(const xet::Hash& hash) const;
    std::optional<FileRow> FindFile(const xet::Hash& hash) const;
    std::optional<xet::Hash> ShardName(uint32_t number) const;

   private:
    friend class Index;
    View(const Index* index, MDB_txn* transaction)
        : index_(index), transaction_(transaction) {}
    const Index* index_;
    MDB_txn* transaction_;
  };
  Result<View> Snapshot() const;

  // Bytes on disk.
  uint64_t size() const;

 private:
  Index() = default;
  Result<void> OpenTables();
  Result<void> CheckSize() const;
  Result<void> Change(const std::function<int(MDB_txn*)>& change);
  Error Failure(int status, const char* action) const;

  std::string folder_;
  MDB_env* environment_ = nullptr;
  unsigned shards_ = 0;   // number -> name
  unsigned numbers_ = 0;  // name -> number; the zero hash: the next number
  unsigned chunks_ = 0;
  unsigned files_ = 0;
};

}  // namespace dolium::cas
