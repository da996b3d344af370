// What is damaged of a volume is left out, counted and named by its voxels; what a new
// volume keeps of its source.
#include "dolium/ops/volume/skipped_chunks.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/ops/testing/volume_plan_fixture.h"

namespace dolium::volume {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class SkippingDamage : public VolumePlanTest {
 protected:
  void Make(bool sharded, bool gzip) {
    IngestRequest request = Ingest({40, 20, 8}, "vol");
    request.storage.sharded = sharded;
    request.storage.wrapper = gzip ? Wrapper::kGzip : Wrapper::kNone;
    request.pyramid.scales = 0;
    // Gzip within the shards, which has a checksum.
    request.storage.encoding = EncodingSpec{.encoding = Encoding::kRaw};
    Run(PlanIngest(request));
  }

  static void Overwrite(const std::string& path, int64_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file << "XXXXXXXX";
  }

  // The first chunk of the volume, in the middle of its bytes.
  void DamageFirst(bool sharded) {
    if (sharded) {
      Overwrite(Path("vol/4_4_8/0.shard"), 16 + 60);
    } else {
      Overwrite(Path("vol/4_4_8/5-21_-3-13_0-8.gz"), 30);
    }
  }
};

constexpr Box kFirst = {{5, -3, 0}, {21, 13, 8}};

TEST_F(SkippingDamage, ReadsZerosAndNamesTheVoxels) {
  for (const bool sharded : {true, false}) {
    SCOPED_TRACE(sharded);
    fs::remove_all(Path("vol"));
    Make(sharded, !sharded);
    const std::vector<uint32_t> whole = ReadAll(Open(Path("vol")), 0);
    DamageFirst(sharded);
    const auto scale = Must(Open(Path("vol")).OpenCopy(0));
    const ArrayShape shape = scale->ShapeOf(scale->bounds());
    std::vector<uint32_t> found(*shape.voxels(), 1);
    const auto view =
        MutableVoxelView::Dense(shape, reinterpret_cast<std::byte*>(found.data()));
    const auto failed = scale->Read(scale->bounds(), view);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(failed.error().message,
                HasSubstr(sharded ? "4_4_8/0.shard: chunk 0: voxels 5:21,-3:13,0:8"
                                  : "4_4_8/5-21_-3-13_0-8: voxels 5:21,-3:13,0:8: "));
    SkippedChunks skipped;
    for (int i = 0; i < 2; ++i) {  // Twice, and counted once.
      const auto read =
          scale->Read(scale->bounds(), view, {.skip_damaged = skipped.visitor()});
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(*read, scale->grid().cell_count() - 1);
    }
    ASSERT_EQ(skipped.findings().size(), 1u);
    EXPECT_EQ(skipped.findings()[0].key, sharded ? "0" : "");
    EXPECT_THAT(skipped.findings()[0].message, HasSubstr("voxels 5:21,-3:13,0:8"));
    size_t at = 0;
    for (int64_t z = 0; z < 8; ++z) {
      for (int64_t y = -3; y < 17; ++y) {
        for (int64_t x = 5; x < 45; ++x, ++at) {
          const bool is_lost = kFirst.Contains(Box{{x, y, z}, {x + 1, y + 1, z + 1}});
          ASSERT_EQ(found[at], is_lost ? 0 : whole[at]) << x << ' ' << y << ' ' << z;
        }
      }
    }
  }
}

TEST_F(SkippingDamage, LeavesOutAndReportsWhatTranscodeAndDownsampleCannotRead) {
  for (const bool copies : {true, false}) {
    SCOPED_TRACE(copies);
    fs::remove_all(Path("vol"));
    fs::remove_all(Path("out"));
    Make(/*sharded=*/true, false);
    DamageFirst(true);
    TranscodeRequest request;
    request.source = Path("vol");
    request.target = Path("out");
    if (!copies) request.storage.chunk_size = Vec3{8, 8, 8};
    request.skip_damaged = true;
    const JobReport report = Run(PlanTranscode(request));
    ASSERT_EQ(report.skipped.size(), 1u);  // though several chunks are made of it
    EXPECT_THAT(report.skipped[0].message, HasSubstr("voxels 5:21,-3:13,0:8"));
    const Volume out = Open(Path("out"));
    ExpectGood(out);
    EXPECT_EQ(ReadAll(out, 0)[0], 0u);
    EXPECT_EQ(ReadAll(out, 0)[16], Value(16, 0, 0));
    const auto strict = Must(out.OpenCopy(0))->storage().Get({0, 0, 0});
    ASSERT_TRUE(strict);
    EXPECT_FALSE(strict->has_value());
  }
  DownsampleRequest request;
  request.volume = Path("vol");
  request.total_scales = 2;
  const auto failing = PlanDownsample(request);
  ASSERT_TRUE(failing);
  const auto failed = RunPlan(BuiltinFormats(), *failing, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kCorrupt);
  request.skip_damaged = true;
  request.force = true;
  const JobReport report = Run(PlanDownsample(request));
  EXPECT_EQ(report.skipped.size(), 1u);
  EXPECT_EQ(ReadAll(Open(Path("vol")), 1)[0], 0u);
}

TEST_F(SkippingDamage, TranscodeKeepsGzipUnlessTold) {
  Make(/*sharded=*/false, /*gzip=*/true);
  TranscodeRequest request;
  request.source = Path("vol");
  request.target = Path("kept");
  request.storage.chunk_size = Vec3{20, 20, 8};
  Run(PlanTranscode(request));
  EXPECT_TRUE(fs::exists(Path("kept/4_4_8/5-25_-3-17_0-8.gz")));
  request.target = Path("plain");
  request.storage.wrapper = Wrapper::kNone;
  Run(PlanTranscode(request));
  EXPECT_TRUE(fs::exists(Path("plain/4_4_8/5-25_-3-17_0-8")));
  DownsampleRequest more;
  more.volume = Path("vol");
  more.total_scales = 2;
  Run(PlanDownsample(more));
  EXPECT_TRUE(fs::exists(Path("vol/8_8_8/2-18_-2-9_0-8.gz")));
  ExpectGood(Open(Path("vol")));
}

TEST_F(SkippingDamage, TranscodeDropsMembersThatTheEncodingForbids) {
  Make(/*sharded=*/true, false);
  Must(UpdateInfo(*ParseLocation(Path("vol")), [](VolumeInfo info) -> Result<VolumeInfo> {
    info.scales[0].extra = {{"jpeg_quality", "80"},
                            {"compressed_segmentation_block_size", "[8,8,8]"},
                            {"mine", "1"}};
    return info;
  }));
  TranscodeRequest request;
  request.source = Path("vol");
  request.target = Path("out");
  Run(PlanTranscode(request));
  EXPECT_EQ(Open(Path("out")).info().scales[0].extra, (ExtraMembers{{"mine", "1"}}));
  ExpectGood(Open(Path("out")));
}

TEST_F(SkippingDamage, RefusesNewVolumesThatACheckCallsWrong) {
  IngestRequest request = Ingest({20, 16, 8}, "vol");
  request.type = VolumeType::kSegmentation;
  request.source.raw->shape = {10, 16, 8, 2};
  const auto channels = PlanIngest(request);
  ASSERT_FALSE(channels);
  EXPECT_EQ(channels.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      channels.error().message,
      "num_channels: found 2, but a segmentation has one channel; make it an image");
  request.source.raw->shape = {20, 16, 8};
  request.source.type = DataType::kFloat32;
  const auto fractions = PlanIngest(request);
  ASSERT_FALSE(fractions);
  EXPECT_EQ(fractions.error().code, ErrorCode::kInvalidArgument);
  // Nobody said that they are labels.
  request.type.reset();
  request.source.type.reset();
  request.source.raw->shape = {10, 16, 8, 2};
  Run(PlanIngest(request));
  EXPECT_EQ(Open(Path("vol")).info().type, VolumeType::kImage);
}

}  // namespace
}  // namespace dolium::volume
