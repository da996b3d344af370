#include "dolium/ops/pack/pack_list.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/ops/pack/pack_export.h"
#include "dolium/ops/pack/pack_info.h"
#include "dolium/ops/pack/pack_select.h"
#include "dolium/ops/pack/pack_view.h"
#include "dolium/ops/testing/pack_fixture.h"

namespace dolium::dataset {
namespace {

using shardpack::Compression;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PackListTest : public PackFixture {
 protected:
  // A shard whose record `number` has a damaged key.
  std::string PackDamaged(uint64_t number) {
    const std::string path = Pack("damaged.shardpack", NumberedSamples(5));
    const Bytes good = BytesOf(path);
    ByteVector bytes(good.view().begin(), good.view().end());
    const uint64_t at = Must(Open({path})->shard(0))->offset(number) + 32;
    bytes[static_cast<size_t>(at)] ^= std::byte{1};
    const Location location = Must(ParseLocation(path));
    Must(location.store->Put(location.path, bytes, Precondition::None()));
    return path;
  }
};

TEST_F(PackListTest, ListsSamplesPastDamage) {
  const auto set = Open({PackDamaged(2)});
  std::vector<std::string> met;
  SampleVisitor visitor;
  visitor.sample = [&](const SampleFacts& sample) {
    met.push_back(
        fmt::format("{} {} {}", sample.number, sample.key, sample.files.size()));
    return true;
  };
  visitor.damage = [&](const Error& error) {
    EXPECT_THAT(error.message, HasSubstr("damaged.shardpack: record 2"));
    met.emplace_back("damage");
    return true;
  };
  Must(ListSamples(*set, Must(SelectSamples(*set, {})), visitor));
  EXPECT_THAT(met, ElementsAre("0 s000 2", "1 s001 2", "damage", "3 s003 2", "4 s004 2"));
}

TEST_F(PackListTest, FindsSamplesByKeyNumberAndOffset) {
  std::vector<shardpack::Sample> samples = NumberedSamples(5);
  samples[3].key = "#1";
  const auto set = Open({Pack("a.shardpack", samples)});
  EXPECT_EQ(Must(FindSample(*set, "s002")), 2U);
  EXPECT_EQ(Must(FindSample(*set, "#4")), 4U);
  EXPECT_EQ(Must(FindSample(*set, "#1")), 3U) << "a key counts more than a number";
  for (const char* const absent : {"s9", "#5", "#", "#1x"}) {
    const auto found = FindSample(*set, absent);
    ASSERT_FALSE(found) << absent;
    EXPECT_EQ(found.error().code, ErrorCode::kNotFound) << absent;
  }
  const uint64_t offset = Must(set->shard(0))->offset(2);
  EXPECT_EQ(Must(SampleAtOffset(*set, offset)), 2U);
  EXPECT_EQ(SampleAtOffset(*set, offset + 8).error().code, ErrorCode::kNotFound);
}

TEST_F(PackListTest, ReadsTheOnlyFileOrTheNamedOne) {
  const auto set = Open({Pack("a.shardpack", NumberedSamples(2))});
  const LoadedSample sample = Must(set->Read(1));
  EXPECT_EQ(AsText(Must(ReadFileOf(sample, "text"))), "text of 1");
  const auto unnamed = ReadFileOf(sample, std::nullopt);
  ASSERT_FALSE(unnamed);
  EXPECT_EQ(unnamed.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(unnamed.error().message,
              HasSubstr("name one of its 2 files: text, number"));
  const auto absent = ReadFileOf(sample, "image");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(absent.error().message,
              HasSubstr("record 1: \"s001\": no entry \"image\""));
  const auto alone =
      Open({Pack("b.shardpack", {{.key = "k", .files = {TextFile("x", "alone")}}})});
  EXPECT_EQ(AsText(Must(ReadFileOf(Must(alone->Read(0)), std::nullopt))), "alone");
}

TEST_F(PackListTest, InfoAddsUpShards) {
  shardpack::PackOptions options;
  options.shard.encode.compression = Compression::kLz4;
  const std::string a = Pack("a.shardpack", NumberedSamples(3));
  std::vector<shardpack::Sample> larger = NumberedSamples(4);
  for (auto& sample : larger) sample.files[0].data = Bytes::FromVector(ByteVector(1000));
  const std::string b = Pack("b.shardpack", larger, options);
  const PackFacts facts = Must(InfoOfPack(std::vector{a, b}, {}));
  EXPECT_EQ(facts.records, 7U);
  EXPECT_EQ(facts.entries, 14U);
  EXPECT_EQ(facts.size, BytesOf(a).size() + BytesOf(b).size());
  ASSERT_THAT(facts.columns, SizeIs(2));
  EXPECT_EQ(facts.columns[0].name, "text");
  EXPECT_EQ(facts.columns[0].entries, 0U) << "not counted";

  const PackFacts scanned = Must(InfoOfPack(std::vector{a, b}, {.scan = true}));
  ASSERT_THAT(scanned.columns, SizeIs(2));
  EXPECT_EQ(scanned.columns[1].name, "text");
  EXPECT_EQ(scanned.columns[1].entries, 7U);
  EXPECT_EQ(scanned.columns[1].raw_bytes, 3 * 9 + 4 * 1000U);
  EXPECT_EQ(scanned.columns[1].codecs.at("none"), 3U);
  EXPECT_EQ(scanned.columns[1].codecs.at("lz4"), 4U);
}

TEST_F(PackListTest, ViewShowsAPageWithBeginningsOfTexts) {
  std::vector<shardpack::Sample> samples = NumberedSamples(30);
  samples[21].metadata = {shardpack::MetadataFormat::kJson,
                          Bytes::Copy(AsBytes("{\"b\": 1, \"a\": 2}"))};
  samples[21].files[0] = TextFile("text", "12345\xC3\xA4rest");
  samples[21].files[1].content_type = "image/png";
  const auto set = Open({Pack("a.shardpack", samples)});
  const ViewPage page =
      Must(ViewSamples(*set, {.begin = 21, .count = 3, .preview_bytes = 6}));
  EXPECT_EQ(page.total, 30U);
  ASSERT_THAT(page.samples, SizeIs(3));
  const ViewedSample& sample = page.samples[0];
  EXPECT_EQ(sample.facts.key, "s021");
  EXPECT_EQ(sample.metadata.dump(), "{\"b\":1,\"a\":2}");
  EXPECT_THAT(sample.previews, ElementsAre("12345", "")) << "no half characters";
  EXPECT_TRUE(page.samples[1].metadata.is_null());
  EXPECT_THAT(page.samples[1].previews, ElementsAre("text o", "22"));

  const ViewPage filtered =
      Must(ViewSamples(*set, {.filter = {.prefix = "s01"}, .begin = 8, .count = 10}));
  EXPECT_EQ(filtered.total, 10U);
  ASSERT_THAT(filtered.samples, SizeIs(2));
  EXPECT_EQ(filtered.samples[1].facts.number, 19U);
  EXPECT_THAT(Must(ViewSamples(*set, {.begin = 30})).samples, IsEmpty());
  const auto json = ToJson(filtered);
  EXPECT_EQ(json.at("samples").at(0).at("files").at(0).at("preview"), "text of 18");
}

TEST_F(PackListTest, ViewTellsWhatCannotBeRead) {
  const auto set = Open({PackDamaged(1)});
  const ViewPage page = Must(ViewSamples(*set, {}));
  ASSERT_THAT(page.samples, SizeIs(5));
  EXPECT_EQ(page.samples[1].facts.number, 1U);
  EXPECT_THAT(page.samples[1].error, HasSubstr("record 1"));
  EXPECT_EQ(page.samples[2].error, "");
  EXPECT_TRUE(ToJson(page).at("samples").at(1).contains("error"));
}

class Collector final : public SampleSink {
 public:
  Result<void> Put(const shardpack::Sample& sample) override {
    keys.push_back(sample.key);
    return {};
  }
  Result<void> Finish() override { return {}; }

  std::vector<std::string> keys;
};

TEST_F(PackListTest, ExportPutsSamplesInOrderWithinItsMemory) {
  shardpack::PackOptions options;
  options.shard.encode.compression = Compression::kZstd;
  const auto set = Open({Pack("a.shardpack", NumberedSamples(600), options)});
  const std::vector<uint64_t> numbers = OrderAtRandom(600, 1);
  for (const uint64_t memory : {uint64_t{1}, uint64_t{100}, uint64_t{1} << 30}) {
    Collector sink;
    ExportSummary summary;
    Must(PutSamples(*set, numbers, sink, {.jobs = 3, .memory = memory}, summary));
    EXPECT_EQ(summary.samples, 600U);
    EXPECT_EQ(summary.files, 1200U);
    ASSERT_THAT(sink.keys, SizeIs(600));
    for (size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_EQ(sink.keys[i], fmt::format("s{:03}", numbers[i]));
    }
  }
}

TEST_F(PackListTest, ExportStopsAtDamageAndLeavesNothing) {
  const auto set = Open({PackDamaged(3)});
  for (const std::string kind : {"folder", "mds", "lmdb", "jsonl"}) {
    const ExportRequest request{
        .kind = kind, .target = Path(kind + "/x"), .options = {.shard_samples = 2}};
    const auto summary = ExportSamples(*set, Must(SelectSamples(*set, {})), request);
    ASSERT_FALSE(summary);
    EXPECT_EQ(summary.error().code, ErrorCode::kCorrupt);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Path(kind))) {
      EXPECT_TRUE(entry.is_directory()) << entry.path();
    }
  }
}

TEST_F(PackListTest, ExportToFilesGoesOnAfterAStop) {
  const auto set = Open({Pack("a.shardpack", NumberedSamples(600))});
  const std::vector<uint64_t> numbers = OrderAtRandom(600, 1);
  const auto request_to = [&](std::string_view name) {
    ExportRequest request{.kind = "jsonl", .target = Path(name), .options = {}};
    request.options.shard_samples = 100;
    request.references = {Path("a.shardpack")};
    return request;
  };
  Must(ExportSamples(*set, numbers, request_to("whole-0.jsonl")));

  ExportRequest request = request_to("t-0.jsonl");
  std::stop_source stop;
  request.stop = stop.get_token();
  request.progress = [&](const Progress& progress) {
    if (progress.entries == 350) stop.request_stop();
  };
  const auto stopped = ExportSamples(*set, numbers, request);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
  EXPECT_FALSE(IsThere(Path("t-0.jsonl")));
  EXPECT_TRUE(IsThere(Path("t-0.jsonl.dolium-new/t-2.jsonl")));

  uint64_t first = 0;
  request = request_to("t-0.jsonl");
  request.progress = [&](const Progress& progress) {
    if (first == 0) first = progress.entries;
  };
  const ExportSummary summary = Must(ExportSamples(*set, numbers, request));
  EXPECT_GT(first, 300U);
  EXPECT_EQ(summary.samples, 600U);
  EXPECT_EQ(summary.files, 1200U);
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(Equal(BytesOf(Path(fmt::format("t-{}.jsonl", i))),
                      BytesOf(Path(fmt::format("whole-{}.jsonl", i)))))
        << i;
  }
  EXPECT_FALSE(std::filesystem::exists(Path("t-0.jsonl.dolium-new")));
}

}  // namespace
}  // namespace dolium::dataset
