#include "dolium/bytes/uring_reader.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <vector>

#include <liburing.h>

#include "dolium/bytes/file_reader.h"

namespace dolium {
namespace {

constexpr unsigned kQueueDepth = 64;
constexpr size_t kPooledRings = 8;

class Ring {
 public:
  // nullptr if the kernel gives no ring.
  static std::unique_ptr<Ring> Make() {
    static std::atomic<bool> never = false;
    if (never.load(std::memory_order_relaxed)) return nullptr;
    std::unique_ptr<Ring> ring(new Ring);
    const int result = io_uring_queue_init(kQueueDepth, &ring->ring_, 0);
    if (result == 0) {
      ring->open_ = true;
      return ring;
    }
    if (result == -ENOSYS || result == -EPERM || result == -EACCES) never = true;
    return nullptr;
  }

  ~Ring() {
    if (open_) io_uring_queue_exit(&ring_);
  }

  io_uring* get() { return &ring_; }
  // A ring is shared memory with the kernel: a child of fork must not use its parent's.
  bool usable() const { return process_ == getpid(); }

 private:
  Ring() = default;

  io_uring ring_{};
  bool open_ = false;
  const pid_t process_ = getpid();
};

class RingPool {
 public:
  // Never destroyed: threads may read until the process ends.
  static RingPool& Global() {
    static RingPool* const pool = new RingPool;
    return *pool;
  }

  std::unique_ptr<Ring> Take() {
    {
      const std::lock_guard lock(mutex_);
      while (!rings_.empty()) {
        std::unique_ptr<Ring> ring = std::move(rings_.back());
        rings_.pop_back();
        if (ring->usable()) return ring;
      }
    }
    return Ring::Make();
  }

  void Return(std::unique_ptr<Ring> ring) {
    const std::lock_guard lock(mutex_);
    if (rings_.size() < kPooledRings) rings_.push_back(std::move(ring));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Ring>> rings_;  // guarded by mutex_
};

// One call of ReadWithUring. Reads in flight write to the caller's memory, so Run() never
// returns before the last of them has ended.
class Batch {
 public:
  Batch(io_uring* ring, int fd, std::span<ReadRun> runs)
      : ring_(ring), fd_(fd), runs_(runs) {}

  // False if the ring broke down; then it must not be used again.
  bool Run() {
    while (true) {
      while (failure_ == 0 && in_flight_ < kQueueDepth && Enqueue()) {
      }
      if (in_flight_ == 0) return true;
      const int result = io_uring_submit_and_wait(ring_, 1);
      if (result < 0 && result != -EINTR) {
        Drain();
        return false;
      }
      Reap();
    }
  }

  int failure() const { return failure_; }

 private:
  // Queues one read; false if none is left.
  bool Enqueue() {
    size_t index = 0;
    if (!again_.empty()) {
      index = again_.back();
      again_.pop_back();
    } else {
      while (next_ < runs_.size() && runs_[next_].done()) ++next_;
      if (next_ == runs_.size()) return false;
      index = next_++;
    }
    // There is room: the queue is as deep as in_flight_ may become.
    io_uring_sqe* const entry = io_uring_get_sqe(ring_);
    const ReadRun& run = runs_[index];
    io_uring_prep_readv(entry, fd_, run.buffers, static_cast<unsigned>(run.buffer_count),
                        run.offset);
    io_uring_sqe_set_data64(entry, index);
    ++in_flight_;
    return true;
  }

  void Reap() {
    io_uring_cqe* completion = nullptr;
    while (in_flight_ > 0 && io_uring_peek_cqe(ring_, &completion) == 0) {
      Finish(io_uring_cqe_get_data64(completion), completion->res);
      io_uring_cqe_seen(ring_, completion);
      --in_flight_;
    }
  }

  void Finish(size_t index, int result) {
    if (result > 0) {
      runs_[index].Advance(static_cast<size_t>(result));
      if (!runs_[index].done()) again_.push_back(index);
    } else if (result == 0) {
      failure_ = kFileEndedEarly;
    } else if (result != -EAGAIN && result != -EINTR && result != -EINVAL &&
               result != -EOPNOTSUPP && result != -ECANCELED) {
      failure_ = -result;
    }
  }

  void Drain() {
    in_flight_ -= io_uring_sq_ready(ring_);  // Queued, but never seen by the kernel.
    while (in_flight_ > 0) {
      io_uring_cqe* completion = nullptr;
      if (io_uring_wait_cqe(ring_, &completion) == 0) Reap();
    }
  }

  io_uring* const ring_;
  const int fd_;
  const std::span<ReadRun> runs_;
  size_t next_ = 0;
  std::vector<size_t> again_;  // runs that a short read left unfinished
  unsigned in_flight_ = 0;
  int failure_ = 0;
};

}  // namespace

int ReadWithUring(int fd, std::span<ReadRun> runs) {
  std::unique_ptr<Ring> ring = RingPool::Global().Take();
  if (!ring) return 0;
  Batch batch(ring->get(), fd, runs);
  if (batch.Run()) RingPool::Global().Return(std::move(ring));
  return batch.failure();
}

}  // namespace dolium
