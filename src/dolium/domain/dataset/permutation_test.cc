#include "dolium/domain/dataset/permutation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium::dataset {
namespace {

using ::testing::ElementsAre;

std::vector<uint64_t> Values(const Permutation& order) {
  std::vector<uint64_t> values(order.total());
  order.Fill(0, values);
  return values;
}

// How far a chi-squared sum over equally likely `counts` is from what chance makes of it,
// in standard deviations.
double ChiSquaredScore(const std::vector<uint64_t>& counts) {
  const auto sum =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), uint64_t{0}));
  const auto cells = static_cast<double>(counts.size());
  double chi_squared = 0;
  for (const uint64_t count : counts) {
    const double difference = static_cast<double>(count) - sum / cells;
    chi_squared += difference * difference / (sum / cells);
  }
  return (chi_squared - (cells - 1)) / std::sqrt(2 * (cells - 1));
}

double Correlation(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  const auto n = static_cast<double>(a.size());
  double sum_a = 0, sum_b = 0, sum_aa = 0, sum_bb = 0, sum_ab = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]);
    const auto y = static_cast<double>(b[i]);
    sum_a += x;
    sum_b += y;
    sum_aa += x * x;
    sum_bb += y * y;
    sum_ab += x * y;
  }
  return (n * sum_ab - sum_a * sum_b) /
         std::sqrt((n * sum_aa - sum_a * sum_a) * (n * sum_bb - sum_b * sum_b));
}

uint64_t CountInversions(std::vector<uint64_t> values) {
  uint64_t inversions = 0;
  std::vector<uint64_t> merged(values.size());
  for (size_t width = 1; width < values.size(); width *= 2) {
    for (size_t low = 0; low < values.size(); low += 2 * width) {
      const size_t middle = std::min(low + width, values.size());
      const size_t high = std::min(low + 2 * width, values.size());
      size_t left = low;
      size_t right = middle;
      for (size_t i = low; i < high; ++i) {
        if (right == high || (left < middle && values[left] <= values[right])) {
          merged[i] = values[left++];
        } else {
          inversions += middle - left;
          merged[i] = values[right++];
        }
      }
    }
    values.swap(merged);
  }
  return inversions;
}

TEST(Permutation, VisitsEveryValueOnceForEverySmallTotal) {
  for (uint64_t total = 1; total <= 2000; ++total) {
    const Permutation order(total, OrderKey(total, 3));
    std::vector<uint64_t> values = Values(order);
    for (uint64_t i = 0; i < total; ++i) {
      ASSERT_EQ(values[i], order.At(i)) << total;
      ASSERT_EQ(order.PositionOf(values[i]), i) << total;
    }
    std::sort(values.begin(), values.end());
    for (uint64_t i = 0; i < total; ++i) ASSERT_EQ(values[i], i) << total;
  }
}

TEST(Permutation, OfNothingIsEmpty) {
  const Permutation order(0, 1);
  EXPECT_EQ(order.total(), 0);
  order.Fill(0, {});
}

TEST(Permutation, InvertsItselfNearPowersOfTwoUpToTheLimit) {
  for (int bits = 12; bits <= 62; ++bits) {
    for (const int delta : {-1, 0, 1}) {
      const uint64_t total = (uint64_t{1} << bits) + static_cast<uint64_t>(delta);
      if (total > Permutation::kMaxTotal) continue;
      const Permutation order(total, OrderKey(5, static_cast<uint64_t>(bits)));
      for (uint64_t i = 0; i < 50; ++i) {
        for (const uint64_t position : {i, total - 1 - i, total / 2 + i}) {
          const uint64_t value = order.At(position);
          ASSERT_LT(value, total);
          ASSERT_EQ(order.PositionOf(value), position);
        }
      }
    }
  }
}

