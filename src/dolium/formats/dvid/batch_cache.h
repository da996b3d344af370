// BatchCache: the record batches of several rows that were read last.
//
// Rows of a batch are mostly read one after another, and a batch whose buffers are
// compressed is decompressed as a whole. The shards of one scale share a cache, so that
// what they keep does not grow with their number. All methods may be called from many
// threads.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "dolium/formats/dvid/ipc.h"

namespace dolium::dvid {

class BatchCache {
 public:
  // Keeps so many bytes, or the one last read if that alone takes more.
  static constexpr uint64_t kDefaultBytes = uint64_t{256} << 20;
  explicit BatchCache(uint64_t bytes = kDefaultBytes) : limit_(bytes) {}

  // A number for a shard that has none yet.
  uint64_t NewOwner();

  // The batch of shard `owner` that begins at `at`; nullptr if it is not kept.
  std::shared_ptr<const Batch> Find(uint64_t owner, uint64_t at);
  void Keep(uint64_t owner, uint64_t at, std::shared_ptr<const Batch> batch);

  // What is kept.
  uint64_t bytes() const;

 private:
  struct Kept {
    uint64_t owner = 0;
    uint64_t at = 0;
    std::shared_ptr<const Batch> batch;
  };
  std::list<Kept>::iterator Lookup(uint64_t owner, uint64_t at);

  const uint64_t limit_;
  mutable std::mutex mutex_;
  std::list<Kept> kept_;  // the last used first. Guarded, like all below, by mutex_
  uint64_t bytes_ = 0;
  uint64_t owners_ = 0;
};

}  // namespace dolium::dvid
