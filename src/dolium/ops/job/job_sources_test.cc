// Every kind of job whose source changes, between two runs or while it runs: what comes
// of it is an error, and never made of two states.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/convert.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/testing/convert_fixture.h"
#include "dolium/ops/volume/dvid_write.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium {
namespace {

using testing::HasSubstr;
using TaskLines = std::vector<std::string>;

// What is asked for, from `source` in the folder of the test.
struct Wanted {
  std::string folder;
  std::string target;
  bool force = false;

  std::string Path(const std::string& name) const { return folder + "/" + name; }
};

struct WantedKind {
  const char* name;
  // Makes `source`, and `other`: the same files with other values.
  void (*prepare)(const Wanted& work);
  // The tasks of its first stage.
  Result<TaskLines> (*plan)(const Wanted& work);
  Result<WriteSummary> (*run)(const Wanted& work, const RunOptions& options);
  // Whether `run` begins the job and runs it, so that it begins again by itself.
  bool begins_again = false;
  bool is_in_target = false;  // the source is a scale of the volume that it adds to
  bool has_many_files = true;
  bool is_toy = false;
  std::string_view data = {};  // what the files that change begin with

  Formats formats() const { return is_toy ? Formats(kFormats) : BuiltinFormats(); }
};

// --- conversions

ConvertRequest WantedConversion(const Wanted& work) {
  ConvertRequest request;
  request.source = work.Path("source");
  request.target = work.target;
  request.force = work.force;
  return request;
}

ConvertRequest WantedToys(const Wanted& work) {
  ConvertRequest request = WantedConversion(work);
  request.parameters["parts"] = "5";
  return request;
}

void PrepareToys(const Wanted& work) {
  WriteSet(work.Path("source"), 3, MakeValues(200, 1));
  Values other = MakeValues(200, 1);
  for (auto& [key, value] : other) value += "new";
  WriteSet(work.Path("other"), 3, other);
}

void PrepareFolders(const Wanted& work) {
  for (int i = 0; i < 100; ++i) {
    WriteText(work.Path(fmt::format("source/{:03}", i)), fmt::format("old {}", i));
    WriteText(work.Path(fmt::format("other/{:03}", i)), fmt::format("new {}", i));
  }
}

template <ConvertRequest (*kRequest)(const Wanted&), bool kIsToy>
Result<TaskLines> TasksOfConversion(const Wanted& work) {
  const Formats formats = kIsToy ? Formats(kFormats) : BuiltinFormats();
  DOLIUM_TRY(const Plan plan, PlanConvert(formats, kRequest(work), {}));
  return plan.tasks();
}

template <ConvertRequest (*kRequest)(const Wanted&), bool kIsToy>
Result<WriteSummary> RunConversion(const Wanted& work, const RunOptions& options) {
  const Formats formats = kIsToy ? Formats(kFormats) : BuiltinFormats();
  DOLIUM_TRY(const auto report, Convert(formats, kRequest(work), options));
  return report.written;
}

// --- volumes

volume::IngestRequest WantedIngest(const Wanted& work) {
  volume::IngestRequest request;
  request.source.path = work.Path("source/in.raw");
  request.source.raw = volume::RawLayout{.shape = {160, 64, 32},
                                         .type = volume::NumberType::kUint32,
                                         .offset = std::nullopt};
  request.target = work.target;
  request.storage.chunk_size = volume::Vec3{32, 32, 32};
  request.storage.shard_bytes = 256 << 10;
  request.pyramid.scales = 1;
  request.force = work.force;
  return request;
}

void PrepareArrays(const Wanted& work) {
  for (const std::string of : {"source", "other"}) {
    std::vector<uint32_t> voxels(size_t{160} * 64 * 32);
    for (uint32_t i = 0; i < voxels.size(); ++i) {
      voxels[i] = (of == "source" ? 1 : 2) + i / 7;
    }
    fs::create_directories(work.Path(of));
    std::ofstream(work.Path(of + "/in.raw"), std::ios::binary)
        .write(reinterpret_cast<const char*>(voxels.data()),
               static_cast<std::streamsize>(voxels.size() * sizeof(uint32_t)));
  }
}

template <bool kSharded>
void PrepareVolumes(const Wanted& work) {
  const Wanted arrays{work.Path("arrays"), {}};
  PrepareArrays(arrays);
  for (const std::string of : {"source", "other"}) {
    volume::IngestRequest request = WantedIngest(work);
    request.source.path = arrays.Path(of + "/in.raw");
    request.target = work.Path(of);
    request.storage.sharded = kSharded;
    request.pyramid.scales = 0;
    Must(RunPlan(BuiltinFormats(), Must(PlanIngest(request)), {}));
  }
}

void PrepareExports(const Wanted& work) {
  const Wanted volumes{work.Path("volumes"), {}};
  PrepareVolumes<true>(volumes);
  for (const std::string of : {"source", "other"}) {
    volume::DvidWriteRequest request;
    request.source = volumes.Path(of);
    request.target = work.Path(of);
    request.shard_side = 64;
    Must(WriteDvidExport(request, {}));
  }
}

Result<Plan> PlanWantedIngest(const Wanted& work) {
  return PlanIngest(WantedIngest(work));
}

Result<Plan> PlanWantedTranscode(const Wanted& work) {
  volume::TranscodeRequest request;
  request.source = work.Path("source");
  request.target = work.target;
  request.storage.encoding = volume::EncodingSpec{.encoding = volume::Encoding::kRaw};
  request.sharded = true;
  request.storage.shard_bytes = 256 << 10;
  request.force = work.force;
  return PlanTranscode(request);
}

Result<Plan> PlanWantedDownsample(const Wanted& work) {
  volume::DownsampleRequest request;
  request.volume = work.target;
  request.from = 0;
  request.pyramid.scales = 2;
  request.pyramid.factor = volume::Vec3{2, 2, 1};
  request.storage.shard_bytes = 128 << 10;
  request.force = work.force;
  return PlanDownsample(request);
}

using PlanFunction = Result<Plan> (*)(const Wanted&);

template <PlanFunction kPlan>
Result<TaskLines> TasksOfScales(const Wanted& work) {
  DOLIUM_TRY(const Plan plan, kPlan(work));
  return plan.stages.front();
}

template <PlanFunction kPlan>
Result<WriteSummary> RunScales(const Wanted& work, const RunOptions& options) {
  DOLIUM_TRY(const Plan plan, kPlan(work));
  DOLIUM_TRY(const auto report, RunPlan(BuiltinFormats(), plan, options));
  return report.written;
}

Result<Plan> PlanWantedRebuild(const Wanted& work) {
  volume::DownsampleRequest request;
  request.volume = work.target;
  request.rebuild = true;
  request.force = work.force;
  return PlanDownsample(request);
}

// With a coarser scale.
void PreparePyramids(const Wanted& work) {
  PrepareVolumes<true>(work);
  for (const std::string of : {"source", "other"}) {
    Wanted volume{work.folder, work.Path(of)};
    Must(RunPlan(BuiltinFormats(), Must(PlanWantedDownsample(volume)), {}));
  }
}

void PrepareMeshes(const Wanted& work) {
  PrepareVolumes<true>(work);
  for (const std::string of : {"source", "other"}) {
    for (int i = 0; i < 30; ++i) {
      WriteText(work.Path(fmt::format("{}/mesh/{:02}:0:1", of, i)),
                fmt::format("{} mesh {}", of, i));
    }
    std::string info = ReadText(work.Path(of + "/info"));
    info.insert(info.find('{') + 1, R"("mesh": "mesh", )");
    WriteText(work.Path(of + "/info"), info);
  }
}

template <PlanFunction kPlan>
Result<WriteSummary> RunAtOnce(const Wanted& work, const RunOptions& options) {
  Wanted asked = work;
  DOLIUM_TRY(const auto report, PlanAndRun(
                                    BuiltinFormats(),
                                    [&](bool again) {
                                      asked.force |= again;
                                      return kPlan(asked);
                                    },
                                    options));
  return report.written;
}

volume::DvidWriteRequest WantedExport(const Wanted& work) {
  volume::DvidWriteRequest request;
  request.source = work.Path("source");
  request.target = work.target;
  request.shard_side = 64;
  request.force = work.force;
  return request;
}

Result<TaskLines> TasksOfExport(const Wanted& work) {
  DOLIUM_TRY(const Plan plan, PlanDvidExport(WantedExport(work)));
  return plan.tasks();
}

Result<WriteSummary> RunExport(const Wanted& work, const RunOptions& options) {
  DOLIUM_TRY(const auto report, WriteDvidExport(WantedExport(work), options));
  return report.written;
}

constexpr WantedKind kWantedKinds[] = {
    {.name = "convert_shards",
     .prepare = PrepareToys,
     .plan = TasksOfConversion<WantedToys, true>,
     .run = RunConversion<WantedToys, true>,
     .begins_again = true,
     .has_many_files = false,
     .is_toy = true},
    {.name = "convert_files",
     .prepare = PrepareFolders,
     .plan = TasksOfConversion<WantedConversion, false>,
     .run = RunConversion<WantedConversion, false>,
     .begins_again = true},
    {.name = "ingest",
     .prepare = PrepareArrays,
     .plan = TasksOfScales<PlanWantedIngest>,
     .run = RunScales<PlanWantedIngest>,
     .has_many_files = false},
    {.name = "transcode_shards",
     .prepare = PrepareVolumes<true>,
     .plan = TasksOfScales<PlanWantedTranscode>,
     .run = RunScales<PlanWantedTranscode>},
    {.name = "transcode_files",
     .prepare = PrepareVolumes<false>,
     .plan = TasksOfScales<PlanWantedTranscode>,
     .run = RunScales<PlanWantedTranscode>},
    {.name = "transcode_export",
     .prepare = PrepareExports,
     .plan = TasksOfScales<PlanWantedTranscode>,
     .run = RunScales<PlanWantedTranscode>},
    {.name = "downsample_shards",
     .prepare = PrepareVolumes<true>,
     .plan = TasksOfScales<PlanWantedDownsample>,
     .run = RunScales<PlanWantedDownsample>,
     .is_in_target = true},
    {.name = "downsample_files",
     .prepare = PrepareVolumes<false>,
     .plan = TasksOfScales<PlanWantedDownsample>,
     .run = RunScales<PlanWantedDownsample>,
     .is_in_target = true},
    {.name = "rebuild",
     .prepare = PreparePyramids,
     .plan = TasksOfScales<PlanWantedRebuild>,
     .run = RunScales<PlanWantedRebuild>,
     .is_in_target = true,
     .data = "1_1_1/"},
    // Not its scales, but what lies beside them.
    {.name = "transcode_mesh",
     .prepare = PrepareMeshes,
     .plan = TasksOfScales<PlanWantedTranscode>,
     .run = RunScales<PlanWantedTranscode>,
     .data = "mesh/"},
    {.name = "transcode_at_once",
     .prepare = PrepareVolumes<true>,
     .plan = TasksOfScales<PlanWantedTranscode>,
     .run = RunAtOnce<PlanWantedTranscode>,
     .begins_again = true},
    {.name = "downsample_at_once",
     .prepare = PrepareVolumes<true>,
     .plan = TasksOfScales<PlanWantedDownsample>,
     .run = RunAtOnce<PlanWantedDownsample>,
     .begins_again = true,
     .is_in_target = true},
    {.name = "export_shards",
     .prepare = PrepareVolumes<true>,
     .plan = TasksOfExport,
     .run = RunExport,
     .begins_again = true},
    {.name = "export_files",
     .prepare = PrepareVolumes<false>,
     .plan = TasksOfExport,
     .run = RunExport,
     .begins_again = true},
    {.name = "export_export",
     .prepare = PrepareExports,
     .plan = TasksOfExport,
     .run = RunExport,
     .begins_again = true},
};

class JobSourcesTest : public testing::TestWithParam<WantedKind> {
 protected:
  enum class Change : uint8_t { kReplace, kAdd, kRemove };