TEST(Permutation, FillsAnyPartLikeAt) {
  const Permutation order(100'003, OrderKey(1, 1));
  for (const uint64_t begin : {0, 1, 7, 99'900}) {
    for (const size_t count : {0, 1, 7, 8, 9, 64, 103}) {
      std::vector<uint64_t> values(count);
      order.Fill(begin, values);
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(values[i], order.At(begin + i));
    }
  }
}

// Checkpoints hold a position in these orders: they may never change.
TEST(Permutation, StaysAsItIs) {
  EXPECT_EQ(OrderKey(0, 0), 0x238275bc38fcbe91);
  EXPECT_EQ(OrderKey(1, 2, 3), 0xd0734750fde362b3);
  EXPECT_THAT(Values(Permutation(10, OrderKey(42, 0))),
              ElementsAre(2, 4, 6, 3, 9, 5, 7, 8, 0, 1));
  const auto first = [](uint64_t total) {
    const Permutation order(total, OrderKey(42, 7));
    return std::vector{order.At(0), order.At(1), order.At(total - 1)};
  };
  EXPECT_THAT(first(1'000), ElementsAre(710, 897, 300));
  EXPECT_THAT(first(50'000), ElementsAre(26632, 12035, 29321));
  EXPECT_THAT(first(1'281'167), ElementsAre(1070163, 209583, 93064));
  EXPECT_THAT(first(Permutation::kMaxTotal),
              ElementsAre(3124436864341461639, 3353564168836172078, 2202089358209601981));
}

TEST(Permutation, MakesAllOrdersOfFewEquallyOften) {
  uint64_t orders = 1;
  for (uint64_t total = 2; total <= 6; ++total) {
    orders *= total;
    std::map<std::vector<uint64_t>, uint64_t> seen;
    for (uint64_t seed = 0; seed < 200 * orders; ++seed) {
      ++seen[Values(Permutation(total, OrderKey(seed, 0)))];
    }
    ASSERT_EQ(seen.size(), orders) << total;
    std::vector<uint64_t> counts;
    for (const auto& [order, count] : seen) counts.push_back(count);
    EXPECT_LT(std::abs(ChiSquaredScore(counts)), 4) << total;
  }
}

TEST(Permutation, PutsEveryValueAtEveryPositionEquallyOften) {
  for (const uint64_t total : {3, 7, 8, 13, 16, 31, 64, 65, 100}) {
    constexpr uint64_t kSeeds = 6'000;
    const auto n = static_cast<double>(total);
    std::vector<uint64_t> counts(total * total);
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto values = Values(Permutation(total, OrderKey(seed, 1)));
      for (uint64_t i = 0; i < total; ++i) ++counts[i * total + values[i]];
    }
    double chi_squared = 0;
    for (const uint64_t count : counts) {
      const double difference = static_cast<double>(count) - kSeeds / n;
      chi_squared += difference * difference / (kSeeds / n);
    }
    // A table whose rows and columns have fixed sums in every single observation.
    chi_squared *= (n - 1) / n;
    const double freedom = (n - 1) * (n - 1);
    EXPECT_LT(std::abs(chi_squared - freedom) / std::sqrt(2 * freedom), 4) << total;
  }
}

TEST(Permutation, PutsNeighboursAtAnyDistanceEquallyOften) {
  for (const uint64_t total : {5, 8, 17, 64, 65, 100, 257, 1000, 1025, 5000, 66'000}) {
    const uint64_t seeds = std::max<uint64_t>(20'000, total * 5);
    std::vector<uint64_t> distances(total - 1);
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      const Permutation order(total, OrderKey(seed, 2));
      const uint64_t position = seed % total;
      const uint64_t a = order.At(position);
      const uint64_t b = order.At((position + 1) % total);
      ++distances[(b + total - a) % total - 1];
    }
    EXPECT_LT(std::abs(ChiSquaredScore(distances)), 4) << total;
  }
}

TEST(Permutation, LooksLikeAShuffle) {
  for (const uint64_t total : {1'000, 10'007, 65'536, 100'000}) {
    const auto n = static_cast<double>(total);
    double fixed = 0;
    double displacement = 0;
    double inversions = 0;
    constexpr int kSeeds = 60;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto values = Values(Permutation(total, OrderKey(seed, 4)));
      for (uint64_t i = 0; i < total; ++i) {
        if (values[i] == i) ++fixed;
        displacement +=
            static_cast<double>(std::max(values[i], i) - std::min(values[i], i));
      }
      inversions += static_cast<double>(CountInversions(values));
      const std::vector<uint64_t> next(values.begin() + 1, values.end());
      const std::vector<uint64_t> all_but_last(values.begin(), values.end() - 1);
      EXPECT_LT(std::abs(Correlation(all_but_last, next)), 5 / std::sqrt(n));
    }
    // Expected of random orders: 1 fixed point, |value - position| n/3 on average, and
    // n(n-1)/4 inversions with a variance of about n^3/36.
    EXPECT_NEAR(fixed / kSeeds, 1, 5 / std::sqrt(kSeeds)) << total;
    EXPECT_NEAR(displacement / kSeeds / n, n / 3, n * 5 / std::sqrt(n * kSeeds) / 3)
        << total;
    EXPECT_NEAR(inversions / kSeeds, n * (n - 1) / 4,
                5 * std::sqrt(n * n * n / 36 / kSeeds))
        << total;
  }
}

TEST(Permutation, DiffersWithoutAPatternBetweenEpochsSeedsStreamsAndTotals) {
  constexpr uint64_t kTotal = 10'000;
  const auto base = Values(Permutation(kTotal, OrderKey(1, 1)));
  const std::vector<std::vector<uint64_t>> others = {
      Values(Permutation(kTotal, OrderKey(1, 2))),
      Values(Permutation(kTotal, OrderKey(2, 1))),
      Values(Permutation(kTotal, OrderKey(1, 1, 1))),
      Values(Permutation(kTotal, OrderKey(uint64_t{1} << 63, 1))),
      Values(Permutation(kTotal, OrderKey(1, uint64_t{1} << 63)))};
  for (const auto& other : others) {
    EXPECT_LT(std::abs(Correlation(base, other)), 0.05);
    uint64_t same = 0;
    for (size_t i = 0; i < base.size(); ++i) same += base[i] == other[i] ? 1 : 0;
    EXPECT_LT(same, 8);
  }
  const Permutation longer(kTotal + 1, OrderKey(1, 1));
  uint64_t same = 0;
  for (size_t i = 0; i < base.size(); ++i) same += base[i] == longer.At(i) ? 1 : 0;
  EXPECT_LT(same, 8);
}

}  // namespace
}  // namespace dolium::dataset
