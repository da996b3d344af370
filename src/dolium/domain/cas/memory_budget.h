// MemoryBudget: buffers within a limit, used again and again.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "dolium/base/bytes.h"

namespace dolium::cas {

// Buffers that were given back are kept, since fresh memory costs more than what is done
// with it. May be used from many threads, and must outlive its buffers.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t limit) : limit_(limit) {}

  // Bytes of memory, with one owner.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)),
          data_(std::move(other.data_)),
          capacity_(other.capacity_) {}
    Reservation& operator=(Reservation&& other) noexcept {
      if (this != &other) {
        Give();
        budget_ = std::exchange(other.budget_, nullptr);
        data_ = std::move(other.data_);
        capacity_ = other.capacity_;
      }
      return *this;
    }
    ~Reservation() { Give(); }

    std::byte* data() const { return data_.get(); }
    size_t capacity() const { return capacity_; }

   private:
    friend class MemoryBudget;
    Reservation(MemoryBudget* budget, std::unique_ptr<std::byte[]> data, size_t capacity)
        : budget_(budget), data_(std::move(data)), capacity_(capacity) {}
    void Give();

    MemoryBudget* budget_ = nullptr;
    std::unique_ptr<std::byte[]> data_;
    size_t capacity_ = 0;
  };

  // At least `size` bytes, which hold anything. Never waits: the limit is for those who
  // ask HasRoom() before they begin something new.
  Reservation Take(size_t size);

  // Whether something new may begin. Leaves room for what has begun to end.
  bool HasRoom() const;

  // Counts whatever somebody might wait for; also each buffer that is given back.
  void Notify();
  uint64_t state() const;
  // Waits until the state is no longer `seen`.
  void WaitForChange(uint64_t seen);

 private:
  const uint64_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<size_t, std::vector<std::unique_ptr<std::byte[]>>> idle_;  // by capacity
  uint64_t idle_bytes_ = 0;
  uint64_t lent_bytes_ = 0;
  uint64_t changes_ = 0;
};

}  // namespace dolium::cas