  void SetUp() override {
    GetParam().prepare(work_);
    for (const auto& [name, text] : Files(work_.Path("source"))) {
      const bool is_data = name != "info" && name != "spec.json" &&
                           !name.ends_with("csv") && name.starts_with(GetParam().data);
      if (is_data) names_.push_back(name);
    }
    // One that can be added.
    if (GetParam().has_many_files) fs::remove(work_.Path("source/" + names_.back()));
  }

  std::vector<Change> Changes() const {
    if (!GetParam().has_many_files) return {Change::kReplace};
    return {Change::kReplace, Change::kAdd, Change::kRemove};
  }

  // Begins with a source that is as it was at first.
  void Restore() {
    fs::remove_all(work_.target);
    fs::remove_all(work_.Path("expected"));
    if (!fs::exists(work_.Path("saved"))) {
      fs::copy(work_.Path("source"), work_.Path("saved"), fs::copy_options::recursive);
    }
    fs::remove_all(work_.Path("source"));
    fs::copy(work_.Path("saved"), work_.Path("source"), fs::copy_options::recursive);
    work_.force = false;
    Begin(work_);
  }

  void Begin(const Wanted& work) const {
    if (!GetParam().is_in_target) return;
    fs::copy(work.Path("source"), work.target, fs::copy_options::recursive);
  }

