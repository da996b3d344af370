#include "dolium/ops/volume/volume_plan.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/testing/volume_plan_fixture.h"

namespace dolium::volume {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class VolumePlans : public VolumePlanTest {};

TEST_F(VolumePlans, IngestsAnArrayWithAllItsScales) {
  const Vec3 size = {50, 37, 20};
  const JobReport report = Run(PlanIngest(Ingest(size, "vol")));
  EXPECT_GT(report.parts, 4u);
  const Volume volume = Open(Path("vol"));
  EXPECT_EQ(volume.info().type, VolumeType::kSegmentation);
  EXPECT_EQ(volume.info().scales[0].encoding.encoding, Encoding::kCompressedSegmentation);
  ASSERT_TRUE(volume.info().scales[0].sharding);
  ExpectValues(volume, size);
  ExpectGood(volume);
  // 4,4,8 -> 8,8,8 -> 16,16,16: anisotropic first.
  ASSERT_GE(volume.info().scales.size(), 3u);
  EXPECT_EQ(volume.info().scales[1].key, "8_8_8");
  EXPECT_EQ(volume.info().scales[1].voxel_offset, (Vec3{2, -2, 0}));
  EXPECT_EQ(volume.info().scales[1].size, (Vec3{26, 19, 20}));
  EXPECT_EQ(volume.info().scales[2].key, "16_16_16");
  const ScaleInfo& last = volume.info().scales.back();
  EXPECT_LE(last.size[0], 16);
  EXPECT_LE(last.size[1], 16);
  EXPECT_LE(last.size[2], 8);
  EXPECT_FALSE(fs::exists(Path("vol/.dolium-unfinished")));
  EXPECT_FALSE(fs::exists(Path("vol/.dolium-plan")));
}

TEST_F(VolumePlans, TakesASizeOfShardsForWhatIsStored) {
  const auto sizes = [&](const std::string& volume) {
    std::vector<uint64_t> found;
    for (const auto& entry : fs::directory_iterator(Path(volume + "/4_4_8"))) {
      if (entry.path().extension() == ".shard") found.push_back(entry.file_size());
    }
    return found;
  };
  // 512 chunks of 8 KiB, which shrink to a few hundred bytes each.
  IngestRequest request = Ingest({128, 128, 64}, "vol");
  request.pyramid.scales = 0;
  request.storage.stored_shard_bytes = 32 << 10;
  Run(PlanIngest(request));
  const std::vector<uint64_t> ingested = sizes("vol");
  for (const uint64_t size : ingested) {
    EXPECT_GT(size, 8u << 10);
    EXPECT_LT(size, 48u << 10);
  }
  // Also where the source has shards of its own, which would do as well.
  TranscodeRequest smaller;
  smaller.source = Path("vol");
  smaller.target = Path("smaller");
  smaller.storage.stored_shard_bytes = 8 << 10;
  Run(PlanTranscode(smaller));
  EXPECT_GE(sizes("smaller").size(), 3 * ingested.size());
  ExpectValues(Open(Path("smaller")), {128, 128, 64});
}

TEST_F(VolumePlans, DownsamplesInAbsoluteCoordinates) {
  IngestRequest request = Ingest({20, 16, 8}, "vol");
  request.pyramid.scales = 1;
  request.pyramid.factor = Vec3{2, 2, 1};
  Run(PlanIngest(request));
  const Volume volume = Open(Path("vol"));
  const std::vector<uint32_t> fine = ReadAll(volume, 0);
  const std::vector<uint32_t> coarse = ReadAll(volume, 1);
  // x: 5 ... 24 -> 2 ... 12; the first voxel stands for x = 5 alone.
  ASSERT_EQ(volume.info().scales[1].size, (Vec3{11, 9, 8}));
  EXPECT_EQ(coarse[0], fine[0]);
  // Voxel 3, -1 of the coarse scale stands for x 6, 7 and y -2, -1: the array's second
  // block.
  EXPECT_EQ(coarse[1 + 11], fine[1 + 20]);
}

TEST_F(VolumePlans, WritesFilesWithoutShards) {
  for (const bool gzip : {false, true}) {
    const Vec3 size = {33, 20, 9};
    IngestRequest request = Ingest(size, gzip ? "gz" : "plain");
    request.storage.sharded = false;
    request.storage.wrapper = gzip ? Wrapper::kGzip : Wrapper::kNone;
    request.pyramid.scales = 1;
    Run(PlanIngest(request));
    const Volume volume = Open(request.target);
    EXPECT_FALSE(volume.info().scales[0].sharding);
    ExpectValues(volume, size);
    ExpectGood(volume);
    EXPECT_TRUE(
        fs::exists(request.target + "/4_4_8/5-21_-3-13_0-8" + (gzip ? ".gz" : "")));
  }
}

TEST_F(VolumePlans, KeepsWhatIsAroundChunksInFiles) {
  const Vec3 size = {33, 20, 9};
  for (const auto& [wrapper, suffix] :
       {std::pair(Wrapper::kBrotli, ".br"), std::pair(Wrapper::kZstd, ".zstd")}) {
    IngestRequest request = Ingest(size, fmt::format("vol{}", suffix));
    request.storage.sharded = false;
    request.storage.wrapper = wrapper;
    request.pyramid.scales = 0;
    Run(PlanIngest(request));
    DownsampleRequest more;
    more.volume = request.target;
    Run(PlanDownsample(more));
    more.rebuild = true;
    Run(PlanDownsample(more));
    TranscodeRequest copy;
    copy.source = request.target;
    copy.target = request.target + "-copy";
    copy.storage.chunk_size = Vec3{8, 8, 8};
    Run(PlanTranscode(copy));
    for (const std::string& location : {copy.source, copy.target}) {
      const Volume volume = Open(location);
      ASSERT_GT(volume.info().scales.size(), 1u);
      ExpectValues(volume, size);
      ExpectGood(volume);
      size_t chunks = 0;
      for (const ScaleInfo& scale : volume.info().scales) {
        for (const auto& file : fs::directory_iterator(location + "/" + scale.key)) {
          EXPECT_EQ(file.path().extension(), suffix) << file.path();
          ++chunks;
        }
      }
      EXPECT_GT(chunks, 10u);
    }
  }
}

TEST_F(VolumePlans, RefusesATargetThatIsThereUnlessForced) {
  const Vec3 size = {20, 20, 9};
  Run(PlanIngest(Ingest(size, "vol")));
  IngestRequest again = Ingest({24, 20, 9}, "vol");
  const auto refused = PlanIngest(again);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  ExpectValues(Open(Path("vol")), size);
  again.force = true;
  const auto plan = PlanIngest(again);
  ASSERT_TRUE(plan) << plan.error().message;
  ExpectValues(Open(Path("vol")), size);  // The old one stays until the new is complete.
  Run(plan);
  ExpectValues(Open(Path("vol")), {24, 20, 9});
  EXPECT_FALSE(fs::exists(Path("vol.dolium-new")));
  std::ofstream(Path("vol/notes.txt")) << "mine";
  const auto foreign = PlanIngest(again);
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.error().message, HasSubstr("notes.txt"));
}

