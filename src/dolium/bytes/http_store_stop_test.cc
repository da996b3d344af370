#include <chrono>
#include <cstdlib>
#include <future>
#include <stop_token>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/stop.h"
#include "dolium/bytes/testing/http_store_fixture.h"

namespace dolium {
namespace {

using std::chrono::milliseconds;
using testing::StartsWith;

constexpr const char* kStopped = "cancelled: stopped on request, while waiting for URL";

TEST_F(HttpStoreTest, AStopEndsTheWaitForAnAnswer) {
  std::stop_source stop;
  std::promise<void> returned;
  auto is_over = returned.get_future().share();
  server_.OnRequest([&stop, is_over](const ServedRequest&) {
    stop.request_stop();
    is_over.wait();  // No answer before the reader has given up.
  });
  {
    const StopScope scope(stop.get_token());
    EXPECT_EQ(Read(0, 4), kStopped);
    EXPECT_EQ(ReadAll(), kStopped);
  }
  EXPECT_EQ(server_.request_count(), 1u);
  returned.set_value();
  server_.OnRequest({});
  EXPECT_EQ(Read(0, 4), body_.substr(0, 4));
}

TEST_F(HttpStoreTest, AStopEndsTheWaitForTheNextAttempt) {
  std::stop_source stop;
  options_.retry.adjust_delay = [&](milliseconds) {
    stop.request_stop();
    return milliseconds(24 * 3600 * 1000);
  };
  Reopen();
  Fault overload;
  overload.status = 503;
  server_.Break("/seg/a", overload, 1);
  const StopScope scope(stop.get_token());
  EXPECT_EQ(Read(0, 4), kStopped);
}

class HttpOptionsTest : public testing::Test {
 protected:
  void TearDown() override {
    unsetenv("DOLIUM_HTTP_MIN_RATE");
    unsetenv("DOLIUM_HTTP_TIMEOUT");
  }
};

TEST_F(HttpOptionsTest, ComeFromTheEnvironment) {
  auto options = HttpOptionsFromEnvironment();
  ASSERT_TRUE(options);
  EXPECT_EQ(options->transfer.min_rate, 1000u);
  EXPECT_EQ(options->transfer.stall_timeout, std::chrono::seconds(30));
  setenv("DOLIUM_HTTP_MIN_RATE", "50", 1);
  setenv("DOLIUM_HTTP_TIMEOUT", "7", 1);
  options = HttpOptionsFromEnvironment();
  ASSERT_TRUE(options);
  EXPECT_EQ(options->transfer.min_rate, 50u);
  EXPECT_EQ(options->transfer.stall_timeout, std::chrono::seconds(7));
}

TEST_F(HttpOptionsTest, RefuseWhatIsNoNumber) {
  for (const char* text : {"0", "-1", "1kB", "99999999999999999999"}) {
    setenv("DOLIUM_HTTP_MIN_RATE", text, 1);
    const auto options = HttpOptionsFromEnvironment();
    ASSERT_FALSE(options) << text;
    EXPECT_EQ(options.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(options.error().message, StartsWith("DOLIUM_HTTP_MIN_RATE: "));
  }
}

}  // namespace
}  // namespace dolium
