// Once<T>: a value that is loaded when it is first asked for.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "dolium/base/result.h"

namespace dolium {

// Without a lock: a process may be forked while a thread waits for what it loads. If
// several threads load it, the value of the first counts. An error is not kept. Safe to
// use from many threads.
template <typename T>
class Once {
 public:
  Once() = default;
  ~Once() { delete value_.load(); }
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  template <typename Load>
  Result<const T*> Get(const Load& load) const {
    if (const T* there = value_.load(std::memory_order_acquire)) return there;
    auto loaded = load();
    if (!loaded) return std::move(loaded).error();
    auto made = std::make_unique<const T>(*std::move(loaded));
    const T* there = nullptr;
    if (!value_.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) {
      return there;
    }
    return made.release();
  }

 private:
  mutable std::atomic<const T*> value_ = nullptr;
};

}  // namespace dolium
