#include "dolium/ops/stats.h"

#include <stop_token>

#include <gtest/gtest.h>

#include "dolium/ops/testing/fake_container.h"

namespace dolium {
namespace {

TEST(Stats, CountsAndMeasures) {
  FakeContainer container;
  container.AddObject("one", 100);
  container.AddObject("two", 5);
  container.entry("two", 1).preceding = 8;
  container.damaged = "two";
  StatsOptions options;
  options.jobs = 4;
  const StatsReport report = Must(Stats(container, options));
  const uint64_t bytes = Must(container.store().Stat("one"))->size +
                         Must(container.store().Stat("two"))->size;
  EXPECT_EQ(report.objects, 2U);
  EXPECT_EQ(report.object_bytes, bytes);
  EXPECT_EQ(report.stored_size.count, 105U);
  EXPECT_EQ(report.stored_size.sum, bytes);
  EXPECT_EQ(report.preceding_bytes, 8U);
  EXPECT_EQ(report.entries_per_object.min, 5U);
  EXPECT_EQ(report.entries_per_object.max, 100U);
  EXPECT_EQ(report.damaged, 1U);
  EXPECT_EQ(report.overhead_bytes(), 0U);
}

TEST(Stats, CountsAnUnreadableObjectAsDamage) {
  FakeContainer container;
  container.AddObject("one", 100);
  container.AddObject("two", 5);
  container.unreadable = "one";
  const StatsReport report = Must(Stats(container, {}));
  EXPECT_EQ(report.damaged, 1U);
  EXPECT_EQ(report.stored_size.count, 5U);
  EXPECT_EQ(report.overhead_bytes(), Must(container.store().Stat("one"))->size);
}

TEST(Stats, StopsOnRequest) {
  FakeContainer container;
  container.AddObject("one", 100);
  std::stop_source stop;
  stop.request_stop();
  StatsOptions options;
  options.stop = stop.get_token();
  const auto stats = Stats(container, options);
  ASSERT_FALSE(stats);
  EXPECT_EQ(stats.error().code, ErrorCode::kCancelled);
}

TEST(Distribution, BoundsQuantilesByPowersOfTwo) {
  Distribution distribution;
  EXPECT_EQ(distribution.Quantile(0.5), 0U);
  EXPECT_EQ(distribution.mean(), 0.0);
  for (const uint64_t value : {0, 1, 2, 3, 100}) distribution.Add(value);
  EXPECT_EQ(distribution.count, 5U);
  EXPECT_EQ(distribution.min, 0U);
  EXPECT_EQ(distribution.max, 100U);
  EXPECT_DOUBLE_EQ(distribution.mean(), 21.2);
  EXPECT_EQ(distribution.histogram[2], 2U);
  EXPECT_EQ(distribution.Quantile(0.0), 0U);
  EXPECT_EQ(distribution.Quantile(0.4), 1U);
  EXPECT_EQ(distribution.Quantile(0.5), 3U);
  EXPECT_EQ(distribution.Quantile(1.0), 100U);
}

TEST(Distribution, HoldsTheLargestNumbers) {
  Distribution distribution;
  distribution.Add(~uint64_t{0});
  distribution.Add(~uint64_t{0});
  EXPECT_EQ(distribution.sum, ~uint64_t{0});
  EXPECT_EQ(distribution.histogram[64], 2U);
  EXPECT_EQ(distribution.Quantile(0.9), ~uint64_t{0});
}

}  // namespace
}  // namespace dolium
