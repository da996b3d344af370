#include "dolium/domain/cas/memory_budget.h"

#include <bit>

namespace dolium::cas {
namespace {

constexpr size_t kSmallest = 4096;

// Few capacities, so that buffers fit again: powers of two, and halves between.
size_t CapacityFor(size_t size) {
  const size_t power = std::bit_ceil(std::max(size, kSmallest));
  const size_t less = power / 4 * 3;
  return size <= less ? less : power;
}

}  // namespace

MemoryBudget::Reservation MemoryBudget::Take(size_t size) {
  const size_t capacity = CapacityFor(size);
  std::unique_ptr<std::byte[]> data;
  std::vector<std::unique_ptr<std::byte[]>> dropped;
  {
    const std::lock_guard hold(mutex_);
    lent_bytes_ += capacity;
    peak_ = std::max(peak_, lent_bytes_);
    auto& fitting = idle_[capacity];
    if (!fitting.empty()) {
      data = std::move(fitting.back());
      fitting.pop_back();
      idle_bytes_ -= capacity;
    }
    for (auto& [other, buffers] : idle_) {
      while (!buffers.empty() && lent_bytes_ + idle_bytes_ > limit_) {
        dropped.push_back(std::move(buffers.back()));
        buffers.pop_back();
        idle_bytes_ -= other;
      }
    }
  }
  if (!data) data.reset(new std::byte[capacity]);
  return Reservation(this, std::move(data), capacity);
}

void MemoryBudget::Reservation::Give() {
  if (budget_ == nullptr) return;
  MemoryBudget& budget = *std::exchange(budget_, nullptr);
  const std::lock_guard hold(budget.mutex_);
  budget.lent_bytes_ -= capacity_;
  if (budget.lent_bytes_ + budget.idle_bytes_ + capacity_ <= budget.limit_) {
    budget.idle_[capacity_].push_back(std::move(data_));
    budget.idle_bytes_ += capacity_;
  }
  data_.reset();
  ++budget.changes_;
  budget.changed_.notify_all();
}

bool MemoryBudget::HasRoom() const {
  const std::lock_guard hold(mutex_);
  return lent_bytes_ + kLargest <= limit_ / 5 * 2;
}
uint64_t MemoryBudget::peak() const {
  const std::lock_guard hold(mutex_);
  return peak_;
}
void MemoryBudget::Notify() {
  const std::lock_guard hold(mutex_);
  ++changes_;
  changed_.notify_all();
}
uint64_t MemoryBudget::state() const {
  const std::lock_guard hold(mutex_);
  return changes_;
}
void MemoryBudget::WaitForChange(uint64_t seen) {
  std::unique_lock hold(mutex_);
  changed_.wait(hold, [&] { return changes_ != seen; });
}

}  // namespace dolium::cas