TEST_F(VolumePlans, AddsScalesToAVolumeThatIsThere) {
  IngestRequest request = Ingest({50, 37, 20}, "vol");
  request.pyramid.scales = 0;
  Run(PlanIngest(request));
  DownsampleRequest more;
  more.volume = Path("vol");
  const auto plan = PlanDownsample(more);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(Open(Path("vol")).info().scales.size(), 1u);  // until all is done
  Run(plan);
  const Volume volume = Open(Path("vol"));
  EXPECT_GT(volume.info().scales.size(), 2u);
  ExpectGood(volume);
  const auto none = PlanDownsample(more);
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->stages.empty());
}

TEST_F(VolumePlans, TranscodesToOtherChunksAndEncodings) {
  const Vec3 size = {50, 37, 20};
  Run(PlanIngest(Ingest(size, "vol")));
  TranscodeRequest request;
  request.source = Path("vol");
  request.target = Path("other");
  request.storage.chunk_size = Vec3{20, 10, 10};
  request.storage.encoding = EncodingSpec{.encoding = Encoding::kRaw};
  request.sharded = false;
  Run(PlanTranscode(request));
  const Volume volume = Open(Path("other"));
  ExpectValues(volume, size);
  ExpectGood(volume);
  ASSERT_EQ(volume.info().scales.size(), Open(Path("vol")).info().scales.size());
  for (size_t i = 0; i < volume.info().scales.size(); ++i) {
    EXPECT_EQ(ReadAll(volume, i), ReadAll(Open(Path("vol")), i)) << i;
  }
}

TEST_F(VolumePlans, CopiesChunksThatStayAsTheyAre) {
  const Vec3 size = {50, 37, 20};
  IngestRequest ingest = Ingest(size, "vol");
  ingest.pyramid.scales = 0;
  Run(PlanIngest(ingest));
  TranscodeRequest request;
  request.source = Path("vol");
  request.target = Path("copy");
  Run(PlanTranscode(request));
  for (const auto& file : fs::directory_iterator(Path("vol/4_4_8"))) {
    std::ifstream a(file.path(), std::ios::binary);
    std::ifstream b(Path("copy/4_4_8") / file.path().filename(), std::ios::binary);
    const std::string in_a((std::istreambuf_iterator<char>(a)), {});
    const std::string in_b((std::istreambuf_iterator<char>(b)), {});
    EXPECT_FALSE(in_a.empty());
    EXPECT_EQ(in_a, in_b) << file.path();
  }
}

}  // namespace
}  // namespace dolium::volume
