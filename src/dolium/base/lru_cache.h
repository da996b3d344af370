// LruCache: shared, immutable values by key, bounded in number and in cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace dolium {

// Keeps what was used last: when there are more than `max_count` values, or their costs
// (bytes, as the caller counts them) add up to more than `max_cost`, the least recently
// used goes, one at a time. The value that was put last stays, whatever it costs. Values
// live as long as somebody holds them. Keys that are strings are looked up by view.
//
// All methods may be called from many threads. Values are destroyed outside the lock.
template <typename Key, typename Value,
          typename Hash = std::hash<std::conditional_t<std::is_same_v<Key, std::string>,
                                                       std::string_view, Key>>>
class LruCache {
 public:
  using KeyView =
      std::conditional_t<std::is_same_v<Key, std::string>, std::string_view, Key>;
  using Pointer = std::shared_ptr<const Value>;

  explicit LruCache(size_t max_count, uint64_t max_cost = UINT64_MAX)
      : max_count_(max_count), max_cost_(max_cost) {}

  // nullptr if it is not kept.
  Pointer Get(const KeyView& key) {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->value;
  }

  // Keeps `value`, in place of what has the key.
  void Put(const KeyView& key, Pointer value, uint64_t cost = 0) {
    Order dropped;  // Destroyed after the lock is gone.
    const std::lock_guard lock(mutex_);
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
      Drop(found->second, dropped);
    }
    order_.push_front({Key(key), std::move(value), cost});
    by_key_.emplace(order_.front().key, order_.begin());
    cost_ += cost;
    while (order_.size() > 1 && (order_.size() > max_count_ || cost_ > max_cost_)) {
      Drop(std::prev(order_.end()), dropped);
    }
  }

  void Forget(const KeyView& key) {
    Order dropped;
    const std::lock_guard lock(mutex_);
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
      Drop(found->second, dropped);
    }
  }

  void Clear() {
    Order dropped;
    const std::lock_guard lock(mutex_);
    by_key_.clear();
    dropped.swap(order_);
    cost_ = 0;
  }

  // The sum of the costs of what is kept.
  uint64_t cost() const {
    const std::lock_guard lock(mutex_);
    return cost_;
  }

 private:
  struct Entry {
    Key key;
    Pointer value;
    uint64_t cost;
  };
  using Order = std::list<Entry>;

  // Under the lock.
  void Drop(typename Order::iterator entry, Order& dropped) {
    cost_ -= entry->cost;
    by_key_.erase(entry->key);
    dropped.splice(dropped.begin(), order_, entry);
  }

  const size_t max_count_;
  const uint64_t max_cost_;
  mutable std::mutex mutex_;
  // All guarded by mutex_.
  Order order_;  // most recently used first
  std::unordered_map<KeyView, typename Order::iterator, Hash> by_key_;
  uint64_t cost_ = 0;
};

}  // namespace dolium
