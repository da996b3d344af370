#include "dolium/ops/pack/pack_copy.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/ops/pack/pack_diff.h"
#include "dolium/ops/pack/pack_select.h"
#include "dolium/ops/testing/pack_fixture.h"

namespace dolium::dataset {
namespace {

using shardpack::Compression;
using shardpack::PackOptions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CopySamplesTest : public PackFixture {
 protected:
  static std::vector<uint64_t> All(const SampleSet& set) {
    return Must(SelectSamples(set, {}));
  }

  // The samples of `set`, written to `name`, and read again.
  std::shared_ptr<const SampleSet> CopyTo(std::string_view name, const SampleSet& set,
                                          std::span<const uint64_t> order,
                                          CopyRequest request = {}) {
    request.output = Path(name);
    request.shard.reproducible = true;
    const PackReport report = Must(CopySamples(set, order, request));
    std::vector<std::string> shards;
    for (const auto& shard : report.summary.shards) {
      shards.push_back(shard.location.Describe());
    }
    return Open(shards);
  }

  static bool AreEqual(const SampleSet& a, const SampleSet& b) {
    return Must(DiffSets(a, b, {},
                         [](const Difference& difference) {
                           ADD_FAILURE() << difference.key << ": " << difference.reason;
                         }))
        .is_equal();
  }
};

TEST_F(CopySamplesTest, CopiesBlocksByteForByte) {
  const auto set = Open({Pack("a.shardpack", NumberedSamples(10))});
  const std::vector<uint64_t> order = {7, 0, 3};
  const auto copy = CopyTo("b.shardpack", *set, order);
  EXPECT_THAT(KeysOf(*copy), ElementsAre("s007", "s000", "s003"));
  for (size_t i = 0; i < order.size(); ++i) {
    const auto from = Must(Must(set->shard(0))->ReadBlock(order[i]));
    const auto to = Must(Must(copy->shard(0))->ReadBlock(i));
    EXPECT_TRUE(Equal(from, to)) << i;
  }
}

TEST_F(CopySamplesTest, CopiesAWholeSetToTheSameBytes) {
  const std::string path = Pack("a.shardpack", NumberedSamples(700));
  const auto set = Open({path});
  CopyTo("b.shardpack", *set, All(*set));
  EXPECT_TRUE(Equal(BytesOf(path), BytesOf(Path("b.shardpack"))));
}

TEST_F(CopySamplesTest, CutsShardsByNumberCountAndSize) {
  const auto set = Open({Pack("a.shardpack", NumberedSamples(10))});
  const auto sizes = [](const SampleSet& of) {
    std::vector<uint64_t> counts;
    for (size_t i = 0; i < of.shard_count(); ++i)
      counts.push_back(Must(of.shard(i))->size());
    return counts;
  };
  const std::vector<uint64_t> all = All(*set);
  EXPECT_THAT(sizes(*CopyTo("n-0.shardpack", *set, all, {.output = {}, .shards = 4})),
              ElementsAre(2, 3, 2, 3));
  EXPECT_THAT(
      sizes(*CopyTo("c-0.shardpack", *set, all, {.output = {}, .shard_records = 4})),
      ElementsAre(4, 4, 2));
  const uint64_t record = Must(set->shard(0))->range(0).length;
  const auto by_size =
      CopyTo("s-0.shardpack", *set, all, {.output = {}, .shard_bytes = 3 * record});
  EXPECT_THAT(sizes(*by_size), ElementsAre(3, 3, 3, 1));
  EXPECT_TRUE(AreEqual(*set, *by_size));
  EXPECT_THAT(sizes(*CopyTo("e-0.shardpack", *set, {}, {.output = {}, .shards = 3})),
              ElementsAre(0));
}

TEST_F(CopySamplesTest, DecodesShardsWithDictionariesAndOtherAlignments) {
  PackOptions with_dictionary;
  with_dictionary.shard.encode.compression = Compression::kZstd;
  with_dictionary.dictionary_bytes = 1024;
  PackOptions aligned;
  aligned.shard.encode.align_log2 = 6;
  std::vector<shardpack::Sample> later = NumberedSamples(400);
  const std::vector<shardpack::Sample> first(later.begin(), later.begin() + 200);
  later.erase(later.begin(), later.begin() + 200);
  const auto set = Open(
      {Pack("d.shardpack", first, with_dictionary), Pack("a.shardpack", later, aligned)});
  ASSERT_NE(Must(set->shard(0))->footer().features_optional, 0U);
  const auto copy = CopyTo("c.shardpack", *set, All(*set));
  EXPECT_EQ(Must(copy->shard(0))->footer().features_optional, 0U);
  EXPECT_EQ(Must(copy->shard(0))->footer().align_log2, 3U);
  EXPECT_TRUE(AreEqual(*set, *copy));
}

TEST_F(CopySamplesTest, KeepsSamplesOfSeveralRecordsTogether) {
  PackOptions split;
  split.shard.encode.record_limit = 300;
  split.oversize = shardpack::Oversize::kSplit;
  std::vector<shardpack::Sample> samples = NumberedSamples(4);
  samples[2].files.push_back(TextFile("large", std::string(150, 'x')));
  const auto set = Open({Pack("a.shardpack", samples, split)});
  ASSERT_EQ(set->size(), 4U);
  ASSERT_GT(Must(set->shard(0))->size(), 4U);
  const std::vector<uint64_t> order = {3, 2, 1};
  const auto copy =
      CopyTo("b-0.shardpack", *set, order, {.output = {}, .shard_records = 2});
  EXPECT_EQ(copy->shard_count(), 2U);
  EXPECT_THAT(KeysOf(*copy), ElementsAre("s003", "s002", "s001"));
  const LoadedSample large = Must(copy->Read(1));
  EXPECT_EQ(large.files().size(), 3U);
  EXPECT_EQ(AsText(Must(large.Content(*large.Find("large")))), std::string(150, 'x'));
  const auto by_size =
      CopyTo("c-0.shardpack", *set, order, {.output = {}, .shard_bytes = 1});
  EXPECT_EQ(by_size->shard_count(), 3U);
}

TEST_F(CopySamplesTest, KeepsMetadataOfTheShards) {
  PackOptions options;
  options.shard.user = {{"creator", "me"}, {"year", "1999"}};
  const auto set = Open({Pack("a.shardpack", NumberedSamples(2), options)});
  CopyRequest request;
  request.shard.user = {{"year", "2000"}};
  const auto copy = CopyTo("b.shardpack", *set, All(*set), request);
  const auto metadata = Must(Must(copy->shard(0))->metadata());
  EXPECT_EQ(metadata.at("user").at("creator"), "me");
  EXPECT_EQ(metadata.at("user").at("year"), "2000");
}

TEST_F(CopySamplesTest, MaterializesAnOverlay) {
  const auto base = Open({Pack("base.shardpack", NumberedSamples(4))});
  std::vector<shardpack::Sample> changes;
  changes.push_back({.key = "s001", .files = {TextFile("text", "changed")}});
  changes.push_back({.key = "s002", .tombstone = true});
  changes.push_back({.key = "new", .files = {TextFile("text", "added")}});
  const auto layer = Open({Pack("layer.shardpack", changes)});
  const auto overlaid = Must(Overlay(base, {layer}));
  const auto copy = CopyTo("c.shardpack", *overlaid, All(*overlaid));
  EXPECT_THAT(KeysOf(*copy), ElementsAre("s000", "s001", "s003", "new"));
  const LoadedSample changed = Must(copy->Read(1));
  EXPECT_EQ(changed.parts().size(), 1U);
  EXPECT_EQ(AsText(Must(changed.Content(*changed.Find("text")))), "changed");
  EXPECT_EQ(AsText(Must(changed.Content(*changed.Find("number")))), "1");
}

TEST_F(CopySamplesTest, RefusesDamageAndLeavesNoShard) {
  const std::string path = Pack("a.shardpack", NumberedSamples(6));
  const auto good = Open({path});
  const LoadedSample last = Must(good->Read(5));
  const uint64_t content =
      Must(good->shard(0))->offset(5) + last.header(last.files().front()).content_at;
  const Bytes whole = BytesOf(path);
  ByteVector bytes(whole.view().begin(), whole.view().end());
  bytes[static_cast<size_t>(content)] ^= std::byte{1};
  const Location location = Must(ParseLocation(Path("bad.shardpack")));
  Must(location.store->Put(location.path, bytes, Precondition::None()));
  const auto set = Open({Path("bad.shardpack")});
  const auto report = CopySamples(
      *set, All(*set), {.output = Path("c-0.shardpack"), .shard_records = 2, .jobs = 1});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(report.error().message,
              HasSubstr("bad.shardpack: record 5: \"s005\": entry \"text\""));
  EXPECT_FALSE(IsThere(Path("c-0.shardpack")));
  EXPECT_FALSE(IsThere(Path("c-1.shardpack")));
}

TEST_F(CopySamplesTest, DoesNotNumberShardsOverItsOwnSource) {
  const auto set = Open({Pack("t-1.shardpack", NumberedSamples(4))});
  CopyRequest request{.output = Path("t-0.shardpack"), .shard_records = 2};
  request.shard.force = true;
  const auto report = CopySamples(*set, All(*set), request);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(report.error().message, HasSubstr("is a shard of the source"));
}

TEST_F(CopySamplesTest, MakesTheSameBytesWithAnyNumberOfThreads) {
  PackOptions options;
  options.shard.encode.compression = Compression::kZstd;
  options.dictionary_bytes = 2048;
  const auto set = Open({Pack("a.shardpack", NumberedSamples(900), options)});
  const auto one = CopyTo("one-0.shardpack", *set, All(*set),
                          {.output = {}, .shard_records = 250, .jobs = 1});
  const auto many = CopyTo("many-0.shardpack", *set, All(*set),
                           {.output = {}, .shard_records = 250, .jobs = 7});
  for (const char* const number : {"0", "1", "2", "3"}) {
    EXPECT_TRUE(Equal(BytesOf(Path(fmt::format("one-{}.shardpack", number))),
                      BytesOf(Path(fmt::format("many-{}.shardpack", number)))));
  }
}

// A set that is shuffled into four shards.
class CopyJobTest : public CopySamplesTest {
 protected:
  CopyJobTest() {
    set_ = Open({Pack("a.shardpack", NumberedSamples(50))});
    order_ = OrderAtRandom(set_->size(), 3);
  }

