#include "cli/terminal/progress.h"

#include <gtest/gtest.h>

namespace dolium::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RenderProgress, ShowsBarRateAndTimeLeft) {
  const Progress progress{
      .entries = 50'000, .total_entries = 200'000, .bytes = 400'000'000};
  EXPECT_EQ(RenderProgress("verify", progress, seconds(2), 200),
            "verify [=====>              ]  25%  50,000 of 200,000 entries  400.0 MB  "
            "200.0 MB/s  0:06 left");
}

TEST(RenderProgress, ShowsBytesWhereOnlyTheirTotalIsKnown) {
  const Progress progress{.bytes = 300'000'000, .total_bytes = 1'200'000'000};
  EXPECT_EQ(RenderProgress("put", progress, seconds(2), 200),
            "put [=====>              ]  25%  300.0 MB of 1.2 GB  150.0 MB/s  0:06 left");
}

TEST(RenderProgress, ShowsNoBarWithoutATotal) {
  const Progress progress{.entries = 104'000, .total_entries = 0, .bytes = 3'000'000};
  EXPECT_EQ(RenderProgress("verify", progress, seconds(3), 200),
            "verify 104,000 entries  3.0 MB  1.0 MB/s");
}

TEST(RenderProgress, ShowsAFullBarAtTheEndAndBeyond) {
  const Progress done{.entries = 9, .total_entries = 9, .bytes = 0};
  EXPECT_EQ(RenderProgress("stats", done, seconds(1), 200),
            "stats [====================] 100%  9 of 9 entries  0:00 left");
  const Progress beyond{.entries = 11, .total_entries = 9, .bytes = 0};
  EXPECT_EQ(RenderProgress("stats", beyond, seconds(1), 200),
            "stats [====================] 100%  11 of 9 entries  0:00 left");
}

TEST(RenderProgress, MakesNoGuessBeforeTheFirstEntry) {
  const Progress none{.entries = 0, .total_entries = 9, .bytes = 0};
  EXPECT_EQ(RenderProgress("stats", none, seconds(1), 200),
            "stats [>                   ]   0%  0 of 9 entries");
}

TEST(RenderProgress, NeverExceedsTheWidth) {
  const Progress progress{
      .entries = 50'000, .total_entries = 200'000, .bytes = 400'000'000};
  EXPECT_EQ(RenderProgress("verify", progress, seconds(2), 80),
            "verify [=====>              ]  25%  50,000 of 200,000 entries  400.0 MB");
  EXPECT_EQ(RenderProgress("verify", progress, seconds(2), 40),
            "verify 50,000 of 200,000 entries");
  EXPECT_EQ(RenderProgress("verify", progress, seconds(2), 3), "ver");
  for (size_t width = 0; width < 120; ++width) {
    EXPECT_LE(RenderProgress("verify", progress, seconds(2), width).size(), width);
  }
}

TEST(ProgressMeter, PrintsAtMostOncePerInterval) {
  const ProgressMeter::Clock::time_point start{};
  ProgressMeter meter("ls", milliseconds(100), start);
  const Progress progress{.entries = 1, .total_entries = 0, .bytes = 0};
  EXPECT_FALSE(meter.Update(progress, start + milliseconds(99), 80));
  EXPECT_TRUE(meter.Update(progress, start + milliseconds(100), 80));
  EXPECT_FALSE(meter.Update(progress, start + milliseconds(199), 80));
  EXPECT_EQ(meter.Update(progress, start + milliseconds(200), 80), "ls 1 entries");
}

}  // namespace
}  // namespace dolium::cli