  void Apply(Change change, const Wanted& work) const {
    const std::string to = GetParam().is_in_target ? work.target : work.Path("source");
    const std::string& name =
        change == Change::kAdd ? names_.back() : names_[names_.size() / 2];
    if (change == Change::kRemove) {
      fs::remove(to + "/" + name);
      return;
    }
    fs::copy(work.Path("other/" + name), work.Path("one"));
    fs::rename(work.Path("one"), to + "/" + name);
  }

  // The same request reports what has happened; a forced one makes all of the new state.
  void ExpectNoMixture(Change change) {
    const auto again = GetParam().run(work_, {});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::kConflict) << again.error().message;
    EXPECT_THAT(again.error().message,
                HasSubstr("its source has changed since the job began"));
    EXPECT_EQ(again.error().hint, Hint::kReplace);
    work_.force = true;
    const auto forced = GetParam().run(work_, {});
    ASSERT_TRUE(forced) << forced.error().message;
    ExpectNewState(change);
  }

  // The target is what a run makes of the source as it is now.
  void ExpectNewState(Change change) {
    const Wanted whole{work_.folder, work_.Path("expected")};
    Begin(whole);
    if (GetParam().is_in_target) Apply(change, whole);
    const auto expected = GetParam().run(whole, {});
    ASSERT_TRUE(expected) << expected.error().message;
    EXPECT_EQ(Files(work_.target), Files(whole.target));
  }

