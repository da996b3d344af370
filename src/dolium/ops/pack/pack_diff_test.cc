#include "dolium/ops/pack/pack_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/ops/testing/pack_fixture.h"

namespace dolium::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DiffSetsTest : public PackFixture {
 protected:
  static std::vector<std::string> Differences(const SampleSet& a, const SampleSet& b) {
    std::vector<std::string> lines;
    const DiffSummary summary = Must(DiffSets(a, b, {}, [&](const Difference& one) {
      lines.push_back(fmt::format("{} {} {}: {}", static_cast<int>(one.kind), one.key,
                                  one.entry, one.reason));
    }));
    EXPECT_EQ(summary.is_equal(), lines.empty());
    return lines;
  }
};

TEST_F(DiffSetsTest, LooksAtWhatSamplesHoldNotAtHow) {
  shardpack::PackOptions other;
  other.shard.encode.compression = shardpack::Compression::kGzip;
  other.shard.encode.align_log2 = 7;
  other.shard_records = 33;
  std::vector<shardpack::Sample> samples = NumberedSamples(100);
  for (auto& sample : samples) {
    sample.files[0].data = Bytes::Copy(AsBytes(std::string(500, sample.key[3])));
  }
  const auto a = Open({Pack("a.shardpack", samples)});
  std::reverse(samples.begin(), samples.end());
  Pack("b-0.shardpack", samples, other);
  const auto b = Open({Path("b-{0..3}.shardpack")});
  EXPECT_THAT(Differences(*a, *b), IsEmpty());
}

TEST_F(DiffSetsTest, TellsEachDifference) {
  const auto a = Open({Pack("a.shardpack", NumberedSamples(6))});
  std::vector<shardpack::Sample> samples = NumberedSamples(7);
  samples.erase(samples.begin());
  samples[0].files[0] = TextFile("text", "longer than before");
  samples[1].files[1] = TextFile("number", "7");
  samples[2].files[1].name = "count";
  samples[3].files[1].content_type = "text/html";
  samples[4].metadata = {shardpack::MetadataFormat::kOpaque, Bytes::Copy(AsBytes("m"))};
  const auto b = Open({Pack("b.shardpack", samples)});
  EXPECT_THAT(
      Differences(*a, *b),
      ElementsAre("0 s000 : ", "2 s001 text: size 9, then 18",
                  "2 s002 number: CRC-32C 83a56a17, then b6547e0b",
                  "2 s003 number: only in the first", "2 s003 count: only in the second",
                  "2 s004 number: content type text/plain, then text/html",
                  "2 s005 : metadata differ", "1 s006 : "));
}

TEST_F(DiffSetsTest, FailsOnASampleThatCannotBeRead) {
  const std::string path = Pack("a.shardpack", NumberedSamples(3));
  const auto a = Open({path});
  const uint64_t at = Must(a->shard(0))->offset(1) + 32;
  ByteVector bytes(BytesOf(path).size());
  const Bytes good = BytesOf(path);
  std::copy(good.view().begin(), good.view().end(), bytes.begin());
  bytes[static_cast<size_t>(at)] ^= std::byte{1};
  const Location location = Must(ParseLocation(Path("b.shardpack")));
  Must(location.store->Put(location.path, bytes, Precondition::None()));
  const auto b = Open({Path("b.shardpack")});
  const auto summary = DiffSets(*a, *b, {}, [](const Difference&) {});
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace dolium::dataset
