#include "dolium/ops/convert.h"

#include <stop_token>

#include "dolium/ops/testing/convert_fixture.h"

namespace dolium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(ConvertTest, MakesTheSetWhateverTheNumberOfThreads) {
  for (const size_t jobs : {1, 2, 5}) {
    options_.writer.jobs = jobs;
    const ConvertReport report = Must(Run());
    EXPECT_EQ(report.written.entries, 400u);
    EXPECT_EQ(report.written.objects, 7u);
    EXPECT_EQ(report.parts, 7u);
    EXPECT_EQ(report.parts_done_before, 0u);
    EXPECT_THAT(report.skipped, IsEmpty());
    ExpectDone();
    EXPECT_EQ(Must(ReadSet(target_)), values_);
    fs::remove_all(target_);
  }
}

TEST_F(ConvertTest, TellsTheFormatWhatToExpect) {
  Must(Run());
  uint64_t bytes = 0;
  uint64_t largest = 0;
  for (const auto& [key, value] : values_) {
    bytes += value.size();
    largest = std::max<uint64_t>(largest, value.size());
  }
  EXPECT_EQ(toy::LastExpected().entries, 400u);
  EXPECT_EQ(toy::LastExpected().bytes, bytes);
  EXPECT_EQ(toy::LastExpected().largest, largest);
}

TEST_F(ConvertTest, WorksThroughManyWorkListsInLittleMemory) {
  fs::remove_all(source_);
  fs::remove_all(expected_);
  const Values many = MakeValues(5000);
  WriteSet(source_, 3, many);
  WriteSet(expected_, 7, many);
  options_.writer.memory = 1;
  const Plan plan = RunSome(0);
  EXPECT_TRUE(fs::exists(target_ + "/.dolium-plan/work-3"));
  EXPECT_EQ(plan.entries, 5000u);
  EXPECT_EQ(Must(Run()).written.entries, 5000u);
  ExpectDone();
}

TEST_F(ConvertTest, APlanIsTasksThatRunAnywhereInAnyOrderAndTwice) {
  const Plan plan = RunSome(0);
  EXPECT_EQ(plan.target, target_);
  EXPECT_EQ(plan.entries, 400u);
  EXPECT_EQ(plan.parts, 7u);
  EXPECT_EQ(plan.parts_done, 0u);
  ASSERT_EQ(plan.tasks().size(), 7u);
  EXPECT_THAT(plan.tasks().front(), HasSubstr(R"("kind":"convert")"));

  WriteSummary sum;
  for (size_t i = plan.tasks().size(); i-- > 0;) {
    sum += Must(RunTask(kFormats, plan.tasks()[i], options_)).written;
    if (i % 2 == 0) Must(RunTask(kFormats, plan.tasks()[i], options_));
  }
  EXPECT_EQ(sum.entries, 400u);
  const ConvertReport report = Must(Finish(plan));
  EXPECT_EQ(report.written.entries, 400u);
  EXPECT_EQ(report.written.value_bytes, sum.value_bytes);
  EXPECT_EQ(report.written.stored_bytes, sum.stored_bytes);
  ExpectDone();
}

TEST_F(ConvertTest, ReadersCallASetUnfinishedUntilItsLastTask) {
  const Plan plan = RunSome(7);
  const auto read = ReadSet(target_);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("unfinished"));
  Must(Finish(plan));
  EXPECT_EQ(Must(ReadSet(target_)), values_);
}

TEST_F(ConvertTest, ARerunResumes) {
  RunSome(3);
  const auto before = fs::last_write_time(target_ + "/0.toy");
  const Plan again = Must(PlanConvert(kFormats, request_, options_));
  EXPECT_EQ(again.tasks().size(), 4u);
  EXPECT_EQ(again.parts, 7u);
  EXPECT_EQ(again.parts_done, 3u);
  EXPECT_GT(again.entries_done, 100u);
  EXPECT_EQ(again.entries, 400u);

  std::vector<Progress> seen;
  options_.progress = [&](const Progress& progress) { seen.push_back(progress); };
  const ConvertReport report = Must(Run());
  EXPECT_EQ(report.parts_done_before, 3u);
  EXPECT_EQ(report.written.entries, 400u);
  EXPECT_EQ(fs::last_write_time(target_ + "/0.toy"), before);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.front().entries, again.entries_done + 1);
  EXPECT_EQ(seen.back().entries, 400u);
  EXPECT_EQ(seen.back().total_entries, 400u);
  ExpectDone();
}

