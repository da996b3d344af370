// MemoryBudget: one limit for all buffers of a put, which are used again and again.
//
// Whatever is on its way has its bytes in here: blocks that were read, chunks that wait
// or are compressed, records that wait for the disk. Who reads asks HasRoom() first and
// waits while there is none; what has begun never waits, so that nothing waits for
// itself.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "dolium/base/bytes.h"

namespace dolium::cas {

// Buffers that were given back are kept, since fresh memory costs more than what is done
// with it. May be used from many threads, and must outlive its buffers.
class MemoryBudget {
 public:
  // A limit too small for anything to move is raised.
  explicit MemoryBudget(uint64_t limit) : limit_(std::max(limit, kLeast)) {}

  // The largest buffer that may be taken.
  static constexpr uint64_t kLargest = uint64_t{3} << 20;

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

  // Whether a buffer for something new may be taken. Leaves room for what has begun to
  // end: of all that is read, compressed records, in buffers of up to 3/2 their size.
  bool HasRoom() const;

  // The most bytes that were borrowed at any time.
  uint64_t peak() const;

  // Counts whatever somebody might wait for; also each buffer that is given back.
  void Notify();
  uint64_t state() const;
  // Waits until the state is no longer `seen`.
  void WaitForChange(uint64_t seen);

 private:
  // HasRoom() also while a batch is gathered.
  static constexpr uint64_t kLeast = 2 * kLargest * 5 / 2;

  const uint64_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<size_t, std::vector<std::unique_ptr<std::byte[]>>> idle_;  // by capacity
  uint64_t idle_bytes_ = 0;
  uint64_t lent_bytes_ = 0;
  uint64_t peak_ = 0;  // of them
  uint64_t changes_ = 0;
};

}  // namespace dolium::cas
