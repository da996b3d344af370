// Queues for searches that take the nearest voxel first.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dolium::skeleton {

// Where each step adds at least `width`: voxels are in buckets of that width, and those
// of one bucket cannot change each other's distance. Constant time for each.
class BucketQueue {
 public:
  explicit BucketQueue(float width = 1) : width_(width) {}

  // `key` is not less than those of the bucket that Drain() is at.
  void Push(float key, uint32_t voxel) {
    const auto bucket = static_cast<size_t>(key / width_);
    if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
    last_ = std::max(last_, bucket + 1);
    buckets_[bucket].push_back(voxel);
  }

  // Calls visit(voxel) for all, also those pushed meanwhile, bucket by
  // bucket. A voxel comes as often as it was pushed.
  template <typename Visit>
  void Drain(const Visit& visit) {
    for (size_t bucket = 0; bucket < last_; ++bucket) {
      // It grows while it is visited, and the list of buckets with it.
      for (size_t i = 0; i < buckets_[bucket].size(); ++i) visit(buckets_[bucket][i]);
      buckets_[bucket].clear();
    }
    last_ = 0;
  }

 private:
  float width_;
  size_t last_ = 0;  // buckets that may have voxels
  std::vector<std::vector<uint32_t>> buckets_;
};

// For keys of any size, none less than the one that was taken last. Those that share the
// higher bits with that one are in buckets by the highest bit that differs.
class RadixQueue {
 public:
  struct Item {
    uint32_t key = 0;
    uint32_t voxel = 0;
  };

  bool empty() const { return size_ == 0; }
  void Clear() {
    for (std::vector<Item>& items : buckets_) items.clear();
    last_ = 0;
    size_ = 0;
  }

  // Precondition: the key is not negative.
  void Push(float key, uint32_t voxel) {
    Place({std::bit_cast<uint32_t>(key), voxel});
    ++size_;
  }

  // The voxel with the least key. Precondition: it is not empty.
  std::pair<float, uint32_t> Pop() {
    if (buckets_[0].empty()) Refill();
    const Item item = buckets_[0].back();
    buckets_[0].pop_back();
    --size_;
    return {std::bit_cast<float>(item.key), item.voxel};
  }

 private:
  void Place(const Item& item) {
    buckets_[static_cast<size_t>(std::bit_width(item.key ^ last_))].push_back(item);
  }
  void Refill() {
    const auto fullest = std::ranges::find_if(
        buckets_, [](const std::vector<Item>& items) { return !items.empty(); });
    last_ = std::ranges::min(*fullest, {}, &Item::key).key;
    moved_.clear();
    moved_.swap(*fullest);
    for (const Item& item : moved_) Place(item);
    // Its memory is used again.
    moved_.clear();
    moved_.swap(*fullest);
  }

  uint32_t last_ = 0;
  size_t size_ = 0;
  std::array<std::vector<Item>, 33> buckets_;
  std::vector<Item> moved_;
};

}  // namespace dolium::skeleton
