#include "dolium/ops/pack/pack_create.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/dataset/imports/folder.h"
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

// Samples that can be named, and of which so many come before an error.
class NamedSource : public PackFixture {
 protected:
  struct Run {
    size_t samples = 11;
    std::optional<Error> failure = {};
    std::string state = "1";
    bool can_be_read_again = true;
  };

  Result<PackReport> Create(const Run& run, shardpack::PackOptions options = {}) {
    std::vector<shardpack::Sample> samples = NumberedSamples(11);
    samples.resize(run.samples);
    ListedSamples source(std::move(samples));
    if (run.failure) source.FailAtTheEnd(*run.failure);
    CreateRequest request{.output = Path("t-0.shardpack"), .pack = std::move(options)};
    request.pack.shard_records = 2;
    request.pack.shard.reproducible = true;
    request.pack.jobs = 1;
    if (run.can_be_read_again) request.source = SourceName{"eleven", run.state};
    return CreatePack(source, request);
  }

  // What there is at the output, without the folders of jobs.
  std::vector<std::string> Shards() const {
    std::vector<std::string> shards;
    for (size_t i = 0; i < 6; ++i) {
      const std::string path = Path(fmt::format("t-{}.shardpack", i));
      if (IsThere(path)) shards.emplace_back(AsText(BytesOf(path)));
    }
    return shards;
  }

  bool HasJob() const {
    return std::filesystem::exists(Path("t-0.shardpack.dolium-new"));
  }

  void RemoveShards() const {
    for (size_t i = 0; i < 6; ++i) {
      std::filesystem::remove(Path(fmt::format("t-{}.shardpack", i)));
    }
  }
};

TEST_F(NamedSource, GoesOnBehindTheLastCompleteShard) {
  shardpack::PackOptions plain;
  shardpack::PackOptions with_dictionary;
  with_dictionary.shard.encode.compression = shardpack::Compression::kZstd;
  with_dictionary.dictionary_bytes = 256;
  for (const auto& options : {plain, with_dictionary}) {
    Must(Create({}, options));
    const std::vector<std::string> whole = Shards();
    ASSERT_EQ(whole.size(), 6U);
    RemoveShards();
    // A disk that fills up, twice.
    for (const size_t samples : {size_t{5}, size_t{8}}) {
      const auto failed =
          Create({.samples = samples, .failure = SystemError(ENOSPC, "x")}, options);
      ASSERT_FALSE(failed);
      EXPECT_TRUE(Shards().empty());
      EXPECT_TRUE(HasJob());
    }
    const PackReport report = Must(Create({}, options));
    // A dictionary waits for all of these samples, so that no shard was begun.
    EXPECT_EQ(report.parts_done_before, options.dictionary_bytes > 0 ? 0U : 3U);
    EXPECT_FALSE(report.began_again);
    EXPECT_EQ(report.summary.records, 11U);
    EXPECT_EQ(report.summary.shards.size(), 6U);
    EXPECT_EQ(report.summary.shards[5].location.Describe(), Path("t-5.shardpack"));
    EXPECT_EQ(Shards(), whole);
    EXPECT_FALSE(HasJob());
    RemoveShards();
  }
}

TEST_F(NamedSource, BeginsAgainIfItHasChanged) {
  ASSERT_FALSE(Create({.samples = 5, .failure = SystemError(ENOSPC, "x")}));
  const PackReport report = Must(Create({.state = "2"}));
  EXPECT_TRUE(report.began_again);
  EXPECT_EQ(report.parts_done_before, 0U);
  EXPECT_EQ(Shards().size(), 6U);
}

TEST_F(NamedSource, BeginsAgainIfItCannotBeReadTwice) {
  ASSERT_FALSE(Create(
      {.samples = 5, .failure = SystemError(ENOSPC, "x"), .can_be_read_again = false}));
  EXPECT_FALSE(HasJob());
  const PackReport report = Must(Create({.can_be_read_again = false}));
  EXPECT_EQ(report.parts_done_before, 0U);
  EXPECT_EQ(Shards().size(), 6U);
}

TEST_F(NamedSource, LeavesNothingOfAJobThatWillNeverSucceed) {
  ASSERT_FALSE(Create({.samples = 5, .failure = Corrupt("damaged")}));
  EXPECT_FALSE(HasJob());
  EXPECT_TRUE(Shards().empty());
}

