#include "dolium/ops/volume/volume_rebuild.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/testing/volume_plan_fixture.h"
#include "dolium/ops/volume/volume_drop.h"

namespace dolium::volume {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Rebuilding : public VolumePlanTest {
 protected:
  // A volume of three scales, in files or in shards, and its edited copy in `changed`.
  void Make(bool sharded, bool gzip = false) {
    IngestRequest request = Ingest(kSize, "vol");
    request.storage.sharded = sharded;
    request.storage.wrapper = gzip ? Wrapper::kGzip : Wrapper::kNone;
    request.pyramid.scales = 2;
    Run(PlanIngest(request));
    request_.volume = Path("vol");
    request_.rebuild = true;
  }

  // Other voxels in a corner of scale 0, with a label that was nowhere.
  void Edit(uint32_t label = 7777) {
    const Volume volume = Open(Path("vol"));
    const auto scale = Must(volume.OpenCopy(0));
    const Box box = {scale->bounds().begin, {25, 17, 8}};
    const std::vector<uint32_t> voxels(static_cast<size_t>(*scale->ShapeOf(box).voxels()),
                                       label);
    Must(scale->Write(
        box, VoxelView::Dense(scale->ShapeOf(box),
                              reinterpret_cast<const std::byte*>(voxels.data()))));
  }

  // What a new pyramid of the voxels has.
  std::vector<std::vector<uint32_t>> Expected() {
    fs::remove_all(Path("expected"));
    fs::copy(Path("vol"), Path("expected"), fs::copy_options::recursive);
    fs::remove_all(Path("expected/.dolium-rebuild"));
    Must(DropScales({.volume = Path("expected"), .scales = {size_t{1}, size_t{2}}}));
    DownsampleRequest request;
    request.volume = Path("expected");
    request.total_scales = 3;
    Run(PlanDownsample(request));
    return Scales("expected");
  }

  std::vector<std::vector<uint32_t>> Scales(const std::string& name) {
    const Volume volume = Open(Path(name));
    std::vector<std::vector<uint32_t>> all;
    for (size_t i = 0; i < volume.info().scales.size(); ++i) {
      all.push_back(ReadAll(volume, i));
    }
    return all;
  }

  std::vector<std::string> Bookkeeping() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(Path("vol"))) {
      const std::string name = entry.path().filename();
      if (name.starts_with(".dolium")) found.push_back(name);
    }
    return found;
  }

  static std::string Text(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  static constexpr Vec3 kSize = {50, 37, 20};
  DownsampleRequest request_;
};

TEST_F(Rebuilding, MakesThePyramidOfEditedVoxels) {
  for (const bool sharded : {true, false}) {
    SCOPED_TRACE(sharded);
    fs::remove_all(Path("vol"));
    Make(sharded, /*gzip=*/!sharded);
    const std::string info = Text(Path("vol/info"));
    const auto before = Scales("vol");
    Edit();
    const auto expected = Expected();
    EXPECT_EQ(Scales("vol")[1], before[1]);  // stale
    ASSERT_NE(expected[1], before[1]);
    const JobReport report = Run(PlanDownsample(request_));
    EXPECT_EQ(report.target, Path("vol"));
    EXPECT_EQ(Scales("vol"), expected);
    EXPECT_EQ(Text(Path("vol/info")), info);
    EXPECT_THAT(Bookkeeping(), IsEmpty());
    ExpectGood(Open(Path("vol")));
  }
}

TEST_F(Rebuilding, KeepsGzipAndDropsChunksThatAreThereNoMore) {
  Make(/*sharded=*/false, /*gzip=*/true);
  // All voxels are gone, and so are their chunks.
  for (const auto& entry : fs::directory_iterator(Path("vol/4_4_8"))) {
    fs::remove(entry.path());
  }
  Edit();
  Run(PlanDownsample(request_));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(Path("vol/8_8_8"))) {
    names.push_back(entry.path().filename());
  }
  // None of z from 8 on.
  EXPECT_THAT(names, UnorderedElementsAre("2-18_-2-14_0-8.gz", "18-28_-2-14_0-8.gz",
                                          "2-18_14-17_0-8.gz", "18-28_14-17_0-8.gz"));
}

TEST_F(Rebuilding, WritesEveryCopyInSeveralChunkSizes) {
  Make(/*sharded=*/false);
  Must(UpdateInfo(*ParseLocation(Path("vol")), [](VolumeInfo info) -> Result<VolumeInfo> {
    info.scales[1].chunk_sizes.push_back({8, 8, 8});
    return info;
  }));
  Edit();
  const auto plan = PlanDownsample(request_);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->stages.size(), 3u);
  EXPECT_EQ(plan->scales, 2u);
  Run(plan);
  const Volume volume = Open(Path("vol"));
  const auto second = Must(volume.OpenCopy(1, 1));
  std::vector<uint32_t> voxels(*second->ShapeOf(second->bounds()).voxels());
  Must(second->Read(second->bounds(),
                    MutableVoxelView::Dense(second->ShapeOf(second->bounds()),
                                            reinterpret_cast<std::byte*>(voxels.data())),
                    {.missing_is_error = true}));
  EXPECT_EQ(voxels, ReadAll(volume, 1));
}

