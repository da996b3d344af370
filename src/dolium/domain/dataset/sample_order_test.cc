#include "dolium/domain/dataset/sample_order.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"

namespace dolium::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<uint64_t> All(const SampleOrder& order) {
  std::vector<uint64_t> samples(order.total());
  order.Fill(0, samples);
  return samples;
}

bool IsBijection(std::vector<uint64_t> samples) {
  std::sort(samples.begin(), samples.end());
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] != i) return false;
  }
  return true;
}

// Runs of 1 to 9 samples that make up `total`.
std::vector<uint64_t> UnevenRuns(uint64_t total) {
  std::vector<uint64_t> starts;
  for (uint64_t at = 0, i = 0; at < total; at += 1 + (i * 7) % 9, ++i)
    starts.push_back(at);
  return starts;
}

SampleOrder Windows(uint64_t total, uint64_t window_runs, uint64_t seed = 1,
                    uint64_t epoch = 0) {
  return Must(SampleOrder::Make({.total = total,
                                 .shuffle = Shuffle::kWindow,
                                 .seed = seed,
                                 .epoch = epoch,
                                 .run_starts = UnevenRuns(total),
                                 .window_runs = window_runs}));
}

std::string OrderError(SampleOrderOptions options) {
  auto order = SampleOrder::Make(std::move(options));
  if (order) return "no error";
  EXPECT_EQ(order.error().code, ErrorCode::kInvalidArgument);
  return order.error().message;
}