  const TemporaryFolder folder_{QuickFolder()};
  Wanted work_{folder_.path(), folder_.path() + "/target"};
  std::vector<std::string> names_;  // of the source's files
};

TEST_P(JobSourcesTest, AreNotMixedByARerun) {
  for (const Change change : Changes()) {
    SCOPED_TRACE(fmt::format("change {}", static_cast<int>(change)));
    Restore();
    const TaskLines tasks = Must(GetParam().plan(work_));
    ASSERT_FALSE(tasks.empty());
    Must(RunTask(GetParam().formats(), tasks.front(), {}));
    Apply(change, work_);
    ASSERT_NO_FATAL_FAILURE(ExpectNoMixture(change));
  }
}

TEST_P(JobSourcesTest, AreNotMixedIfTheyChangeMeanwhile) {
  for (const Change change : Changes()) {
    SCOPED_TRACE(fmt::format("change {}", static_cast<int>(change)));
    Restore();
    RunOptions options;
    options.writer.jobs = 1;
    bool has_changed = false;
    options.progress = [&](const Progress&) {
      if (!has_changed) Apply(change, work_);
      has_changed = true;
    };
    const auto done = GetParam().run(work_, options);
    ASSERT_TRUE(has_changed);
    if (GetParam().begins_again) {
      // This call began it, and so it has begun again.
      ASSERT_TRUE(done) << done.error().message;
      ExpectNewState(change);
      for (const std::string& name : Names(work_.folder)) {
        EXPECT_THAT(name, testing::Not(HasSubstr(".dolium"))) << "left behind";
      }
      continue;
    }
    ASSERT_FALSE(done);
    // An entry that is gone may be noticed as such.
    if (change != Change::kRemove) {
      EXPECT_EQ(done.error().code, ErrorCode::kConflict) << done.error().message;
    }
    ASSERT_NO_FATAL_FAILURE(ExpectNoMixture(change));
  }
}

