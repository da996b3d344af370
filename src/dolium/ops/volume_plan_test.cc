#include "dolium/ops/volume_plan.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/verify_volume.h"

namespace dolium::volume {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A folder of the test's own.
class VolumePlans : public ::testing::Test {
 protected:
  VolumePlans() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) /
              (std::string("dolium-volume-plans-") + info->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~VolumePlans() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  // An array of uint32 of which voxel x, y, z is Value(x, y, z), in a raw file.
  static uint32_t Value(int64_t x, int64_t y, int64_t z) {
    return static_cast<uint32_t>(x / 10 + 7 * (y / 6) + 100 * (z / 5));
  }
  IngestRequest Ingest(const Vec3& size, const std::string& target) const {
    std::vector<uint32_t> values;
    for (int64_t z = 0; z < size[2]; ++z) {
      for (int64_t y = 0; y < size[1]; ++y) {
        for (int64_t x = 0; x < size[0]; ++x) values.push_back(Value(x, y, z));
      }
    }
    std::ofstream(Path("in.raw"), std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(uint32_t)));
    IngestRequest request;
    request.source.path = Path("in.raw");
    request.source.raw = RawLayout{.shape = {size[0], size[1], size[2]},
                                   .type = NumberType::kUint32,
                                   .offset = std::nullopt};
    request.target = Path(target);
    request.resolution = {4, 4, 8};
    request.offset = {5, -3, 0};
    request.storage.chunk_size = Vec3{16, 16, 8};
    request.storage.shard_bytes = 64 << 10;
    return request;
  }

  static std::vector<uint32_t> ReadAll(const Volume& volume, size_t index) {
    const auto scale = volume.OpenScale(index);
    EXPECT_TRUE(scale) << scale.error().message;
    const ArrayShape shape = (*scale)->ShapeOf((*scale)->bounds());
    std::vector<uint32_t> out(*shape.voxels());
    const auto read = (*scale)->Read(
        (*scale)->bounds(),
        MutableVoxelView::Dense(shape, reinterpret_cast<std::byte*>(out.data())));
    EXPECT_TRUE(read) << read.error().message;
    return out;
  }

  static Volume Open(const std::string& path) {
    auto volume = Volume::Open(*ParseLocation(path));
    EXPECT_TRUE(volume) << volume.error().message;
    return *std::move(volume);
  }

  static void ExpectValues(const Volume& volume, const Vec3& size) {
    const std::vector<uint32_t> found = ReadAll(volume, 0);
    ASSERT_EQ(found.size(), static_cast<size_t>(size[0] * size[1] * size[2]));
    size_t at = 0;
    for (int64_t z = 0; z < size[2]; ++z) {
      for (int64_t y = 0; y < size[1]; ++y) {
        for (int64_t x = 0; x < size[0]; ++x) {
          ASSERT_EQ(found[at++], Value(x, y, z)) << x << ' ' << y << ' ' << z;
        }
      }
    }
  }

  static void ExpectGood(const Volume& volume) {
    std::vector<std::string> findings;
    const auto report =
        VerifyVolume(BuiltinFormats(), volume, {}, [&](const Finding& finding) {
          findings.push_back(finding.object + ": " + finding.key + ": " +
                             finding.message);
        });
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(findings, ::testing::IsEmpty());
    EXPECT_GT(report->entries_read, 0u);
  }

  static VolumeReport Run(const Result<VolumePlan>& plan) {
    EXPECT_TRUE(plan) << plan.error().message;
    auto report = RunVolumePlan(*plan, {});
    EXPECT_TRUE(report) << report.error().message;
    return *std::move(report);
  }

 private:
  fs::path folder_;
};

TEST_F(VolumePlans, IngestsAnArrayWithAllItsScales) {
  const Vec3 size = {50, 37, 20};
  const VolumeReport report = Run(PlanIngest(Ingest(size, "vol")));
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
    request.storage.gzip_files = gzip;
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

TEST_F(VolumePlans, ResumesWhereItWasKilled) {
  const Vec3 size = {50, 37, 20};
  const IngestRequest request = Ingest(size, "vol");
  const auto plan = PlanIngest(request);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_GT(plan->stages[0].size(), 2u);
  ASSERT_TRUE(RunVolumeTask(plan->stages[0][0], {}));
  ASSERT_TRUE(RunVolumeTask(plan->stages[0][1], {}));
  const auto unfinished = Volume::Open(*ParseLocation(Path("vol")));
  ASSERT_FALSE(unfinished);
  EXPECT_THAT(unfinished.error().message, HasSubstr("this set is unfinished"));

  IngestRequest other = request;
  other.resolution = {5, 5, 5};
  const auto refused = PlanIngest(other);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("another job is under way"));

  const auto rest = PlanIngest(request);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->parts_done, 2u);
  EXPECT_EQ(rest->stages[0].size(), plan->stages[0].size() - 2);
  const VolumeReport report = Run(rest);
  EXPECT_EQ(report.parts_done_before, 2u);
  ExpectValues(Open(Path("vol")), size);
  ExpectGood(Open(Path("vol")));
}

