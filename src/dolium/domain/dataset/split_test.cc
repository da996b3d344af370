#include "dolium/domain/dataset/split.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"

namespace dolium::dataset {
namespace {

using ::testing::ElementsAre;

std::string SplitError(const SplitOptions& options) {
  const auto split = Split::Make(options);
  if (split) return "no error";
  EXPECT_EQ(split.error().code, ErrorCode::kInvalidArgument);
  return split.error().message;
}

// Every small combination of total, start, batch size, world and remainder.
void ForEach(const std::function<void(SplitOptions)>& visit) {
  for (uint64_t total = 0; total <= 25; ++total) {
    for (uint64_t start = 0; start <= total; start += 1 + total / 6) {
      for (uint64_t batch_size = 1; batch_size <= 4; ++batch_size) {
        for (uint64_t world = 1; world <= 5; ++world) {
          for (const Remainder remainder :
               {Remainder::kDrop, Remainder::kPad, Remainder::kKeep}) {
            visit({.total = total,
                   .start = start,
                   .batch_size = batch_size,
                   .world = world,
                   .remainder = remainder});
          }
        }
      }
    }
  }
}

Split OfRank(SplitOptions options, uint64_t rank) {
  options.rank = rank;
  return Must(Split::Make(options));
}

// What all ranks together train on in step `batch`, rank by rank.
std::vector<uint64_t> Step(const SplitOptions& options, uint64_t batch) {
  std::vector<uint64_t> positions;
  for (uint64_t rank = 0; rank < options.world; ++rank) {
    const Split split = OfRank(options, rank);
    if (batch >= split.batches()) continue;
    const auto own = split.Positions(split.Batch(batch));
    positions.insert(positions.end(), own.begin(), own.end());
  }
  return positions;
}

TEST(Split, GivesEachRankItsSliceOfEachGlobalBatch) {
  SplitOptions options{.total = 20, .batch_size = 3, .world = 2};
  const Split first = OfRank(options, 0);
  const Split second = OfRank(options, 1);
  EXPECT_EQ(first.batches(), 3);
  EXPECT_EQ(first.samples(), 9);
  EXPECT_EQ(first.Batch(0), (PositionRange{0, 3}));
  EXPECT_EQ(second.Batch(0), (PositionRange{3, 3}));
  EXPECT_EQ(second.Batch(2), (PositionRange{15, 3}));
}

TEST(Split, VisitsTheOrderInOrder) {
  ForEach([](const SplitOptions& options) {
    std::vector<uint64_t> visited;
    for (uint64_t batch = 0; batch < OfRank(options, 0).batches(); ++batch) {
      const auto step = Step(options, batch);
      visited.insert(visited.end(), step.begin(), step.end());
    }
    const uint64_t left = options.total - options.start;
    const uint64_t global = options.batch_size * options.world;
    uint64_t expected = left;
    if (options.remainder == Remainder::kDrop) expected = left / global * global;
    if (options.remainder == Remainder::kPad) {
      expected = (left + options.world - 1) / options.world * options.world;
    }
    ASSERT_EQ(visited.size(), expected);
    for (uint64_t i = 0; i < visited.size(); ++i) {
      ASSERT_EQ(visited[i], (options.start + i) % options.total);
    }
  });
}

TEST(Split, GivesAllRanksTheSameCountUnlessToldToKeepAllOnce) {
  ForEach([](const SplitOptions& options) {
    uint64_t fewest = ~uint64_t{0};
    uint64_t most = 0;
    uint64_t sum = 0;
    for (uint64_t rank = 0; rank < options.world; ++rank) {
      const Split split = OfRank(options, rank);
      uint64_t samples = 0;
      for (uint64_t batch = 0; batch < split.batches(); ++batch) {
        const PositionRange range = split.Batch(batch);
        ASSERT_GT(range.count, 0);
        ASSERT_LE(range.count, options.batch_size);
        if (options.remainder == Remainder::kDrop) {
          ASSERT_EQ(range.count, options.batch_size);
        }
        samples += range.count;
      }
      ASSERT_EQ(samples, split.samples());
      fewest = std::min(fewest, samples);
      most = std::max(most, samples);
      sum += samples;
      if (options.remainder != Remainder::kKeep) {
        ASSERT_EQ(split.batches(), OfRank(options, 0).batches());
      }
    }
    if (options.remainder == Remainder::kKeep) {
      ASSERT_LE(most - fewest, 1);
      ASSERT_EQ(sum, options.total - options.start);
    } else {
      ASSERT_EQ(most, fewest);
    }
    if (options.remainder == Remainder::kPad) {
      ASSERT_LT(sum - (options.total - options.start), options.world);
    }
  });
}

// Takes a batch from every worker in turn, skipping those that have no more, as torch's
// DataLoader does.
std::vector<PositionRange> RoundRobin(SplitOptions options) {
  std::vector<Split> workers;
  for (options.worker = 0; options.worker < options.workers; ++options.worker) {
    workers.push_back(Must(Split::Make(options)));
  }
  std::vector<PositionRange> batches;
  for (uint64_t index = 0, before = 1; before != batches.size(); ++index) {
    before = batches.size();
    for (const Split& worker : workers) {
      if (index < worker.worker_batches()) batches.push_back(worker.WorkerBatch(index));
    }
    if (before == batches.size()) break;
  }
  return batches;
}

TEST(Split, KeepsTheOrderWhateverTheNumberOfWorkers) {
  ForEach([](SplitOptions options) {
    options.rank = options.world - 1;
    const Split whole = Must(Split::Make(options));
    std::vector<PositionRange> expected;
    for (uint64_t batch = 0; batch < whole.batches(); ++batch) {
      expected.push_back(whole.Batch(batch));
    }
    for (options.workers = 1; options.workers <= 4; ++options.workers) {
      ASSERT_EQ(RoundRobin(options), expected);
    }
  });
}

TEST(Split, GoesOnFromAnyStepWithOtherRanksAndBatches) {
  for (uint64_t total = 0; total <= 30; total += 3) {
    for (uint64_t world = 1; world <= 4; ++world) {
      for (uint64_t batch_size = 1; batch_size <= 3; ++batch_size) {
        const SplitOptions before{.total = total,
                                  .batch_size = batch_size,
                                  .world = world,
                                  .remainder = Remainder::kKeep};
        const uint64_t steps = OfRank(before, 0).batches();
        for (uint64_t stop = 0; stop <= steps; ++stop) {
          std::vector<uint64_t> visited;
          for (uint64_t step = 0; step < stop; ++step) {
            const auto positions = Step(before, step);
            visited.insert(visited.end(), positions.begin(), positions.end());
          }
          const uint64_t position = OfRank(before, 0).PositionAfter(stop);
          ASSERT_EQ(position, visited.size());
          for (uint64_t new_world = 1; new_world <= 3; ++new_world) {
            const SplitOptions after{.total = total,
                                     .start = position,
                                     .batch_size = 4 - batch_size,
                                     .world = new_world,
                                     .remainder = Remainder::kKeep};
            auto all = visited;
            for (uint64_t step = 0; step < OfRank(after, 0).batches(); ++step) {
              const auto positions = Step(after, step);
              all.insert(all.end(), positions.begin(), positions.end());
            }
            ASSERT_EQ(all.size(), total);
            for (uint64_t i = 0; i < total; ++i) ASSERT_EQ(all[i], i);
          }
        }
      }
    }
  }
}

TEST(Split, PadsAnOrderShorterThanTheWorld) {
  SplitOptions options{
      .total = 2, .batch_size = 4, .world = 5, .remainder = Remainder::kPad};
  EXPECT_THAT(Step(options, 0), ElementsAre(0, 1, 0, 1, 0));
}

TEST(Split, EndsAtTheTotal) {
  const Split split =
      OfRank({.total = 10, .batch_size = 4, .remainder = Remainder::kPad}, 0);
  EXPECT_EQ(split.PositionAfter(2), 8);
  EXPECT_EQ(split.PositionAfter(3), 10);
  EXPECT_EQ(split.PositionAfter(9), 10);
}

TEST(Split, EndsAtTheTotalWhenTheRestIsDropped) {
  const Split split = OfRank({.total = 50, .batch_size = 20}, 0);
  EXPECT_EQ(split.batches(), 2);
  EXPECT_EQ(split.PositionAfter(1), 20);
  EXPECT_EQ(split.PositionAfter(2), 50);
  // Gone on from where less than a batch is left.
  const Split rest = OfRank({.total = 50, .start = 40, .batch_size = 20}, 0);
  EXPECT_EQ(rest.batches(), 0);
  EXPECT_EQ(rest.PositionAfter(0), 50);
}

TEST(Split, GivesAllRanksTheSamePosition) {
  ForEach([](const SplitOptions& options) {
    uint64_t steps = 0;
    for (uint64_t rank = 0; rank < options.world; ++rank) {
      steps = std::max(steps, OfRank(options, rank).batches());
    }
    for (uint64_t rank = 0; rank < options.world; ++rank) {
      const Split split = OfRank(options, rank);
      for (uint64_t step = 0; step < steps; ++step) {
        ASSERT_EQ(split.PositionAfter(step),
                  options.start + step * options.batch_size * options.world);
      }
      ASSERT_EQ(split.PositionAfter(steps), options.total);
    }
  });
}

TEST(Split, HoldsTheLargestNumbers) {
  const Split split = OfRank({.total = uint64_t{1} << 62,
                              .batch_size = uint64_t{1} << 36,
                              .world = uint64_t{1} << 24,
                              .remainder = Remainder::kPad},
                             (uint64_t{1} << 24) - 1);
  EXPECT_EQ(split.batches(), 4);
  EXPECT_EQ(split.samples(), uint64_t{1} << 38);
  EXPECT_EQ(split.Batch(3).first + split.Batch(3).count, uint64_t{1} << 62);
}

TEST(Split, RejectsNumbersOutOfRange) {
  EXPECT_EQ(SplitError({.world = 0}), "world is 0, expected 1 to 16777216");
  EXPECT_EQ(SplitError({.rank = 2, .world = 2}),
            "rank is 2, expected less than 2 (world)");
  EXPECT_EQ(SplitError({.worker = 1}), "worker is 1, expected less than 1 (workers)");
  EXPECT_EQ(SplitError({.batch_size = 0}), "batch size is 0, expected 1 to 68719476736");
  EXPECT_EQ(SplitError({.total = 5, .start = 6}),
            "start is 6, past the end of the order (5)");
  EXPECT_EQ(SplitError({.total = ~uint64_t{0}}),
            "18446744073709551615 samples, more than the limit of 4611686018427387904");
}

}  // namespace
}  // namespace dolium::dataset
