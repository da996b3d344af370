#include "dolium/domain/dataset/mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/domain/dataset/permutation.h"

namespace dolium::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<MixtureStep> All(const Mixture& mixture) {
  std::vector<MixtureStep> steps(mixture.total());
  mixture.Fill(0, steps);
  return steps;
}

std::vector<uint64_t> Counts(const std::vector<double>& weights, uint64_t block_size) {
  MixtureOptions options{.block_size = block_size};
  for (const double weight : weights) options.sources.push_back({1, weight});
  return Must(Mixture::Make(options)).block_counts();
}

std::string MixtureError(const MixtureOptions& options) {
  const auto mixture = Mixture::Make(options);
  if (mixture) return "no error";
  EXPECT_EQ(mixture.error().code, ErrorCode::kInvalidArgument);
  return mixture.error().message;
}

TEST(Mixture, ApportionsABlockByWeight) {
  EXPECT_THAT(Counts({0.7, 0.2, 0.1}, 1000), ElementsAre(700, 200, 100));
  EXPECT_THAT(Counts({1, 1, 1}, 10), ElementsAre(4, 3, 3));
  EXPECT_THAT(Counts({5, 3, 1}, 10), ElementsAre(6, 3, 1));
  EXPECT_THAT(Counts({3}, 8), ElementsAre(8));
  // Nobody gets nothing.
  EXPECT_THAT(Counts({1, 1e-9}, 10), ElementsAre(9, 1));
  EXPECT_THAT(Counts({1, 1e-9, 1e-300}, 3), ElementsAre(1, 1, 1));
  EXPECT_THAT(Counts({1e308, 1e308}, 4), ElementsAre(2, 2));
}

TEST(Mixture, KeepsTheProportionsInEveryBlock) {
  const auto mixture =
      Must(Mixture::Make({.sources = {{10'000, 5}, {10'000, 3}, {10'000, 2}},
                          .stop = MixtureStop::kSamples,
                          .samples = 5'000,
                          .seed = 4,
                          .block_size = 100}));
  const auto steps = All(mixture);
  std::set<std::vector<uint64_t>> patterns;
  for (size_t begin = 0; begin < steps.size(); begin += 100) {
    std::vector<uint64_t> counts(3);
    std::vector<uint64_t> pattern;
    for (size_t i = begin; i < begin + 100; ++i) {
      ++counts[steps[i].source];
      pattern.push_back(steps[i].source);
    }
    ASSERT_THAT(counts, ElementsAre(50, 30, 20));
    patterns.insert(pattern);
  }
  EXPECT_EQ(patterns.size(), 50);  // Every block is shuffled again.
}

TEST(Mixture, ReadsEverySourceInItsOwnOrder) {
  for (const MixtureStop stop : {MixtureStop::kFirstExhausted, MixtureStop::kAllExhausted,
                                 MixtureStop::kSamples}) {
    const auto mixture = Must(Mixture::Make({.sources = {{70, 2}, {500, 3}, {33, 1}},
                                             .stop = stop,
                                             .samples = 2'000,
                                             .seed = 5,
                                             .block_size = 64}));
    const std::vector<uint64_t> totals = {70, 500, 33};
    std::vector<uint64_t> next(3);
    for (const MixtureStep& step : All(mixture)) {
      const uint64_t number = next[step.source]++;
      ASSERT_EQ(step.epoch, number / totals[step.source]);
      ASSERT_EQ(step.position, number % totals[step.source]);
    }
  }
}

TEST(Mixture, StopsWhenTheFirstSourceIsExhausted) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto mixture = Must(Mixture::Make(
        {.sources = {{70, 2}, {500, 3}, {33, 1}}, .seed = seed, .block_size = 64}));
    const auto steps = All(mixture);
    std::map<uint64_t, uint64_t> visited;
    for (const MixtureStep& step : steps) {
      ++visited[step.source];
      ASSERT_EQ(step.epoch, 0);
    }
    const std::vector<uint64_t> totals = {70, 500, 33};
    for (const auto& [source, count] : visited) {
      if (source == steps.back().source) {
        ASSERT_EQ(count, totals[source]);
      } else {
        ASSERT_LT(count, totals[source]);
      }
    }
  }
}

TEST(Mixture, StopsWhenAllSourcesAreExhausted) {
  const auto mixture = Must(Mixture::Make({.sources = {{70, 2}, {500, 3}, {33, 1}},
                                           .stop = MixtureStop::kAllExhausted,
                                           .block_size = 64}));
  const auto steps = All(mixture);
  std::vector<uint64_t> visited(3);
  for (const MixtureStep& step : steps) ++visited[step.source];
  EXPECT_EQ(visited[1], 500);
  EXPECT_EQ(steps.back(), (MixtureStep{1, 0, 499}));
  EXPECT_GT(visited[0], 300);
  EXPECT_GT(visited[2], 150);
}