  CopyRequest Request(const std::string& name) const {
    CopyRequest request{.output = Path(name), .shards = 4};
    request.shard.reproducible = true;
    request.references = {Path("a.shardpack")};
    request.jobs = 1;
    return request;
  }

  std::vector<std::string> Shards(const std::string& prefix) const {
    std::vector<std::string> shards;
    for (int i = 0; i < 4; ++i) {
      const std::string path = Path(fmt::format("{}-{}.shardpack", prefix, i));
      if (IsThere(path)) shards.emplace_back(AsText(BytesOf(path)));
    }
    return shards;
  }

  std::shared_ptr<const SampleSet> set_;
  std::vector<uint64_t> order_;
};

TEST_F(CopyJobTest, IsResumedAfterAStop) {
  Must(CopySamples(*set_, order_, Request("whole-0.shardpack")));
  CopyRequest request = Request("t-0.shardpack");
  std::stop_source stop;
  request.stop = stop.get_token();
  // Each of the shards takes one step.
  request.progress = [&](const Progress& progress) {
    if (progress.entries > 25) stop.request_stop();
  };
  const auto stopped = CopySamples(*set_, order_, request);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(Shards("t").empty());
  const PackReport report = Must(CopySamples(*set_, order_, Request("t-0.shardpack")));
  EXPECT_GE(report.parts_done_before, 2U);
  EXPECT_EQ(report.summary.records, 50U);
  EXPECT_EQ(Shards("t"), Shards("whole"));
}

TEST_F(CopyJobTest, IsDoneByTasks) {
  Must(CopySamples(*set_, order_, Request("whole-0.shardpack")));
  const CopyRequest request = Request("t-0.shardpack");
  const auto tasks = Must(PlanCopy(*set_, order_, request)).tasks();
  ASSERT_EQ(tasks.size(), 4U);
  for (const std::string& task : tasks) Must(RunTask({}, task, {}));
  EXPECT_TRUE(Must(PlanCopy(*set_, order_, request)).tasks().empty());
  EXPECT_TRUE(Shards("t").empty());
  EXPECT_EQ(Must(CopySamples(*set_, order_, request)).parts_done_before, 4U);
  EXPECT_EQ(Shards("t"), Shards("whole"));
  EXPECT_FALSE(RunTask({}, tasks.front(), {}));
}

TEST_F(CopyJobTest, RefusesTasksOfASetThatHasChanged) {
  const auto tasks = Must(PlanCopy(*set_, order_, Request("t-0.shardpack"))).tasks();
  std::filesystem::remove(Path("a.shardpack"));
  Pack("a.shardpack", NumberedSamples(50));
  const auto refused = RunTask({}, tasks.front(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_THAT(refused.error().message,
              HasSubstr("is not what it was when the job began"));
}

TEST_F(CopyJobTest, PlansAnOverlayToo) {
  std::vector<shardpack::Sample> changed = {
      {.key = "s001", .files = {TextFile("text", "changed")}}};
  Pack("b.shardpack", std::move(changed));
  const auto overlaid = Must(Overlay(set_, {Open({Path("b.shardpack")})}));
  CopyRequest request = Request("t-0.shardpack");
  request.overlays = {Path("b.shardpack")};
  for (const std::string& task :
       Must(PlanCopy(*overlaid, All(*overlaid), request)).tasks()) {
    Must(RunTask({}, task, {}));
  }
  const PackReport report = Must(CopySamples(*overlaid, All(*overlaid), request));
  EXPECT_EQ(report.parts_done_before, 4U);
  EXPECT_TRUE(AreEqual(*overlaid, *Open({Path("t-*.shardpack")})));
}

TEST_F(CopyJobTest, HasNoTasksWithoutAName) {
  CopyRequest request = Request("t-0.shardpack");
  request.references.clear();
  const auto refused = PlanCopy(*set_, order_, request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace dolium::dataset