TEST_F(VolumePlans, IsNotFinishedBeforeAllPartsAreDone) {
  const auto plan = PlanIngest(Ingest({50, 37, 20}, "vol"));
  ASSERT_TRUE(plan);
  ASSERT_TRUE(RunVolumeTask(plan->stages[0][0], {}));
  const auto report = FinishVolumePlan(*plan);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("is not done yet"));
}

TEST_F(VolumePlans, DoesNotDownsampleWhatIsNotThereYet) {
  const auto plan = PlanIngest(Ingest({50, 37, 20}, "vol"));
  ASSERT_TRUE(plan);
  ASSERT_TRUE(RunVolumeTask(plan->stages[0][0], {}));
  const auto early = RunVolumeTask(plan->stages[1][0], {});
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(early.error().message, HasSubstr("stage 1 needs all of stage 0, of which "
                                               "part 1 is not done yet"));
  for (const std::string& task : plan->stages[0]) ASSERT_TRUE(RunVolumeTask(task, {}));
  EXPECT_TRUE(RunVolumeTask(plan->stages[1][0], {}));
}

TEST_F(VolumePlans, NoticesThatTheSourceHasChanged) {
  const auto plan = PlanIngest(Ingest({20, 20, 8}, "vol"));
  ASSERT_TRUE(plan);
  fs::last_write_time(Path("in.raw"),
                      fs::last_write_time(Path("in.raw")) + std::chrono::seconds(5));
  const auto done = RunVolumeTask(plan->stages[0][0], {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kConflict);
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

TEST_F(VolumePlans, ResumesADownsamplingThatWasKilled) {
  IngestRequest request = Ingest({50, 37, 20}, "vol");
  request.pyramid.scales = 0;
  Run(PlanIngest(request));
  DownsampleRequest more;
  more.volume = Path("vol");
  more.pyramid.scales = 2;
  const auto plan = PlanDownsample(more);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_TRUE(RunVolumeTask(plan->stages[0][0], {}));
  const auto rest = PlanDownsample(more);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->parts_done, 1u);
  Run(rest);
  EXPECT_EQ(Open(Path("vol")).info().scales.size(), 3u);
  ExpectGood(Open(Path("vol")));
}

TEST_F(VolumePlans, OnlyTidiesUpAfterADownsamplingThatWasKilledAtTheVeryEnd) {
  IngestRequest request = Ingest({50, 37, 20}, "vol");
  request.pyramid.scales = 0;
  Run(PlanIngest(request));
  DownsampleRequest more;
  more.volume = Path("vol");
  more.pyramid.scales = 1;
  const auto plan = PlanDownsample(more);
  ASSERT_TRUE(plan) << plan.error().message;
  const Location home = *ParseLocation(plan->home);
  const std::string marker = **ReadMarker(home);
  Run(plan);
  ASSERT_TRUE(WriteMarker(home, marker));
  const auto again = PlanDownsample(more);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->stages.empty());
  EXPECT_EQ(*ReadMarker(home), std::nullopt);
  EXPECT_EQ(Open(Path("vol")).info().scales.size(), 2u);
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

TEST_F(VolumePlans, FindsAChunkOfTheWrongShape) {
  IngestRequest request = Ingest({20, 16, 8}, "vol");
  request.storage.sharded = false;
  request.storage.encoding = EncodingSpec{.encoding = Encoding::kRaw};
  request.pyramid.scales = 0;
  Run(PlanIngest(request));
  std::ofstream(Path("vol/4_4_8/5-21_-3-13_0-8"), std::ios::binary) << "short";
  std::ofstream(Path("vol/4_4_8/1-2_3-4_5-6"), std::ios::binary) << "stray";
  std::vector<std::string> findings;
  const auto report =
      VerifyVolume(BuiltinFormats(), Open(Path("vol")), {}, [&](const Finding& finding) {
        findings.push_back(finding.kind + " " + finding.key + " " + finding.message);
      });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->errors, 2u);
  EXPECT_THAT(findings, ::testing::Contains(HasSubstr("voxels 5-21_-3-13_0-8")));
  EXPECT_THAT(findings, ::testing::Contains(HasSubstr("no chunk of the grid")));
}

}  // namespace
}  // namespace dolium::volume
