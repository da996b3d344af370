#include "dolium/formats/neuroglancer/chunk_buffer.h"

#include <algorithm>
#include <cstring>

namespace dolium::neuroglancer {
namespace {

// Sets of many shards have many small buffers.
constexpr size_t kFirstBlockBytes = size_t{4} << 10;

void CopyTo(std::byte* to, BytesView from) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

}  // namespace

std::unique_ptr<std::byte[]> BlockPool::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto block = std::move(free_.back());
      free_.pop_back();
      return block;
    }
  }
  return std::unique_ptr<std::byte[]>(new std::byte[kBlockBytes]);
}

void BlockPool::Give(std::unique_ptr<std::byte[]> block) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(block));
}

ChunkBuffer::~ChunkBuffer() {
  for (auto& [block, size] : blocks_) {
    if (size == BlockPool::kBlockBytes) pool_.Give(std::move(block));
  }
}

void ChunkBuffer::Add(uint64_t id, BytesView value, BytesView preceding, bool encoded) {
  std::byte* to = Allocate(preceding.size() + value.size());
  CopyTo(to, preceding);
  CopyTo(to + preceding.size(), value);
  const size_t before = chunks_.capacity();
  chunks_.push_back({id, to, preceding.size(), value.size(), encoded});
  memory_ += (chunks_.capacity() - before) * sizeof(BufferedChunk);
  has_preceding_ |= !preceding.empty();
}

std::byte* ChunkBuffer::Allocate(size_t size) {
  if (blocks_.empty() || blocks_.back().second - used_ < size) {
    const size_t last = blocks_.empty() ? 0 : blocks_.back().second;
    const size_t block =
        std::max(size, std::clamp(2 * last, kFirstBlockBytes, BlockPool::kBlockBytes));
    blocks_.emplace_back(block == BlockPool::kBlockBytes
                             ? pool_.Take()
                             : std::unique_ptr<std::byte[]>(new std::byte[block]),
                         block);
    used_ = 0;
    memory_ += block;
  }
  std::byte* at = blocks_.back().first.get() + used_;
  used_ += size;
  return at;
}

}  // namespace dolium::neuroglancer