TEST_F(ConvertTest, ARerunMakesAPartThatWasLostAgain) {
  RunSome(3);
  fs::remove(target_ + "/1.toy");
  EXPECT_EQ(Must(PlanConvert(kFormats, request_, options_)).parts_done, 2u);
  Must(Run());
  ExpectDone();
}

TEST_F(ConvertTest, FinishRefusesWhilePartsAreMissing) {
  const Plan plan = RunSome(6);
  EXPECT_THAT(ErrorOf(Finish(plan), ErrorCode::kNotFound),
              HasSubstr("part 6 is not done; run its task"));
  Must(RunTask(kFormats, plan.tasks()[6], options_));
  fs::remove(target_ + "/2.toy");
  EXPECT_THAT(ErrorOf(Finish(plan), ErrorCode::kNotFound),
              HasSubstr("2.toy: part 2 was made, but is gone"));
}

TEST_F(ConvertTest, TasksOfAFinishedPlanFindNothingToDo) {
  const Plan plan = RunSome(7);
  Must(Finish(plan));
  const auto task = RunTask(kFormats, plan.tasks()[0], options_);
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(ErrorOf(Finish(plan), ErrorCode::kNotFound),
              HasSubstr("no job is under way here"));
}

TEST_F(ConvertTest, RejectsWhatIsNotATask) {
  const Plan plan = RunSome(0);
  for (const std::string& text :
       {std::string("7"), std::string("{"), std::string(R"({"dolium_task":2})"),
        std::string(R"({"dolium_task":2,"kind":"convert","folder":5,"part":1})")}) {
    EXPECT_FALSE(RunTask(kFormats, text, options_)) << text;
  }
  std::string none = plan.tasks()[6];
  none.replace(none.find("\"part\":6"), 8, "\"part\":9");
  const auto task = RunTask(kFormats, none, options_);
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(task.error().message, HasSubstr("the plan has no part 9"));
}

TEST_F(ConvertTest, RefusesATargetThatIsThere) {
  Must(Run());
  EXPECT_THAT(ErrorOf(Run(), ErrorCode::kExists), HasSubstr("target: is there already"));
  EXPECT_EQ(Run().error().hint, Hint::kReplace);
  ExpectDone();
}

TEST_F(ConvertTest, RefusesATargetThatIsAFile) {
  WriteText(target_, "text");
  EXPECT_THAT(ErrorOf(Run(), ErrorCode::kExists), HasSubstr("is a file"));
}

TEST_F(ConvertTest, RefusesTheUnfinishedSetOfAnotherRequest) {
  RunSome(2);
  request_.parameters["parts"] = "5";
  EXPECT_THAT(ErrorOf(Run(), ErrorCode::kExists),
              HasSubstr(R"(its parameters is {"parts":"7"}, not {"parts":"5"})"));
  request_.parameters["parts"] = "7";
  Must(Run());
  ExpectDone();
}

TEST_F(ConvertTest, RefusesASourceWithinItsTarget) {
  request_.target = folder_.path();
  EXPECT_THAT(ErrorOf(Run(), ErrorCode::kInvalidArgument),
              HasSubstr("lies in the target"));
  request_.target = source_ + "/../source/";
  EXPECT_THAT(ErrorOf(Run(), ErrorCode::kInvalidArgument), HasSubstr("are the same"));
  request_.target = source_ + "-longer";
  Must(Run());
}

TEST_F(ConvertTest, RefusesATargetWithinItsSource) {
  const auto before = Names(source_);
  request_.target = source_ + "/within/it";
  EXPECT_THAT(ErrorOf(Run(), ErrorCode::kInvalidArgument),
              HasSubstr("the target lies in the source"));
  EXPECT_EQ(Names(source_), before);
}

