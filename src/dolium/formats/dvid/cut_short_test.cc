// Shards that somebody cuts short while they are mapped: an error, not the end of the
// process, and never zeros in the place of blocks.
#include <unistd.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/dvid/container.h"
#include "dolium/formats/dvid/shard.h"
#include "dolium/formats/dvid/testing/blocks.h"

namespace dolium::dvid {
namespace {

class DvidCutShortTest : public testing::TestWithParam<DvidShardWriterOptions> {
 protected:
  // Blocks of many labels, so that each is on pages of its own.
  DvidCutShortTest() {
    for (int32_t i = 0; i < 4; ++i) {
      blocks_.push_back({{i, 0, 0}, TestVoxels(static_cast<uint64_t>(i), 5000)});
    }
    WriteTestShard(location_, blocks_, GetParam());
  }
  void Cut(off_t size) const { ASSERT_EQ(truncate(location_.path.c_str(), size), 0); }
  template <typename T>
  static ErrorCode CodeOf(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::kNotFound : result.error().code;
  }

  const TemporaryFolder folder_;
  const Location location_ = Must(ParseLocation(folder_.path() + "/0_0_0.arrow"));
  std::vector<TestBlock> blocks_;
};

TEST_P(DvidCutShortTest, ReadsAndChecksAreConflicts) {
  const auto shard = Must(Shard::Open(location_));
  ASSERT_TRUE(shard->is_mapped());
  const Row held = Must(shard->Read(0));
  Cut(4096);
  // What was read before stays as it was.
  EXPECT_EQ(Must(DecodeRow(held, LabelKind::kSupervoxels)).voxels, blocks_[0].voxels);
  for (size_t number = 1; number < shard->size(); ++number) {
    EXPECT_EQ(CodeOf(shard->Read(number)), ErrorCode::kConflict);
  }
  size_t findings = 0;
  EXPECT_EQ(CodeOf(shard->Check([&](const Finding&) { ++findings; })),
            ErrorCode::kConflict);
  EXPECT_EQ(findings, 0U);
}

TEST_P(DvidCutShortTest, EntriesAreConflicts) {
  const auto container = Must(DvidContainer::Open(location_, {}, uint64_t{1} << 20));
  ASSERT_TRUE(Must(container->Find("1_0_0")));
  Cut(0);
  EXPECT_EQ(CodeOf(container->Find("2_0_0")), ErrorCode::kConflict);
}

DvidShardWriterOptions InOneBatch() {
  DvidShardWriterOptions options;
  options.rows_per_batch = 4;
  return options;
}

INSTANTIATE_TEST_SUITE_P(Batches, DvidCutShortTest,
                         testing::Values(DvidShardWriterOptions(), InOneBatch()),
                         [](const auto& tested) {
                           return tested.index == 0 ? "OfOneRow" : "OfManyRows";
                         });

}  // namespace
}  // namespace dolium::dvid
