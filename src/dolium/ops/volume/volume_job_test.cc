// Volume plans that are killed and asked for again, run in any order, or dropped.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/testing/volume_plan_fixture.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium::volume {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class VolumeJobs : public VolumePlanTest {};

TEST_F(VolumeJobs, ResumesWhereItWasKilled) {
  const Vec3 size = {50, 37, 20};
  const IngestRequest request = Ingest(size, "vol");
  const auto plan = PlanIngest(request);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_GT(plan->stages[0].size(), 2u);
  ASSERT_TRUE(RunTask(BuiltinFormats(), plan->stages[0][0], {}));
  ASSERT_TRUE(RunTask(BuiltinFormats(), plan->stages[0][1], {}));
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
  const JobReport report = Run(rest);
  EXPECT_EQ(report.parts_done_before, 2u);
  ExpectValues(Open(Path("vol")), size);
  ExpectGood(Open(Path("vol")));
}

TEST_F(VolumeJobs, IsNotFinishedBeforeAllPartsAreDone) {
  const auto plan = PlanIngest(Ingest({50, 37, 20}, "vol"));
  ASSERT_TRUE(plan);
  ASSERT_TRUE(RunTask(BuiltinFormats(), plan->stages[0][0], {}));
  const auto report = FinishJob(BuiltinFormats(), Must(ParseLocation(plan->folder)), {});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("is not done; run its task"));
}

TEST_F(VolumeJobs, DoesNotDownsampleWhatIsNotThereYet) {
  const auto plan = PlanIngest(Ingest({50, 37, 20}, "vol"));
  ASSERT_TRUE(plan);
  ASSERT_TRUE(RunTask(BuiltinFormats(), plan->stages[0][0], {}));
  const auto early = RunTask(BuiltinFormats(), plan->stages[1][0], {});
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(early.error().message,
              HasSubstr("part 8 of stage 1 needs part 1 of stage 0, "
                        "which is not done yet"));
  for (const std::string& task : plan->stages[0])
    ASSERT_TRUE(RunTask(BuiltinFormats(), task, {}));
  EXPECT_TRUE(RunTask(BuiltinFormats(), plan->stages[1][0], {}));
}

TEST_F(VolumeJobs, NoticesThatTheSourceHasChanged) {
  const auto plan = PlanIngest(Ingest({20, 20, 8}, "vol"));
  ASSERT_TRUE(plan);
  fs::last_write_time(Path("in.raw"),
                      fs::last_write_time(Path("in.raw")) + std::chrono::seconds(5));
  const auto done = RunTask(BuiltinFormats(), plan->stages[0][0], {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kConflict);
}

TEST_F(VolumeJobs, ResumesADownsamplingThatWasKilled) {
  IngestRequest request = Ingest({50, 37, 20}, "vol");
  request.pyramid.scales = 0;
  Run(PlanIngest(request));
  DownsampleRequest more;
  more.volume = Path("vol");
  more.pyramid.scales = 2;
  const auto plan = PlanDownsample(more);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_TRUE(RunTask(BuiltinFormats(), plan->stages[0][0], {}));
  const auto rest = PlanDownsample(more);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->parts_done, 1u);
  Run(rest);
  EXPECT_EQ(Open(Path("vol")).info().scales.size(), 3u);
  ExpectGood(Open(Path("vol")));
}

TEST_F(VolumeJobs, OnlyTidiesUpAfterADownsamplingThatWasKilledAtTheVeryEnd) {
  IngestRequest request = Ingest({50, 37, 20}, "vol");
  request.pyramid.scales = 0;
  Run(PlanIngest(request));
  DownsampleRequest more;
  more.volume = Path("vol");
  more.pyramid.scales = 1;
  const auto plan = PlanDownsample(more);
  ASSERT_TRUE(plan) << plan.error().message;
  const Location job_folder = *ParseLocation(plan->folder);
  const std::string marker = **ReadMarker(job_folder);
  Run(plan);
  ASSERT_TRUE(WriteMarker(job_folder, marker));
  const auto again = PlanDownsample(more);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->parts_done, plan->parts);
  Run(again);
  EXPECT_EQ(*ReadMarker(job_folder), std::nullopt);
  EXPECT_EQ(Open(Path("vol")).info().scales.size(), 2u);
}

