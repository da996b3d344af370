// BatchCache: the record batches of several rows that were read last.
//
// Rows of a batch are mostly read one after another, and a batch whose buffers are
// compressed is decompressed as a whole. The shards of one scale share a cache, so that
// what they keep does not grow with their number. All methods may be called from many
// threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "dolium/base/lru_cache.h"
#include "dolium/formats/dvid/ipc.h"

namespace dolium::dvid {

class BatchCache {
 public:
  // Keeps so many bytes, or the one last read if that alone takes more.
  static constexpr uint64_t kDefaultBytes = uint64_t{256} << 20;
  explicit BatchCache(uint64_t bytes = kDefaultBytes) : kept_(kMaxBatches, bytes) {}

  // A number for a shard that has none yet.
  uint64_t NewOwner() { return owners_++; }

  // The batch of shard `owner` that begins at `at`; nullptr if it is not kept.
  std::shared_ptr<const Batch> Find(uint64_t owner, uint64_t at) {
    return kept_.Get({owner, at});
  }
  void Keep(uint64_t owner, uint64_t at, std::shared_ptr<const Batch> batch) {
    const uint64_t bytes = batch->held_bytes();
    kept_.Put({owner, at}, std::move(batch), bytes);
  }

  // What is kept.
  uint64_t bytes() const { return kept_.cost(); }

 private:
  struct Key {
    uint64_t owner = 0;
    uint64_t at = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct HashKey {
    size_t operator()(const Key& key) const {
      // An odd multiplier spreads consecutive numbers over all bits.
      return static_cast<size_t>((key.owner + 1) * 0x9e3779b97f4a7c15U ^ key.at);
    }
  };
  // However small they are: more than threads read at a time.
  static constexpr size_t kMaxBatches = 128;

  LruCache<Key, Batch, HashKey> kept_;
  std::atomic<uint64_t> owners_ = 0;
};

}  // namespace dolium::dvid
