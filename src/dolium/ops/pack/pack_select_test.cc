#include "dolium/ops/pack/pack_select.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/ops/testing/pack_fixture.h"

namespace dolium::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SelectSamplesTest : public PackFixture {
 protected:
  void SetUp() override { set_ = Open({Pack("a.shardpack", NumberedSamples(20))}); }

  std::vector<uint64_t> Select(const PackSelection& selection) const {
    return Must(SelectSamples(*set_, selection));
  }

  std::shared_ptr<const SampleSet> set_;
};

TEST_F(SelectSamplesTest, TakesAllByDefault) { EXPECT_THAT(Select({}), SizeIs(20)); }

TEST_F(SelectSamplesTest, TakesWhatAllConditionsLetPass) {
  EXPECT_THAT(Select({.begin = 3, .end = 6}), ElementsAre(3, 4, 5));
  EXPECT_THAT(Select({.prefix = "s00", .begin = 7}), ElementsAre(7, 8, 9));
  EXPECT_THAT(Select({.prefix = "s01", .every = 4}), ElementsAre(10, 14, 18));
  EXPECT_THAT(Select({.keys = {{"s011", "s003"}}}), ElementsAre(3, 11));
  EXPECT_THAT(Select({.prefix = "s00", .keys = {{"s011", "s003"}}}), ElementsAre(3));
  EXPECT_THAT(Select({.begin = 20}), IsEmpty());
}

TEST_F(SelectSamplesTest, NamesAKeyThatIsNotThere) {
  const auto selected = SelectSamples(*set_, {.keys = {{"s003", "s099"}}});
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(selected.error().message, "no sample \"s099\"");
  EXPECT_THAT(Select({.keys = {{"s003", "s099"}}, .ignore_missing = true}),
              ElementsAre(3));
}

TEST_F(SelectSamplesTest, RefusesARangePastTheEnd) {
  const auto selected = SelectSamples(*set_, {.begin = 21});
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SelectSamplesTest, DrawsExactlyAsManyAndTheSameForASeed) {
  const std::vector<uint64_t> five = Select({.sample_count = 5, .seed = 1});
  EXPECT_THAT(five, SizeIs(5));
  EXPECT_TRUE(std::ranges::is_sorted(five));
  EXPECT_EQ(five, Select({.sample_count = 5, .seed = 1}));
  EXPECT_EQ(five, Select({.sample_fraction = 0.25, .seed = 1}));
  EXPECT_NE(five, Select({.sample_count = 5, .seed = 2}));
  EXPECT_THAT(Select({.sample_count = 100}), SizeIs(20));
  EXPECT_THAT(Select({.sample_count = 0}), IsEmpty());
}

TEST_F(SelectSamplesTest, OrdersByTheBytesOfKeysAndKeepsEqualOnesInOrder) {
  std::vector<shardpack::Sample> samples;
  for (const char* const key : {"b", "a", "\xC3\xA4", "B", "a"}) {
    samples.push_back({.key = key, .files = {TextFile("x", "x")}});
  }
  const auto set = Open({Pack("mixed.shardpack", samples)});
  EXPECT_THAT(Must(OrderByKey(*set)), ElementsAre(3, 1, 4, 0, 2));
}

TEST_F(SelectSamplesTest, ShufflesAllOfThem) {
  std::vector<uint64_t> order = OrderAtRandom(1000, 7);
  EXPECT_EQ(order, OrderAtRandom(1000, 7));
  EXPECT_NE(order, OrderAtRandom(1000, 8));
  EXPECT_FALSE(std::ranges::is_sorted(order));
  std::ranges::sort(order);
  for (uint64_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
}

}  // namespace
}  // namespace dolium::dataset