TEST(SampleOrder, IsTheStoredOneWithoutShuffling) {
  const auto order = Must(SampleOrder::Make({.total = 4, .shuffle = Shuffle::kNone}));
  EXPECT_THAT(All(order), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(order.At(2), 2);
  EXPECT_FALSE(order.WindowAt(0));
}

TEST(SampleOrder, IsAPermutationWhenShuffled) {
  const auto order = Must(SampleOrder::Make({.total = 1000, .seed = 3, .epoch = 2}));
  EXPECT_TRUE(IsBijection(All(order)));
  EXPECT_EQ(order.At(17), Permutation(1000, OrderKey(3, 2)).At(17));
  EXPECT_NE(All(order), All(order.WithEpoch(3)));
  EXPECT_EQ(All(order), All(order.WithEpoch(3).WithEpoch(2)));
}

TEST(SampleOrder, VisitsEverySampleOnceInWindowsOfAnyLength) {
  for (uint64_t total = 0; total <= 120; ++total) {
    for (const uint64_t window : {1, 2, 3, 7, 1000}) {
      const auto order = Windows(total, window);
      const auto samples = All(order);
      ASSERT_TRUE(IsBijection(samples)) << total << " " << window;
      for (uint64_t i = 0; i < total; ++i) ASSERT_EQ(order.At(i), samples[i]);
    }
  }
  EXPECT_TRUE(IsBijection(All(Windows(100'000, 16))));
}

// The bound that a reader's memory depends on: at no position are more than `window_runs`
// runs begun and not yet finished.
TEST(SampleOrder, HasAtMostOneWindowOfRunsOpenAtATime) {
  for (const uint64_t window : {1, 4, 16}) {
    const auto order = Windows(20'000, window);
    const auto samples = All(order);
    const auto starts = UnevenRuns(order.total());
    const auto run_of = [&](uint64_t sample) {
      return std::upper_bound(starts.begin(), starts.end(), sample) - starts.begin();
    };
    std::map<std::ptrdiff_t, std::pair<size_t, size_t>> first_and_last;
    for (size_t i = 0; i < samples.size(); ++i) {
      const auto [at, fresh] = first_and_last.try_emplace(run_of(samples[i]), i, i);
      if (!fresh) at->second.second = i;
    }
    std::vector<int> change(samples.size() + 1);
    for (const auto& [run, span] : first_and_last) {
      ++change[span.first];
      --change[span.second + 1];
    }
    int open = 0;
    int most = 0;
    for (const int delta : change) most = std::max(most, open += delta);
    EXPECT_EQ(most, static_cast<int>(window));
  }
}

TEST(SampleOrder, SaysTheRunsThatAWindowVisits) {
  const auto order = Windows(1000, 5, /*seed=*/9, /*epoch=*/4);
  uint64_t position = 0;
  uint64_t samples_in_windows = 0;
  while (position < order.total()) {
    const auto window = order.WindowAt(position);
    ASSERT_TRUE(window);
    ASSERT_EQ(window->begin, position);
    ASSERT_LE(window->runs.size(), 5);
    std::set<uint64_t> expected;
    for (const SampleRun& run : window->runs) {
      for (uint64_t i = 0; i < run.count; ++i) expected.insert(run.first + i);
    }
    std::set<uint64_t> visited;
    for (; position < window->end; ++position) {
      visited.insert(order.At(position));
      ASSERT_EQ(order.WindowAt(position)->begin, window->begin);
    }
    ASSERT_EQ(visited, expected);
    samples_in_windows += visited.size();
  }
  EXPECT_EQ(samples_in_windows, 1000);
}

TEST(SampleOrder, ShufflesRunsAndTheSamplesOfAWindow) {
  const auto samples = All(Windows(20'000, 16));
  uint64_t in_order = 0;
  for (size_t i = 1; i < samples.size(); ++i) {
    in_order += samples[i] == samples[i - 1] + 1 ? 1 : 0;
  }
  // A window has about 80 samples, each of which follows its neighbour 1 time in 80.
  EXPECT_LT(in_order, 500);
  EXPECT_LT(*std::min_element(samples.begin() + 10'000, samples.end()), 100);
}

TEST(SampleOrder, DependsOnSeedAndEpochAlone) {
  EXPECT_EQ(All(Windows(500, 4, 1, 2)), All(Windows(500, 4, 1, 0).WithEpoch(2)));
  EXPECT_NE(All(Windows(500, 4, 1, 2)), All(Windows(500, 4, 1, 3)));
  EXPECT_NE(All(Windows(500, 4, 1, 2)), All(Windows(500, 4, 2, 2)));
  // Any part by itself is a part of the whole.
  const auto order = Windows(500, 4);
  const auto samples = All(order);
  for (uint64_t begin = 0; begin < 500; begin += 37) {
    std::vector<uint64_t> part(std::min<uint64_t>(90, 500 - begin));
    order.Fill(begin, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(),
                           samples.begin() + static_cast<std::ptrdiff_t>(begin)));
  }
}

// Checkpoints hold a position in this order: it may never change.
TEST(SampleOrder, StaysAsItIs) {
  EXPECT_THAT(All(Windows(20, 2, 42, 1)), ElementsAre(7, 6, 4, 2, 3, 5, 0, 1, 8, 12, 14,
                                                      13, 10, 16, 15, 11, 18, 17, 9, 19));
}

TEST(SampleOrder, RejectsRunsThatDoNotMakeUpTheSet) {
  const auto with = [](std::vector<uint64_t> starts, uint64_t window = 2) {
    return SampleOrderOptions{.total = 10,
                              .shuffle = Shuffle::kWindow,
                              .run_starts = std::move(starts),
                              .window_runs = window};
  };
  EXPECT_EQ(OrderError(with({})), "the first run does not begin at sample 0");
  EXPECT_EQ(OrderError(with({1, 2})), "the first run does not begin at sample 0");
  EXPECT_EQ(OrderError(with({0, 5, 5})),
            "run 2 begins at sample 5, not after run 1, which begins at 5");
  EXPECT_EQ(OrderError(with({0, 10})), "the last run begins at sample 10, of 10 samples");
  EXPECT_EQ(OrderError(with({0}, 0)), "a window of 0 runs; at least 1 is needed");
  EXPECT_THAT(OrderError({.total = Permutation::kMaxTotal + 1}), HasSubstr("more than"));
}

TEST(EvenRuns, CutsEveryShardIntoRunsOfAboutTheSize) {
  const std::vector<ShardExtent> shards = {{10, 2'400}, {0, 72}, {3, 100}, {5, 9'000}};
  EXPECT_THAT(Must(EvenRuns(shards, 1'000)), ElementsAre(0, 5, 10, 13, 14, 15, 16, 17));
  EXPECT_THAT(Must(EvenRuns({}, 1'000)), IsEmpty());
  EXPECT_EQ(Must(EvenRuns(std::vector<ShardExtent>{{7, 100}}, 30)),
            (std::vector<uint64_t>{0, 3, 5}));
}

TEST(EvenRuns, RejectsMoreThanCanBeHeld) {
  const std::vector<ShardExtent> huge = {{uint64_t{1} << 40, ~uint64_t{0}}};
  EXPECT_THAT(EvenRuns(huge, 1).error().message, HasSubstr("make the runs longer"));
  EXPECT_FALSE(EvenRuns(huge, 0));
  const std::vector<ShardExtent> many = {{~uint64_t{0}, 1}, {5, 1}};
  EXPECT_THAT(EvenRuns(many).error().message, HasSubstr("samples in all"));
}

}  // namespace
}  // namespace dolium::dataset
