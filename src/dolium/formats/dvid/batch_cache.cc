#include "dolium/formats/dvid/batch_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace dolium::dvid {
namespace {

// However small they are: more than threads read at a time.
constexpr size_t kMaxBatches = 128;

}  // namespace

uint64_t BatchCache::NewOwner() {
  const std::lock_guard lock(mutex_);
  return owners_++;
}

std::list<BatchCache::Kept>::iterator BatchCache::Lookup(uint64_t owner, uint64_t at) {
  return std::ranges::find_if(
      kept_, [&](const Kept& kept) { return kept.owner == owner && kept.at == at; });
}

std::shared_ptr<const Batch> BatchCache::Find(uint64_t owner, uint64_t at) {
  const std::lock_guard lock(mutex_);
  const auto found = Lookup(owner, at);
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return found->batch;
}

void BatchCache::Keep(uint64_t owner, uint64_t at, std::shared_ptr<const Batch> batch) {
  std::vector<std::shared_ptr<const Batch>> dropped;  // Freed after the lock is gone.
  const std::lock_guard lock(mutex_);
  if (Lookup(owner, at) != kept_.end()) return;  // Somebody was faster.
  bytes_ += batch->held_bytes();
  kept_.push_front({owner, at, std::move(batch)});
  while (kept_.size() > 1 && (bytes_ > limit_ || kept_.size() > kMaxBatches)) {
    bytes_ -= kept_.back().batch->held_bytes();
    dropped.push_back(std::move(kept_.back().batch));
    kept_.pop_back();
  }
}

uint64_t BatchCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace dolium::dvid