// The next time that a source begins, it must be in another order than ever before.
TEST(Mixture, NeverRepeatsAnOwnEpochInALaterEpoch) {
  for (const MixtureStop stop :
       {MixtureStop::kFirstExhausted, MixtureStop::kAllExhausted}) {
    std::set<std::pair<uint64_t, uint64_t>> seen;
    for (uint64_t epoch = 0; epoch < 20; ++epoch) {
      const auto mixture = Must(Mixture::Make({.sources = {{7, 2}, {50, 3}, {3, 1}},
                                               .stop = stop,
                                               .epoch = epoch,
                                               .block_size = 16}));
      std::set<std::pair<uint64_t, uint64_t>> now;
      for (const MixtureStep& step : All(mixture)) now.insert({step.source, step.epoch});
      for (const auto& pair : now) ASSERT_TRUE(seen.insert(pair).second);
    }
  }
}

TEST(Mixture, GoesOnFromEpochToEpochWithAGivenNumberOfSamples) {
  const auto make = [](uint64_t samples, uint64_t epoch) {
    return Must(Mixture::Make({.sources = {{7, 2}, {50, 3}},
                               .stop = MixtureStop::kSamples,
                               .samples = samples,
                               .epoch = epoch,
                               .block_size = 16}));
  };
  const auto whole = All(make(210, 0));
  std::vector<MixtureStep> parts;
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    const auto part = All(make(70, epoch));
    parts.insert(parts.end(), part.begin(), part.end());
  }
  EXPECT_EQ(parts, whole);
}

TEST(Mixture, GoesOnFromAnyPosition) {
  const MixtureOptions options{.sources = {{70, 2}, {500, 3}, {33, 1}},
                               .stop = MixtureStop::kAllExhausted,
                               .seed = 8,
                               .epoch = 3,
                               .block_size = 50};
  const auto steps = All(Must(Mixture::Make(options)));
  const auto resumed = Must(Mixture::Make(options));
  for (size_t i = 0; i < steps.size(); ++i) ASSERT_EQ(resumed.At(i), steps[i]);
  std::vector<MixtureStep> rest(steps.size() - 123);
  resumed.Fill(123, rest);
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), steps.begin() + 123));
}

TEST(Mixture, DependsOnSeedAndEpoch) {
  const auto make = [](uint64_t seed, uint64_t epoch) {
    return Must(
        Mixture::Make({.sources = {{700, 2}, {500, 3}}, .seed = seed, .epoch = epoch}));
  };
  const auto sources = [](const Mixture& mixture) {
    std::vector<uint64_t> values;
    for (uint64_t i = 0; i < 500; ++i) values.push_back(mixture.At(i).source);
    return values;
  };
  EXPECT_EQ(sources(make(1, 1)), sources(make(1, 1)));
  EXPECT_NE(sources(make(1, 1)), sources(make(1, 2)));
  EXPECT_NE(sources(make(1, 1)), sources(make(2, 1)));
  EXPECT_NE(make(1, 1).SourceSeed(0), make(1, 1).SourceSeed(1));
  EXPECT_EQ(make(1, 1).SourceSeed(1), make(1, 2).SourceSeed(1));
}

// Checkpoints hold a position in this order: it may never change.
TEST(Mixture, StaysAsItIs) {
  const auto mixture = Must(Mixture::Make(
      {.sources = {{40, 2}, {20, 1}}, .seed = 42, .epoch = 1, .block_size = 12}));
  std::string sources;
  for (uint64_t i = 0; i < 24; ++i) sources += mixture.At(i).source == 0 ? 'a' : 'b';
  EXPECT_EQ(sources, "abaabaababaaaabaababbaaa");
  EXPECT_EQ(mixture.SourceSeed(1), 0x93be8420bb55b94c);
}

TEST(Mixture, RejectsWhatCannotBeMixed) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(MixtureError({}), "a mixture of no sources");
  EXPECT_EQ(MixtureError({.sources = {{1, 1}, {0, 1}}}), "source 1 is empty");
  EXPECT_EQ(MixtureError({.sources = {{1, 0}}}),
            "the weight of source 0 is 0, expected a number above 0");
  EXPECT_THAT(MixtureError({.sources = {{1, -1}}}), HasSubstr("is -1,"));
  EXPECT_THAT(MixtureError({.sources = {{1, kNan}}}), HasSubstr("is nan,"));
  EXPECT_THAT(MixtureError({.sources = {{1, kInfinity}}}), HasSubstr("is inf,"));
  EXPECT_EQ(MixtureError({.sources = {{1, 1}, {1, 1}}, .block_size = 1}),
            "block size is 1, expected 2 (a position for every source) to 65536");
  EXPECT_THAT(MixtureError({.sources = {{1, 1}}, .block_size = 70'000}),
              HasSubstr("65536"));
  EXPECT_THAT(MixtureError({.sources = {{Permutation::kMaxTotal, 1}, {1, 1000}},
                            .stop = MixtureStop::kAllExhausted}),
              HasSubstr("an epoch would be longer than"));
  EXPECT_THAT(MixtureError({.sources = {{1, 1}},
                            .stop = MixtureStop::kSamples,
                            .samples = uint64_t{1} << 40,
                            .epoch = uint64_t{1} << 40}),
              HasSubstr("ends past"));
}

}  // namespace
}  // namespace dolium::dataset