TEST_F(Rebuilding, IsBoundToTheStateOfItsSource) {
  Make(/*sharded=*/true);
  Edit();
  const auto before = Scales("vol");
  const auto plan = PlanDownsample(request_);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_TRUE(RunTask(BuiltinFormats(), plan->stages[0][0], {}));
  Edit(8888);
  const auto done = RunPlan(BuiltinFormats(), *plan, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kConflict);
  EXPECT_EQ(Scales("vol")[1], before[1]);
  const auto again = PlanDownsample(request_);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  EXPECT_THAT(again.error().message, HasSubstr("its source has changed"));
  const auto expected = Expected();
  request_.force = true;
  Run(PlanDownsample(request_));
  EXPECT_EQ(Scales("vol"), expected);
  EXPECT_THAT(Bookkeeping(), IsEmpty());
}

TEST_F(Rebuilding, IsCompletedByTheSameRequestWhereverTheSwapWasKilled) {
  for (const bool exchange : {true, false}) {
    // A note, then two scales: moved aside (without exchange), swapped, old ones removed.
    const int steps = exchange ? 5 : 7;
    for (int kill_at = 1; kill_at <= steps; ++kill_at) {
      SCOPED_TRACE(testing::Message() << exchange << " " << kill_at);
      fs::remove_all(Path("vol"));
      Make(/*sharded=*/true);
      Edit();
      const auto expected = Expected();
      const auto plan = PlanDownsample(request_);
      ASSERT_TRUE(plan) << plan.error().message;
      for (const auto& stage : plan->stages) {
        for (const std::string& task : stage) {
          ASSERT_TRUE(RunTask(BuiltinFormats(), task, {}));
        }
      }
      const Location job_folder = *ParseLocation(plan->folder);
      const VolumeJob job =
          Must(ParseVolumeJob(Must(PlanFolder(job_folder).Load()).record->parameters));
      const pid_t child = fork();
      if (child == 0) {
        int step = 0;
        const ScaleSwapOptions options = {exchange, [&] {
                                            if (++step == kill_at) _exit(9);
                                          }};
        static_cast<void>(SwapRebuiltScales(job, *ParseLocation(Path("vol")), options));
        _exit(0);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_EQ(WEXITSTATUS(status), 9) << "the step was not reached";
      Run(PlanDownsample(request_));
      EXPECT_EQ(Scales("vol"), expected);
      EXPECT_THAT(Bookkeeping(), IsEmpty());
    }
  }
}

// What was made of one state is put in its place before it is made again.
TEST_F(Rebuilding, BeginsAgainAfterAnOtherOneThatWasComplete) {
  Make(/*sharded=*/true);
  Edit();
  const auto plan = PlanDownsample(request_);
  ASSERT_TRUE(plan) << plan.error().message;
  const pid_t child = fork();
  if (child == 0) {
    RunOptions options;
    options.at_step = [](JobStep step) {
      if (step == JobStep::kClosed) _exit(9);
    };
    static_cast<void>(RunPlan(BuiltinFormats(), *plan, options).has_value());
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 9);
  Edit(8888);
  const auto expected = Expected();
  Run(PlanDownsample(request_));
  EXPECT_EQ(Scales("vol"), expected);
  EXPECT_THAT(Bookkeeping(), IsEmpty());
}

TEST_F(Rebuilding, RefusesScalesThatFollowFromNone) {
  Make(/*sharded=*/true);
  Must(UpdateInfo(*ParseLocation(Path("vol")), [](VolumeInfo info) -> Result<VolumeInfo> {
    info.scales[2].resolution = {12, 12, 12};
    return info;
  }));
  const auto plan = PlanDownsample(request_);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(plan.error().message,
              HasSubstr("scale 2 (16_16_16) does not stand for any"));
}

TEST_F(Rebuilding, HasNothingToDoWithoutCoarserScales) {
  IngestRequest request = Ingest({20, 16, 8}, "vol");
  request.pyramid.scales = 0;
  Run(PlanIngest(request));
  request_.volume = Path("vol");
  request_.rebuild = true;
  const auto plan = PlanDownsample(request_);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->folder, "");
}

