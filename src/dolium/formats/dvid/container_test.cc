#include "dolium/formats/dvid/container.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/read_entry.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/dvid/format.h"
#include "dolium/formats/dvid/testing/blocks.h"

namespace dolium::dvid {
namespace {

using testing::HasSubstr;

class DvidContainerTest : public testing::Test {
 protected:
  DvidContainerTest() : location_{std::make_shared<MemoryStore>("test"), "export"} {
    for (const int32_t corner : {0, 2, 4}) {
      std::vector<TestBlock> blocks;
      for (int32_t i = 0; i < 2; ++i) {
        const Key key = {corner + i, 1 - i, 0};
        blocks.push_back({key, TestVoxels(static_cast<uint64_t>(corner + i), 30)});
        expected_["s0/" + ToString(key)] = EncodeBlock(kTestGrid, blocks.back().voxels);
      }
      WriteTestShard(
          location_.Child("s0").Child(ToString({corner * 64, 0, 0}) + ".arrow"), blocks);
    }
    WriteTestShard(location_.Child("s1").Child("0_0_0.arrow"),
                   {{{0, 0, 0}, TestVoxels(9, 1)}});
    expected_["s1/0_0_0"] = EncodeBlock(kTestGrid, TestVoxels(9, 1));
  }

  std::unique_ptr<Container> Open(const Location& location,
                                  const OpenOptions& options = {}) const {
    return Must(kFormat.open(location, options));
  }

  const Location location_;
  std::map<std::string, ByteVector> expected_;
};

TEST_F(DvidContainerTest, FindsEveryBlockAndNoOther) {
  const auto container = Open(location_);
  EXPECT_EQ(container->format_name(), "dvid");
  for (const auto& [key, block] : expected_) {
    const auto entry = Must(container->Find(key));
    ASSERT_TRUE(entry) << key;
    EXPECT_EQ(entry->key, key);
    EXPECT_EQ(entry->size, block.size());
    EXPECT_TRUE(Equal(Must(ReadEntry(container->store(), *entry)).value, block)) << key;
    Must(container->CheckValue(*entry, Bytes::Copy(block)));
  }
  EXPECT_EQ(Must(container->Find("s0/77_0_0")), std::nullopt);
  EXPECT_EQ(Must(container->Find("s0/0_-1_0")), std::nullopt);
  EXPECT_EQ(container->Find("0_0_0").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(container->Find("s0/0_0").error().code, ErrorCode::kInvalidArgument);
}

TEST_F(DvidContainerTest, ScansEveryBlockOnce) {
  const auto container = Open(location_);
  const std::vector<std::string> objects = Must(container->Objects());
  EXPECT_EQ(objects.size(), 4U);
  EXPECT_TRUE(std::ranges::is_sorted(objects));
  std::map<std::string, ByteVector> found;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    const Bytes value = Must(ReadEntry(container->store(), entry)).value;
    EXPECT_TRUE(
        found.emplace(entry.key, ByteVector(value.view().begin(), value.view().end()))
            .second);
    return true;
  };
  Must(Scan(*container, visitor));
  EXPECT_EQ(found, expected_);
  for (const std::string& object : objects) {
    Must(container->CheckObject(object, [](const Finding& finding) {
      ADD_FAILURE() << finding.object << ": " << finding.message;
    }));
  }
}

TEST_F(DvidContainerTest, TakesOneScaleOrOneShard) {
  const auto scale = Open(location_.Child("s0"));
  EXPECT_TRUE(Must(scale->Find("3_0_0")));
  EXPECT_GT(Must(kFormat.probe(location_)), 0);
  EXPECT_GT(Must(kFormat.probe(location_.Child("s0"))), 0);
  const Location shard = location_.Child("s0").Child("128_0_0.arrow");
  EXPECT_GT(Must(kFormat.probe(shard)), 0);
  EXPECT_TRUE(Must(Open(shard)->Find("3_0_0")));
  EXPECT_EQ(Must(Open(shard)->Find("5_0_0")), std::nullopt);
  EXPECT_EQ(kFormat.open(location_.Child("none"), {}).error().code, ErrorCode::kNotFound);
}

TEST_F(DvidContainerTest, ReadsBlocksOutOfCompressedBuffers) {
  // As Arrow's ZSTD body compression has them; see also the shards of other writers.
  const auto container = Open(location_.Child("s0"));
  const auto entry = Must(container->Find("0_1_0"));
  EXPECT_EQ(ToString(entry->extents.front().codecs), "zstd");
}

TEST_F(DvidContainerTest, NoticesAValueThatIsNotTheRows) {
  const auto container = Open(location_);
  const auto entry = Must(container->Find("s0/0_1_0"));
  const auto other = container->CheckValue(*entry, Bytes::Copy(expected_.at("s0/1_0_0")));
  EXPECT_THAT(other.error().message, HasSubstr("are not the"));
}

TEST_F(DvidContainerTest, ReportsADamagedShardAndGoesOn) {
  const std::string object = JoinPath(location_.path, "s0/128_0_0.arrow");
  Must(location_.store->Put(object, AsBytes("damaged, all of it, to the end"),
                            Precondition::None()));
  const auto container = Open(location_);
  size_t entries = 0;
  std::vector<Finding> damage;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry&) { return ++entries > 0; };
  visitor.damage = [&](const Finding& finding) {
    damage.push_back(finding);
    return true;
  };
  Must(Scan(*container, visitor));
  EXPECT_EQ(entries, 5U);
  ASSERT_EQ(damage.size(), 1U);
  EXPECT_THAT(damage[0].object, HasSubstr("128_0_0.arrow"));
  visitor.damage = nullptr;
  EXPECT_EQ(Scan(*container, visitor).error().code, ErrorCode::kCorrupt);
}

TEST_F(DvidContainerTest, CountsLabels) {
  const Properties counts = Must(Open(location_.Child("s1"))->Statistics({}));
  EXPECT_EQ(counts[0], (std::pair<std::string, std::string>("labels", "1")));
  EXPECT_EQ(counts[3], (std::pair<std::string, std::string>("solid blocks", "1")));
}

TEST_F(DvidContainerTest, RejectsParametersThatItDoesNotKnow) {
  OpenOptions options;
  options.parameters["coordinates"] = "miles";
  EXPECT_EQ(kFormat.open(location_, options).error().message,
            "coordinates \"miles\", expected auto, block or voxel");
}

}  // namespace
}  // namespace dolium::dvid