TEST_F(NamedSource, IsRefusedWhileAnotherRequestIsUnderWay) {
  ASSERT_FALSE(Create({.samples = 5, .failure = SystemError(ENOSPC, "x")}));
  shardpack::PackOptions other;
  other.shard.encode.compression = shardpack::Compression::kLz4;
  const auto refused = Create({}, other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_THAT(refused.error().message, HasSubstr("begun by another request"));
  other.shard.force = true;
  EXPECT_EQ(Must(Create({}, other)).summary.records, 11U);
}

// The samples of another source, of which so many come before the disk is full.
class CutShort final : public SampleSource {
 public:
  CutShort(SampleSource& source, size_t samples) : source_(source), left_(samples) {}
  Result<std::optional<shardpack::Sample>> Next() override {
    if (left_ == 0) return SystemError(ENOSPC, "x");
    --left_;
    return source_.Next();
  }
  Result<void> Skip(uint64_t count) override { return source_.Skip(count); }
  Result<std::string> Bind() override { return source_.Bind(); }
  Progress progress() const override { return source_.progress(); }

 private:
  SampleSource& source_;
  size_t left_;
};

TEST_F(NamedSource, OfFilesIsNeverAMixtureOfTwoStates) {
  std::filesystem::create_directory(Path("in"));
  const auto write = [&](std::string_view name, std::string_view text) {
    std::ofstream(Path(fmt::format("in/{}.txt", name))) << text;
  };
  for (const char* const name : {"a", "b", "c", "d", "e", "f"}) write(name, "old");
  const auto create = [&](size_t samples, const std::function<void()>& meanwhile = {}) {
    const auto source = Must(OpenFolderSource(Path("in"), {}));
    CutShort cut(*source, samples);
    CreateRequest request{.output = Path("t-0.shardpack"), .pack = {}};
    request.pack.shard_records = 2;
    request.pack.jobs = 1;
    request.source = Must(NameSource("folder", Path("in"), {}, cut));
    if (meanwhile) meanwhile();
    return CreatePack(cut, request);
  };
  ASSERT_FALSE(create(5));
  EXPECT_TRUE(HasJob());
  // The same size, so that only the state of the file shows it.
  write("a", "new");
  const PackReport report = Must(create(7));
  EXPECT_TRUE(report.began_again);
  EXPECT_EQ(report.parts_done_before, 0U);
  const shardpack::Sample first =
      Must(Must(Open({Path("t-0.shardpack")})->Read(0)).Decode());
  EXPECT_EQ(AsText(first.files.at(0).data), "new");
  RemoveShards();

  const auto failed = create(7, [&] { write("f", "changed"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kConflict);
  EXPECT_THAT(failed.error().message, HasSubstr("in/f.txt: has changed since"));
  EXPECT_TRUE(Shards().empty());
  EXPECT_FALSE(HasJob());
}

TEST_F(NamedSource, WithADictionaryGoesOnToTheSameBytes) {
  // More than a dictionary is made of, so that shards are complete when it fails.
  const auto create = [&](size_t count, std::optional<Error> failure) {
    std::vector<shardpack::Sample> samples;
    for (size_t i = 0; i < count; ++i) {
      std::string text;
      while (text.size() < 15000) text += fmt::format("line {} of {}; ", text.size(), i);
      samples.push_back(
          {.key = fmt::format("s{:04}", i), .files = {TextFile("text", text)}});
    }
    ListedSamples source(std::move(samples));
    if (failure) source.FailAtTheEnd(*std::move(failure));
    CreateRequest request{.output = Path("t-0.shardpack"), .pack = {}};
    request.pack.shard_records = 150;
    request.pack.shard.reproducible = true;
    request.pack.shard.encode.compression = shardpack::Compression::kZstd;
    request.pack.dictionary_bytes = 4096;
    request.pack.jobs = 1;  // so that all that was added is written when it fails
    request.source = SourceName{"many", "1"};
    return CreatePack(source, request);
  };
  Must(create(800, std::nullopt));
  const std::vector<std::string> whole = Shards();
  RemoveShards();
  ASSERT_FALSE(create(700, SystemError(ENOSPC, "x")));
  const PackReport report = Must(create(800, std::nullopt));
  EXPECT_GT(report.parts_done_before, 0U);
  EXPECT_EQ(report.summary.records, 800U);
  EXPECT_EQ(Shards(), whole);
}

}  // namespace
}  // namespace dolium::dataset