TEST_F(Rebuilding, DownsamplesToSoManyScalesInAllAndNotAgain) {
  IngestRequest request = Ingest(kSize, "vol");
  request.pyramid.scales = 0;
  Run(PlanIngest(request));
  DownsampleRequest more;
  more.volume = Path("vol");
  more.total_scales = 3;
  for (int i = 0; i < 2; ++i) {
    const auto plan = PlanDownsample(more);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->stages.size(), i == 0 ? 2u : 0u);
    ASSERT_TRUE(RunPlan(BuiltinFormats(), *plan, {}));
    EXPECT_EQ(Open(Path("vol")).info().scales.size(), 3u);
  }
  // Nor if it begins with the first one: those that are there are passed over.
  more.from = 0;
  more.total_scales = 4;
  Run(PlanDownsample(more));
  const Volume volume = Open(Path("vol"));
  ASSERT_EQ(volume.info().scales.size(), 4u);
  EXPECT_EQ(volume.info().scales[3].key, "32_32_32");
}

// --- dropping ---------------------------------------------------------------

TEST_F(Rebuilding, DropsAScaleFromTheInfoAndItsData) {
  Make(/*sharded=*/true);
  const auto report =
      DropScales({.volume = Path("vol"), .scales = {Resolution{8, 8, 8}}});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->keys, ElementsAre("8_8_8"));
  EXPECT_EQ(report->scales, 2u);
  EXPECT_FALSE(fs::exists(Path("vol/8_8_8")));
  EXPECT_THAT(Bookkeeping(), IsEmpty());
  const Volume volume = Open(Path("vol"));
  ASSERT_EQ(volume.info().scales.size(), 2u);
  EXPECT_EQ(volume.info().scales[1].key, "16_16_16");
  ExpectGood(volume);
}

TEST_F(Rebuilding, RefusesToDropWhatIsNotToBeLost) {
  Make(/*sharded=*/true);
  const auto drop = [&](std::vector<ScaleName> scales, bool force = false) {
    const auto dropped =
        DropScales({.volume = Path("vol"), .scales = std::move(scales), .force = force});
    EXPECT_EQ(Open(Path("vol")).info().scales.size(), 3u);
    return dropped ? std::string("dropped") : dropped.error().message;
  };
  EXPECT_THAT(drop({size_t{0}}),
              HasSubstr("scale 0 is the one that the others stand for"));
  EXPECT_THAT(drop({size_t{0}, size_t{1}, size_t{2}}, true),
              HasSubstr("keeps at least one scale"));
  EXPECT_THAT(drop({size_t{3}}), HasSubstr("no scale 3; the last one is 2"));
  EXPECT_THAT(drop({Resolution{9, 9, 9}}),
              HasSubstr("no scale has a resolution of 9,9,9"));
  std::ofstream(Path("vol/8_8_8/notes.txt")) << "mine";
  EXPECT_THAT(drop({size_t{1}}), HasSubstr("holds \"notes.txt\", which is not part"));
  EXPECT_TRUE(fs::exists(Path("vol/8_8_8/0.shard")));
  fs::create_directory(Path("vol/8_8_8/inner"));
  Must(UpdateInfo(*ParseLocation(Path("vol")), [](VolumeInfo info) -> Result<VolumeInfo> {
    info.mesh = "8_8_8/inner";
    return info;
  }));
  EXPECT_THAT(drop({size_t{1}}), HasSubstr("also has \"8_8_8/inner\""));
}

TEST_F(Rebuilding, CompletesADropThatWasKilled) {
  for (int kill_at = 1; kill_at <= 3; ++kill_at) {
    SCOPED_TRACE(kill_at);
    fs::remove_all(Path("vol"));
    Make(/*sharded=*/true);
    DropScalesRequest request{.volume = Path("vol"), .scales = {size_t{1}}};
    const pid_t child = fork();
    if (child == 0) {
      int step = 0;
      request.after_step = [&] {
        if (++step == kill_at) _exit(9);
      };
      static_cast<void>(DropScales(request).has_value());
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(WEXITSTATUS(status), 9);
    // Another request does not go on from what it has not seen.
    if (kill_at == 2) {
      const auto other = DropScales({.volume = Path("vol"), .scales = {size_t{2}}});
      ASSERT_FALSE(other);
      EXPECT_EQ(other.error().code, ErrorCode::kConflict);
      EXPECT_THAT(other.error().message, HasSubstr("now it is complete (8_8_8)"));
    } else {
      const auto again = DropScales(request);
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_THAT(again->keys, ElementsAre("8_8_8"));
    }
    const Volume volume = Open(Path("vol"));
    ASSERT_EQ(volume.info().scales.size(), 2u);
    EXPECT_EQ(volume.info().scales[1].key, "16_16_16");
    EXPECT_FALSE(fs::exists(Path("vol/8_8_8")));
    EXPECT_THAT(Bookkeeping(), IsEmpty());
  }
}

}  // namespace
}  // namespace dolium::volume