// A source that never holds still: a bounded number of times, and then one error.
TEST_P(JobSourcesTest, AreGivenUpIfTheyChangeAgainAndAgain) {
  if (!GetParam().begins_again) return;
  Restore();
  const std::string states[] = {work_.Path("saved/" + names_[names_.size() / 2]),
                                work_.Path("other/" + names_[names_.size() / 2])};
  RunOptions options;
  options.writer.jobs = 1;
  uint64_t changes = 0;
  options.progress = [&](const Progress&) {
    const std::string to = GetParam().is_in_target ? work_.target : work_.Path("source");
    fs::copy(states[++changes % 2], work_.Path("one"));
    fs::rename(work_.Path("one"), to + "/" + names_[names_.size() / 2]);
  };
  const auto done = GetParam().run(work_, options);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kConflict);
  EXPECT_THAT(done.error().message,
              HasSubstr("changed since the job began, as it had since each of the 2 "
                        "beginnings before"));
  EXPECT_GE(changes, kMostBeginnings);
  // The same command refuses to go on, and --force begins again.
  const auto again = GetParam().run(work_, {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  work_.force = true;
  Must(GetParam().run(work_, {}));
}

// The tasks may be done elsewhere, and the end come later.
TEST_P(JobSourcesTest, AreComparedAfterAllTasks) {
  Restore();
  TaskLines tasks = Must(GetParam().plan(work_));
  for (const std::string& task : tasks) Must(RunTask(GetParam().formats(), task, {}));
  Apply(Change::kReplace, work_);
  ExpectNoMixture(Change::kReplace);
}

TEST_P(JobSourcesTest, GiveReportsOfAllRuns) {
  Restore();
  const Wanted whole{work_.folder, work_.Path("expected")};
  Begin(whole);
  const WriteSummary expected = Must(GetParam().run(whole, {}));
  ASSERT_GT(expected.entries, 0u);
  const auto expect_whole = [&](const WriteSummary& found) {
    EXPECT_EQ(found.entries, expected.entries);
    EXPECT_EQ(found.value_bytes, expected.value_bytes);
    EXPECT_EQ(found.stored_bytes, expected.stored_bytes);
    EXPECT_EQ(found.objects, expected.objects);
  };
  const TaskLines tasks = Must(GetParam().plan(work_));
  Must(RunTask(GetParam().formats(), tasks.front(), {}));
  expect_whole(Must(GetParam().run(work_, {})));
  for (const JobStep step :
       {JobStep::kPartsMade, JobStep::kClosed, JobStep::kDescribed,
        JobStep::kMarkerRemoved, JobStep::kSwapped, JobStep::kOldRemoved}) {
    SCOPED_TRACE(fmt::format("step {}", static_cast<int>(step)));
    const bool replaces = step >= JobStep::kSwapped;
    if (replaces && GetParam().is_in_target) continue;
    Restore();
    if (replaces) Must(GetParam().run(work_, {}));
    work_.force = replaces;
    RunOptions options;
    options.at_step = [&](JobStep reached) {
      if (reached == step) throw std::runtime_error("killed");
    };
    EXPECT_THROW((void)GetParam().run(work_, options), std::runtime_error);
    expect_whole(Must(GetParam().run(work_, {})));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, JobSourcesTest, testing::ValuesIn(kWantedKinds),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace dolium
