#include "dolium/ops/pack/pack_create.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/ops/testing/pack_fixture.h"

namespace dolium::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CreatePackTest : public PackFixture {};

TEST_F(CreatePackTest, NumbersShardsOnlyIfTheyAreLimited) {
  ListedSamples one(NumberedSamples(3));
  EXPECT_EQ(Must(CreatePack(one, {.output = Path("t-0.shardpack"), .pack = {}}))
                .summary.shards.size(),
            1U);
  EXPECT_TRUE(IsThere(Path("t-0.shardpack")));

  ListedSamples several(NumberedSamples(5));
  CreateRequest request{.output = Path("u-7.shardpack"), .pack = {}};
  request.pack.shard_records = 2;
  const PackReport report = Must(CreatePack(several, request));
  EXPECT_EQ(report.summary.records, 5U);
  EXPECT_EQ(report.summary.shards.size(), 3U);
  EXPECT_EQ(report.leftover, std::nullopt);
  EXPECT_THAT(KeysOf(*Open({Path("u-9.shardpack")})), ElementsAre("s004"));
}

TEST_F(CreatePackTest, LeavesNoShardIfTheSourceFails) {
  ListedSamples source(NumberedSamples(5));
  source.FailAtTheEnd(Corrupt("the rest is damaged"));
  CreateRequest request{.output = Path("t-0.shardpack"), .pack = {}};
  request.pack.shard_records = 2;
  const auto report = CreatePack(source, request);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "the rest is damaged");
  for (const char* const name : {"t-0.shardpack", "t-1.shardpack", "t-2.shardpack"}) {
    EXPECT_FALSE(IsThere(Path(name))) << name;
  }
}

TEST_F(CreatePackTest, LeavesShardsThatWereInItsWay) {
  Pack("t-2.shardpack", NumberedSamples(1));
  ListedSamples source(NumberedSamples(5));
  CreateRequest request{.output = Path("t-0.shardpack"), .pack = {}};
  request.pack.shard_records = 2;
  const auto report = CreatePack(source, request);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kExists);
  EXPECT_FALSE(IsThere(Path("t-0.shardpack")));
  EXPECT_FALSE(IsThere(Path("t-1.shardpack")));
  EXPECT_THAT(KeysOf(*Open({Path("t-2.shardpack")})), ElementsAre("s000"));
}

TEST_F(CreatePackTest, RefusesAtOnceIfTheFirstOrSecondShardIsThere) {
  Pack("t-1.shardpack", NumberedSamples(1));
  ListedSamples source(NumberedSamples(1));
  CreateRequest request{.output = Path("t-0.shardpack"), .pack = {}};
  request.pack.shard_records = 2;
  const auto report = CreatePack(source, request);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kExists);
  EXPECT_THAT(report.error().message, HasSubstr("t-1.shardpack: is there already"));
  EXPECT_EQ(source.progress().entries, 0U);
}

TEST_F(CreatePackTest, TellsOfAShardThatALargerSetLeft) {
  shardpack::PackOptions options;
  options.shard_records = 2;
  Pack("t-0.shardpack", NumberedSamples(6), options);
  ListedSamples source(NumberedSamples(3));
  CreateRequest request{.output = Path("t-0.shardpack"), .pack = options};
  request.pack.shard.force = true;
  EXPECT_EQ(Must(CreatePack(source, request)).leftover, Path("t-2.shardpack"));
}

TEST_F(CreatePackTest, MakesTheSameBytesWithAnyNumberOfThreads) {
  shardpack::PackOptions options;
  options.shard.encode.compression = shardpack::Compression::kZstd;
  options.jobs = 1;
  const std::string one = Pack("one.shardpack", NumberedSamples(2000), options);
  options.jobs = 6;
  const std::string six = Pack("six.shardpack", NumberedSamples(2000), options);
  EXPECT_TRUE(Equal(BytesOf(one), BytesOf(six)));
}

TEST_F(CreatePackTest, StopsOnRequestAndLeavesNothing) {
  std::stop_source stop;
  stop.request_stop();
  ListedSamples source(NumberedSamples(3));
  CreateRequest request{.output = Path("t.shardpack"), .pack = {}};
  request.pack.stop = stop.get_token();
  const auto report = CreatePack(source, request);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kCancelled);
  EXPECT_FALSE(IsThere(Path("t.shardpack")));
}

}  // namespace
}  // namespace dolium::dataset
