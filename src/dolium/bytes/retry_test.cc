#include "dolium/bytes/retry.h"

#include <gtest/gtest.h>

namespace dolium {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(IsRetryableStatus, HoldsForOverloadAndServerErrorsOnly) {
  for (const int status : {408, 429, 500, 502, 503, 504, 599}) {
    EXPECT_TRUE(IsRetryableStatus(status)) << status;
  }
  for (const int status :
       {0, 200, 206, 301, 400, 401, 403, 404, 409, 410, 416, 499, 600}) {
    EXPECT_FALSE(IsRetryableStatus(status)) << status;
  }
}

TEST(RetryDelay, DoublesWithEveryFailureUpToTheCap) {
  const RetryPolicy policy;
  EXPECT_EQ(RetryDelay(policy, 1, std::nullopt, 1), milliseconds(100));
  EXPECT_EQ(RetryDelay(policy, 2, std::nullopt, 1), milliseconds(200));
  EXPECT_EQ(RetryDelay(policy, 3, std::nullopt, 1), milliseconds(400));
  EXPECT_EQ(RetryDelay(policy, 6, std::nullopt, 1), milliseconds(3200));
  EXPECT_EQ(RetryDelay(policy, 7, std::nullopt, 1), milliseconds(5000));
  EXPECT_EQ(RetryDelay(policy, 1'000'000, std::nullopt, 1), milliseconds(5000));
}

TEST(RetryDelay, TakesBetweenHalfAndAll) {
  const RetryPolicy policy;
  EXPECT_EQ(RetryDelay(policy, 3, std::nullopt, 0), milliseconds(200));
  EXPECT_EQ(RetryDelay(policy, 3, std::nullopt, 0.5), milliseconds(300));
}

TEST(RetryDelay, HonoursRetryAfterUpToTheCap) {
  const RetryPolicy policy;
  EXPECT_EQ(RetryDelay(policy, 1, seconds(2), 1), milliseconds(2000));
  EXPECT_EQ(RetryDelay(policy, 1, seconds(0), 1), milliseconds(100));
  EXPECT_EQ(RetryDelay(policy, 7, seconds(2), 1), milliseconds(5000));
  EXPECT_EQ(RetryDelay(policy, 1, seconds(3600), 0), milliseconds(5000));
  EXPECT_EQ(RetryDelay(policy, 1, seconds::max(), 0), milliseconds(5000));
}

TEST(NextRetryDelay, PassesThroughTheHook) {
  RetryPolicy policy;
  milliseconds seen{0};
  policy.adjust_delay = [&](milliseconds delay) {
    seen = delay;
    return milliseconds(7);
  };
  EXPECT_EQ(NextRetryDelay(policy, 2, std::nullopt), milliseconds(7));
  EXPECT_GE(seen, milliseconds(100));
  EXPECT_LE(seen, milliseconds(200));
}

}  // namespace
}  // namespace dolium
