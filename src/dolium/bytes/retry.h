// Retry: what is worth another try, and how long to wait before it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

namespace dolium {

struct RetryPolicy {
  int attempts = 5;  // in all, the first included
  std::chrono::milliseconds base{100};
  std::chrono::milliseconds cap{5000};

  // Sees each delay before it is waited for, and returns the one to wait. Empty: as it
  // is. May be called from many threads. Tests count and shorten delays with it.
  std::function<std::chrono::milliseconds(std::chrono::milliseconds)> adjust_delay;
};

// True for the HTTP answers that may differ next time: 408, 429 and 5xx.
bool IsRetryableStatus(int status);

// The delay after `failures` failed attempts (at least 1): `base` doubled with every
// failure, up to `cap`, of which a part between half and all is taken as `random` (0 to
// 1) says, so that many readers do not come back at once. What the server asked for in
// `retry_after` is honoured up to `cap`.
std::chrono::milliseconds RetryDelay(const RetryPolicy& policy, int failures,
                                     std::optional<std::chrono::seconds> retry_after,
                                     double random);

// The same with a random number of its own, passed through `adjust_delay`.
std::chrono::milliseconds NextRetryDelay(const RetryPolicy& policy, int failures,
                                         std::optional<std::chrono::seconds> retry_after);

}  // namespace dolium
