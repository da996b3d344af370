#include "dolium/base/worker_pool.h"

#include <algorithm>
#include <utility>

#include "dolium/base/start_thread.h"
#include "dolium/base/stop.h"

namespace dolium {

WorkerPool::WorkerPool(size_t threads) {
  threads = std::min(threads, kMaxThreads);
  threads_.reserve(threads);
  while (threads_.size() < threads) {
    auto thread = StartThread([this] { Run(); });
    if (!thread) break;
    threads_.push_back(*std::move(thread));
  }
  if (threads_.empty()) first_error_ = Unavailable("cannot start a thread");
}

WorkerPool::~WorkerPool() {
  std::deque<Submitted> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
  }
  changed_.notify_all();
  threads_.clear();  // Joins, before the members that the threads use go away.
}

void WorkerPool::Submit(Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (first_error_) return;
    queue_.push_back({std::move(work), CurrentStop()});
  }
  changed_.notify_all();
}

Result<void> WorkerPool::Wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty() && running_ == 0; });
  if (first_error_) return *first_error_;
  return {};
}

Result<void> WorkerPool::status() const {
  const std::lock_guard lock(mutex_);
  if (first_error_) return *first_error_;
  return {};
}

void WorkerPool::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    auto [work, stop] = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    lock.unlock();
    Result<void> result;
    {
      const StopScope scope(std::move(stop));
      result = work();
      work = nullptr;
    }
    std::deque<Submitted> dropped;
    lock.lock();
    --running_;
    if (!result && !first_error_) {
      first_error_ = std::move(result).error();
      dropped.swap(queue_);
    }
    lock.unlock();
    dropped.clear();
    changed_.notify_all();
    lock.lock();
  }
}

}  // namespace dolium