// 7 shards in a row, of which the coarser scale makes 2.
const Vec3 kLong = {400, 20, 8};

TEST_F(VolumeJobs, RunATaskAsSoonAsWhatItNeedsIsDone) {
  const IngestRequest request = Ingest(kLong, "vol");
  const auto plan = PlanIngest(request);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->stages[0].size(), 7u);
  ASSERT_EQ(plan->stages[1].size(), 2u);
  for (size_t i = 0; i < 5; ++i)
    ASSERT_TRUE(RunTask(BuiltinFormats(), plan->stages[0][i], {}));
  const auto first = RunTask(BuiltinFormats(), plan->stages[1][0], {});
  EXPECT_TRUE(first) << first.error().message;
  const auto second = RunTask(BuiltinFormats(), plan->stages[1][1], {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  Run(PlanIngest(request));
  ExpectValues(Open(Path("vol")), kLong);
  ExpectGood(Open(Path("vol")));
}

TEST_F(VolumeJobs, RefuseATaskWhosePartIsAnother) {
  const auto plan = PlanIngest(Ingest(kLong, "vol"));
  ASSERT_TRUE(plan) << plan.error().message;
  std::string task = plan->stages[0][1];
  const std::string part = "\"part\":1";
  ASSERT_NE(task.find(part), std::string::npos) << task;
  task.replace(task.find(part), part.size(), "\"part\":2");
  const auto done = RunTask(BuiltinFormats(), task, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(done.error().message, HasSubstr("are not part 2 of stage 0"));
}

// --- dropping a downsampling
// ------------------------------------------------------------

TEST_F(VolumeJobs, DropADownsamplingThatWasKilledIfForced) {
  IngestRequest request = Ingest({50, 37, 20}, "vol");
  request.pyramid.scales = 0;
  Run(PlanIngest(request));
  DownsampleRequest killed;
  killed.volume = Path("vol");
  killed.pyramid.scales = 2;
  const auto plan = PlanDownsample(killed);
  ASSERT_TRUE(plan) << plan.error().message;
  for (const std::string& task : plan->stages[0])
    ASSERT_TRUE(RunTask(BuiltinFormats(), task, {}));
  ASSERT_TRUE(RunTask(BuiltinFormats(), plan->stages[1][0], {}));
  ASSERT_TRUE(fs::exists(Path("vol/8_8_8/.dolium-unfinished")));
  ASSERT_TRUE(fs::exists(Path("vol/16_16_16")));

  // The same scale in another way; and one that is at the place of the second.
  DownsampleRequest other = killed;
  other.pyramid.scales = 1;
  DownsampleRequest coarser = other;
  coarser.pyramid.factor = Vec3{4, 4, 2};
  for (DownsampleRequest* wish : {&other, &coarser}) {
    const auto refused = PlanDownsample(*wish);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kExists);
    EXPECT_EQ(refused.error().hint, Hint::kReplace);
    wish->force = true;
  }
  // The same request goes on, forced or not.
  killed.force = true;
  const auto rest = PlanDownsample(killed);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_GT(rest->parts_done, 0u);

  const auto forced = PlanDownsample(coarser);
  ASSERT_TRUE(forced) << forced.error().message;
  EXPECT_EQ(forced->parts_done, 0u);
  EXPECT_FALSE(fs::exists(Path("vol/8_8_8")));
  Run(forced);
  const Volume volume = Open(Path("vol"));
  ASSERT_EQ(volume.info().scales.size(), 2u);
  EXPECT_EQ(volume.info().scales[1].key, "16_16_16");
  ExpectGood(volume);
  // A task of the job that was dropped does nothing.
  const auto orphan = RunTask(BuiltinFormats(), plan->stages[0][0], {});
  ASSERT_FALSE(orphan);
  EXPECT_FALSE(fs::exists(Path("vol/8_8_8")));
}

TEST_F(VolumeJobs, DropNothingThatIsNoUnfinishedScale) {
  IngestRequest request = Ingest({50, 37, 20}, "vol");
  request.pyramid.scales = 0;
  Run(PlanIngest(request));
  fs::create_directories(Path("vol/8_8_8"));
  std::ofstream(Path("vol/8_8_8/notes.txt")) << "mine";
  DownsampleRequest more;
  more.volume = Path("vol");
  more.force = true;
  const auto refused = PlanDownsample(more);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("all else is to be moved away"));
  EXPECT_TRUE(fs::exists(Path("vol/8_8_8/notes.txt")));
  EXPECT_TRUE(fs::exists(Path("vol/4_4_8")));
}