TEST_F(ConvertTest, UsesAnEmptyFolderAndLeavesNothingBehindAfterAnError) {
  fs::create_directory(target_);
  WriteText(source_ + "/0.toy", "1 1\nword 1\n\nxx");
  EXPECT_THAT(ErrorOf(Run(), ErrorCode::kInvalidArgument),
              HasSubstr("source: word: \"word\" is not a number"));
  EXPECT_THAT(Names(target_), IsEmpty());
  fs::remove(target_);
  ErrorOf(Run(), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(fs::exists(target_));
}

TEST_F(ConvertTest, ConvertsAnEmptySet) {
  fs::remove_all(source_);
  WriteText(source_ + "/info", "toy 3");
  const ConvertReport report = Must(Run());
  EXPECT_EQ(report.parts, 0u);
  EXPECT_THAT(Names(target_), ElementsAre("info"));
}

TEST_F(ConvertTest, StopsOnRequestAndResumes) {
  std::stop_source stop;
  options_.writer.stop = stop.get_token();
  options_.progress = [&](const Progress& progress) {
    if (progress.entries == 150) stop.request_stop();
  };
  ErrorOf(Run(), ErrorCode::kCancelled);
  options_.writer.stop = {};
  options_.progress = {};
  EXPECT_GT(Must(Run()).parts_done_before, 0u);
  ExpectDone();
}

TEST_F(ConvertTest, SaysSoWhenTheSourceChangedAfterPlanning) {
  const Plan plan = RunSome(0);
  WriteText(source_ + "/0.toy", "3 1\n\nx");
  const auto task = RunTask(kFormats, plan.tasks().front(), options_);
  ASSERT_FALSE(task);
  EXPECT_THAT(task.error().message, HasSubstr("and begin again"));
  EXPECT_THAT(ErrorOf(Run(), ErrorCode::kConflict),
              HasSubstr("its source has changed since the job began"));
}

// Damage: part 0 of the source cut short, and a line of the index of part 1 unreadable.
class DamagedSourceTest : public ConvertTest {
 protected:
  void SetUp() override {
    ConvertTest::SetUp();
    WriteText(source_ + "/0.toy", "9 4\n3 5\n6 1\n\n9999333");
    WriteText(source_ + "/1.toy", "4 1\n?\n7 1\n\n47");
    WriteText(source_ + "/2.toy", "no index");
  }
};

TEST_F(DamagedSourceTest, FailsUnlessDamageIsToBeSkipped) {
  ErrorOf(Run(), ErrorCode::kCorrupt);
  EXPECT_FALSE(fs::exists(target_));
}

TEST_F(DamagedSourceTest, SkipsAndReportsWhatCannotBeRead) {
  request_.skip_damaged = true;
  const auto expect = [&](const ConvertReport& report) {
    EXPECT_EQ(report.written.entries, 3u);
    std::vector<std::string> skipped;
    for (const Finding& finding : report.skipped) {
      skipped.push_back(fmt::format("{} {} \"{}\" {}", finding.kind,
                                    fs::path(finding.object).filename().string(),
                                    finding.key, finding.message));
    }
    EXPECT_THAT(
        skipped,
        ElementsAre("index 1.toy \"\" \"?\" is not an entry",
                    "corrupt 2.toy \"\" its index has no end",
                    "corrupt 0.toy \"3\" bytes [17, 22) end past the object (20 bytes)",
                    "corrupt 0.toy \"6\" bytes [22, 23) end past the object (20 bytes)"));
    EXPECT_EQ(Must(ReadSet(target_)), (Values{{9, "9999"}, {4, "4"}, {7, "7"}}));
  };
  expect(Must(Run()));
  fs::remove_all(target_);
  // Told also by whoever finishes what others began.
  const Plan plan = RunSome(5);
  EXPECT_THAT(plan.tasks().size(), 5u);
  expect(Must(Finish(plan)));
}

}  // namespace
}  // namespace dolium
