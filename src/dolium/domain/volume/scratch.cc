#include "dolium/domain/volume/scratch.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>
#include <vector>

namespace dolium::volume {
namespace {

constexpr size_t kMaxIdleBytes = size_t{64} << 20;
constexpr size_t kMinBlockBytes = size_t{4} << 10;

struct Block {
  std::unique_ptr<std::byte[]> bytes;
  size_t capacity = 0;
};

class Pool {
 public:
  Block Take(size_t size) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::ranges::find_if(idle_, [&](const Block& block) {
        return block.capacity >= size && block.capacity / 2 <= size;
      });
      if (found != idle_.end()) {
        Block block = std::move(*found);
        idle_.erase(found);
        idle_bytes_ -= block.capacity;
        return block;
      }
    }
    return {std::unique_ptr<std::byte[]>(new std::byte[size]), size};
  }

  void Give(Block block) {
    const std::lock_guard lock(mutex_);
    if (idle_bytes_ + block.capacity > kMaxIdleBytes) return;
    idle_bytes_ += block.capacity;
    idle_.push_back(std::move(block));
  }

 private:
  std::mutex mutex_;
  std::vector<Block> idle_;
  size_t idle_bytes_ = 0;
};

// Never destroyed: threads may outlive static objects.
Pool& ThePool() {
  static Pool& pool = *new Pool;
  return pool;
}

}  // namespace

Scratch::Scratch(size_t size) : size_(size) {
  Block block = ThePool().Take(std::max(kMinBlockBytes, std::bit_ceil(size)));
  block_ = std::move(block.bytes);
  capacity_ = block.capacity;
}

Scratch::~Scratch() { ThePool().Give({std::move(block_), capacity_}); }

}  // namespace dolium::volume