// --- swaps that were cut short
// ----------------------------------------------------------

class VolumeSwaps : public VolumePlanTest {
 protected:
  // A volume, and a request to replace it.
  VolumeSwaps() {
    Run(PlanIngest(Ingest({20, 20, 9}, "vol")));
    again_ = Ingest({24, 20, 9}, "vol");
    again_.force = true;
  }

  // The work is done, but something is in the way of the swap.
  void FailToSwap() {
    const auto plan = PlanIngest(again_);
    ASSERT_TRUE(plan) << plan.error().message;
    fs::rename(Path("vol"), Path("saved"));
    std::ofstream(Path("vol")) << "in the way";
    EXPECT_FALSE(RunPlan(BuiltinFormats(), *plan, {}));
    EXPECT_FALSE(fs::exists(Path("vol.dolium-new/.dolium-unfinished")));
    fs::remove(Path("vol"));
    fs::rename(Path("saved"), Path("vol"));
  }

  IngestRequest again_;
};

TEST_F(VolumeSwaps, AreMadeUpForWithoutRepeatingTheWork) {
  FailToSwap();
  ExpectValues(Open(Path("vol")), {20, 20, 9});
  const auto rest = PlanIngest(again_);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_GT(rest->parts, 0u);
  EXPECT_EQ(rest->parts_done, rest->parts);
  Run(rest);
  ExpectValues(Open(Path("vol")), {24, 20, 9});
  ExpectGood(Open(Path("vol")));
  EXPECT_FALSE(fs::exists(Path("vol.dolium-new")));
  EXPECT_FALSE(fs::exists(Path("vol/.dolium-plan")));
}

TEST_F(VolumeSwaps, BeginAnewIfTheSourceHasChanged) {
  FailToSwap();
  fs::last_write_time(Path("in.raw"),
                      fs::last_write_time(Path("in.raw")) + std::chrono::seconds(5));
  const auto again = PlanIngest(again_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->parts_done, 0u);
  // The same for a job that is not complete.
  fs::last_write_time(Path("in.raw"),
                      fs::last_write_time(Path("in.raw")) + std::chrono::seconds(5));
  ASSERT_TRUE(PlanIngest(again_));
  Run(PlanIngest(again_));
  ExpectValues(Open(Path("vol")), {24, 20, 9});
}

TEST_F(VolumeSwaps, AreOnlyTidiedUpAfterIfKilledWhenDone) {
  FailToSwap();
  // As the kill would have left it after the exchange of the folders.
  fs::rename(Path("vol"), Path("old"));
  fs::rename(Path("vol.dolium-new"), Path("vol"));
  fs::rename(Path("old"), Path("vol.dolium-new"));
  ExpectValues(Open(Path("vol")), {24, 20, 9});
  const auto rest = PlanIngest(again_);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->parts_done, rest->parts);
  EXPECT_GT(Run(rest).written.entries, 0u);
  EXPECT_FALSE(fs::exists(Path("vol.dolium-new")));
  EXPECT_FALSE(fs::exists(Path("vol/.dolium-plan")));
  ExpectValues(Open(Path("vol")), {24, 20, 9});
  // From then on, the request is a new one.
  const auto again = PlanIngest(again_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->parts_done, 0u);
}

}  // namespace
}  // namespace dolium::volume
