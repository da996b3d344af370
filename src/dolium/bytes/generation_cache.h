// GenerationCache: a bounded cache of parsed blocks, each bound to its object's
// generation.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "dolium/bytes/store.h"

namespace dolium {

// Maps (object, block) to a shared, immutable value made from one generation of the
// object. A block is whatever the format numbers: a minishard, a footer. A replaced
// object never gives old values: a hit needs the same generation, and values without one
// are not kept.
//
// Holds at most `capacity` in cost (bytes, as the caller counts them); the least recently
// used goes first. All methods may be called from many threads; a hit takes one of
// several locks for a moment, and allocates nothing.
template <typename Value>
class GenerationCache {
 public:
  struct Stats {
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t bytes = 0;  // sum of the costs held
  };

  explicit GenerationCache(uint64_t capacity) : capacity_(capacity) {}

  // nullptr if there is none of that generation. One of another generation is dropped.
  std::shared_ptr<const Value> Get(std::string_view object, uint64_t block,
                                   const Generation& generation) {
    const KeyView key{object, block};
    Stripe& stripe = StripeOf(key);
    std::shared_ptr<const Value> stale;  // Destroyed after the lock is gone.
    const std::lock_guard lock(stripe.mutex);
    const auto found = stripe.by_key.find(key);
    if (found == stripe.by_key.end()) {
      ++stripe.misses;
      return nullptr;
    }
    const auto entry = found->second;
    if (entry->generation != generation) {
      ++stripe.misses;
      stale = Erase(stripe, entry);
      return nullptr;
    }
    ++stripe.hits;
    entry->last_use = clock_.fetch_add(1, std::memory_order_relaxed);
    stripe.order.splice(stripe.order.begin(), stripe.order, entry);
    return entry->value;
  }

  // The value of whatever generation it was made from; nullptr if there is none. For
  // readers that then read the object at just that generation, and Forget() the block if
  // it is gone.
  std::shared_ptr<const Value> GetAny(std::string_view object, uint64_t block) {
    const KeyView key{object, block};
    Stripe& stripe = StripeOf(key);
    const std::lock_guard lock(stripe.mutex);
    const auto found = stripe.by_key.find(key);
    if (found == stripe.by_key.end()) {
      ++stripe.misses;
      return nullptr;
    }
    ++stripe.hits;
    found->second->last_use = clock_.fetch_add(1, std::memory_order_relaxed);
    stripe.order.splice(stripe.order.begin(), stripe.order, found->second);
    return found->second->value;
  }

  // Drops one block, if it is there.
  void Forget(std::string_view object, uint64_t block) {
    const KeyView key{object, block};
    Stripe& stripe = StripeOf(key);
    std::shared_ptr<const Value> old;
    const std::lock_guard lock(stripe.mutex);
    if (const auto found = stripe.by_key.find(key); found != stripe.by_key.end()) {
      old = Erase(stripe, found->second);
    }
  }

  // Keeps `value`, in place of one under the same key. One that costs more than the whole
  // capacity is not kept.
  void Put(std::string_view object, uint64_t block, const Generation& generation,
           std::shared_ptr<const Value> value, uint64_t cost) {
    const KeyView key{object, block};
    Stripe& stripe = StripeOf(key);
    {
      std::shared_ptr<const Value> old;
      const std::lock_guard lock(stripe.mutex);
      if (const auto found = stripe.by_key.find(key); found != stripe.by_key.end()) {
        old = Erase(stripe, found->second);
      }
      if (cost > capacity_ || generation.token.empty()) return;
      stripe.order.push_front({std::string(object), block, generation, std::move(value),
                               cost, clock_.fetch_add(1, std::memory_order_relaxed)});
      Entry& entry = stripe.order.front();
      stripe.by_key.emplace(KeyView{entry.object, block}, stripe.order.begin());
      bytes_ += cost;
    }
    while (bytes_ > capacity_ && EvictOldest()) {
    }
  }

  void Clear() {
    for (Stripe& stripe : stripes_) {
      std::list<Entry> old;
      const std::lock_guard lock(stripe.mutex);
      for (const Entry& entry : stripe.order) bytes_ -= entry.cost;
      stripe.by_key.clear();
      old.swap(stripe.order);
    }
  }

  Stats stats() const {
    Stats sum;
    for (const Stripe& stripe : stripes_) {
      const std::lock_guard lock(stripe.mutex);
      sum.hits += stripe.hits;
      sum.misses += stripe.misses;
    }
    sum.bytes = bytes_;
    return sum;
  }

 private:
  struct Entry {
    std::string object;
    uint64_t block;
    Generation generation;
    std::shared_ptr<const Value> value;
    uint64_t cost;
    uint64_t last_use;
  };

  // Points into an Entry, or at the caller's name during a lookup.
  struct KeyView {
    std::string_view object;
    uint64_t block;
    friend bool operator==(const KeyView&, const KeyView&) = default;
  };
  struct HashKey {
    size_t operator()(const KeyView& key) const {
      // An odd multiplier spreads consecutive blocks over all bits.
      return std::hash<std::string_view>()(key.object) ^
             static_cast<size_t>((key.block + 1) * 0x9e3779b97f4a7c15U);
    }
  };

  using Order = std::list<Entry>;
  struct alignas(64) Stripe {
    mutable std::mutex mutex;
    // All guarded by mutex.
    Order order;  // most recently used first
    std::unordered_map<KeyView, typename Order::iterator, HashKey> by_key;
    uint64_t hits = 0;
    uint64_t misses = 0;
  };

  Stripe& StripeOf(const KeyView& key) { return stripes_[HashKey()(key) >> 60]; }

  // Under the stripe's lock. Returns the value, for the caller to let go of without it.
  std::shared_ptr<const Value> Erase(Stripe& stripe, typename Order::iterator entry) {
    std::shared_ptr<const Value> value = std::move(entry->value);
    bytes_ -= entry->cost;
    stripe.by_key.erase(KeyView{entry->object, entry->block});
    stripe.order.erase(entry);
    return value;
  }

  // Drops the least recently used entry of all stripes, or one about as old if others are
  // at work too. False if there was none.
  bool EvictOldest() {
    Stripe* oldest = nullptr;
    uint64_t oldest_use = 0;
    for (Stripe& stripe : stripes_) {
      const std::lock_guard lock(stripe.mutex);
      if (stripe.order.empty()) continue;
      if (oldest == nullptr || stripe.order.back().last_use < oldest_use) {
        oldest = &stripe;
        oldest_use = stripe.order.back().last_use;
      }
    }
    if (oldest == nullptr) return false;
    std::shared_ptr<const Value> old;
    const std::lock_guard lock(oldest->mutex);
    if (!oldest->order.empty()) old = Erase(*oldest, std::prev(oldest->order.end()));
    return true;
  }

  static_assert(sizeof(size_t) == 8, "stripes are chosen by the top 4 bits of a hash");

  const uint64_t capacity_;
  std::array<Stripe, 16> stripes_;
  std::atomic<uint64_t> clock_ = 0;
  std::atomic<uint64_t> bytes_ = 0;
};

}  // namespace dolium
