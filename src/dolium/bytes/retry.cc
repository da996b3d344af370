#include "dolium/bytes/retry.h"

#include <algorithm>
#include <random>

namespace dolium {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool IsRetryableStatus(int status) {
  return status == 408 || status == 429 || (status >= 500 && status <= 599);
}

milliseconds RetryDelay(const RetryPolicy& policy, int failures,
                        std::optional<seconds> retry_after, double random) {
  milliseconds delay = std::min(policy.base, policy.cap);
  for (int i = 1; i < failures && delay < policy.cap; ++i) {
    delay = delay > policy.cap / 2 ? policy.cap : delay * 2;
  }
  const auto full = static_cast<double>(delay.count());
  delay = milliseconds(static_cast<milliseconds::rep>(full * (0.5 + 0.5 * random)));
  if (retry_after && *retry_after > seconds(0)) {
    // Compared in seconds: a hostile value does not fit milliseconds.
    const bool beyond = *retry_after > std::chrono::ceil<seconds>(policy.cap);
    const milliseconds asked = beyond ? policy.cap : milliseconds(*retry_after);
    delay = std::max(delay, std::min(asked, policy.cap));
  }
  return delay;
}

milliseconds NextRetryDelay(const RetryPolicy& policy, int failures,
                            std::optional<seconds> retry_after) {
  thread_local std::minstd_rand generator{std::random_device{}()};
  const double random = std::uniform_real_distribution<double>(0, 1)(generator);
  const milliseconds delay = RetryDelay(policy, failures, retry_after, random);
  return policy.adjust_delay ? policy.adjust_delay(delay) : delay;
}

}  // namespace dolium
