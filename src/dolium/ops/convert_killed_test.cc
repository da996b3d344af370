// Conversions that are cut short, and those that several processes do at once.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "dolium/container/unfinished.h"
#include "dolium/ops/job/plan_folder.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/testing/convert_fixture.h"

namespace dolium {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// States that a kill leaves, made by hand.

TEST_F(ForceTest, ResumesAfterTheLastPartBeforeTheMarkerIsRemoved) {
  const Plan plan = RunSome(7);
  const PlanFolder folder(Must(ParseLocation(fresh_)));
  const auto state = Must(folder.Load());
  ConvertReport report;
  report.parts = 7;
  report.written.entries = 399;
  Must(folder.Close(*state.record, report));
  EXPECT_THAT(Must(PlanConvert(kFormats, request_, options_)).tasks(), IsEmpty());
  const ConvertReport rerun = Must(Run());
  EXPECT_EQ(rerun.written.entries, 399u);
  EXPECT_EQ(rerun.parts_done_before, 7u);
  ExpectDone();
}

class CutShortSwapTest : public ForceTest {
 protected:
  void SetUp() override {
    ForceTest::SetUp();
    const Plan plan = RunSome(7);
    const PlanFolder folder(Must(ParseLocation(fresh_)));
    const auto state = Must(folder.Load());
    ConvertReport report;
    report.parts = 7;
    Must(folder.Close(*state.record, report));
    WriteText(fresh_ + "/info", "toy 7");
    Must(RemoveMarker(folder.set()));
  }
};

TEST_F(CutShortSwapTest, IsDoneByTheRerun) {
  Must(Run());
  ExpectDone();
}

TEST_F(CutShortSwapTest, IsDoneWithoutTheSource) {
  fs::remove_all(source_);
  Must(Run());
  EXPECT_EQ(Files(target_), Files(expected_));
}

TEST_F(CutShortSwapTest, IsTidiedUpAfterTheExchange) {
  Must(SwapIn(SwapFolders::Beside(target_)));
  EXPECT_EQ(Must(ReadSet(target_)), values_);
  EXPECT_EQ(Must(ReadSet(fresh_)), old_);
  EXPECT_EQ(Must(Run()).parts_done_before, 7u);
  ExpectDone();
}

TEST_F(CutShortSwapTest, IsTidiedUpAfterTwoRenames) {
  Must(SwapIn(SwapFolders::Beside(target_), /*exchange=*/false));
  EXPECT_EQ(Must(ReadSet(target_)), values_);
  EXPECT_EQ(Must(ReadSet(aside_)), old_);
  Must(Run());
  ExpectDone();
}

TEST_F(CutShortSwapTest, IsDoneAfterTheFirstOfTwoRenames) {
  fs::rename(target_, aside_);
  request_.force = false;
  EXPECT_THAT(ErrorOf(Run(), ErrorCode::kExists), HasSubstr("was being replaced"));
  request_.force = true;
  Must(Run());
  ExpectDone();
}

TEST_F(CutShortSwapTest, IsDoneBeforeAnotherRequestIs) {
  fs::rename(target_, aside_);
  request_.parameters["parts"] = "3";
  Must(Run());
  EXPECT_EQ(Files(target_), Files(source_));
  EXPECT_THAT(Names(folder_.path()),
              UnorderedElementsAre("expected", "source", "target"));
}

TEST_F(ConvertTest, RemovesWhatADeadPlannerLeft) {
  WriteText(target_ + "/.dolium-plan/work-0", "half");
  WriteText(target_ + "/.dolium-plan/work-99", "half");
  WriteText(target_ + "/.dolium-plan/part-1", "stale");
  Must(Run());
  ExpectDone();
}

TEST_F(ConvertTest, TidiesUpAfterARunThatWasKilledJustBeforeItsEnd) {
  const Plan plan = RunSome(7);
  const PlanFolder folder(Must(ParseLocation(target_)));
  ConvertReport report;
  report.parts = 7;
  Must(folder.Close(*Must(folder.Load()).record, report));
  WriteText(target_ + "/info", "toy 7");
  Must(RemoveMarker(folder.set()));
  EXPECT_EQ(Must(ReadSet(target_)), values_);
  EXPECT_EQ(Must(Run()).parts_done_before, 7u);
  ExpectDone();
}

// Runs `body` in a process of its own; its exit status is 0 if it returns true.
pid_t Fork(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  bool good = false;
  try {
    good = body();
  } catch (...) {
  }
  _exit(good ? 0 : 1);
}

int StatusOf(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

class KilledTest : public ForceTest {
 protected:
  using Clock = std::chrono::steady_clock;

  // Starts a conversion, kills it after `delay`, and looks what readers see; then reruns.
  // Returns whether the kill came before the end.
  bool KillOnce(Clock::duration delay) {
    fs::remove_all(target_);
    if (request_.force) WriteSet(target_, 2, old_);
    const pid_t child = Fork([&] { return Run().has_value(); });
    std::this_thread::sleep_for(delay);
    kill(child, SIGKILL);
    const bool killed = WIFSIGNALED(StatusOf(child));

    const auto seen = ReadSet(target_);
    EXPECT_TRUE(seen || !request_.force) << seen.error().message;
    if (seen && *seen != old_) {
      EXPECT_EQ(*seen, values_);
    }
    const auto again = Run();
    if (!again) {
      // It had come to its end.
      EXPECT_EQ(again.error().code, ErrorCode::kExists) << again.error().message;
      EXPECT_TRUE(seen && *seen == values_);
    }
    ExpectDone();
    return killed;
  }

  void KillManyTimes() {
    auto start = Clock::now();
    ASSERT_EQ(StatusOf(Fork([&] { return Run().has_value(); })), 0);
    // How long a run takes depends on what else the machine does: follow it.
    Clock::duration whole = Clock::now() - start;
    std::mt19937_64 random(7);
    int killed = 0;
    for (int attempt = 0; killed < 20 && attempt < 400; ++attempt) {
      const Clock::duration delay(random() % static_cast<uint64_t>(whole.count()));
      SCOPED_TRACE(fmt::format("attempt {}", attempt));
      const bool in_time = KillOnce(delay);
      ASSERT_FALSE(HasFailure());
      killed += in_time ? 1 : 0;
      whole = in_time ? whole + whole / 8
                      : std::max<Clock::duration>(delay, std::chrono::milliseconds(1));
    }
    EXPECT_EQ(killed, 20);
  }
};

TEST_F(KilledTest, ARerunCompletesWhatAKillCutShort) {
  fs::remove_all(target_);
  request_.force = false;
  KillManyTimes();
}

TEST_F(KilledTest, AReplacedSetIsOldOrNewAtEveryMoment) { KillManyTimes(); }

TEST_F(ConvertTest, TwoProcessesMayRunTheSameTasksAtOnce) {
  const Plan plan = RunSome(0);
  const auto run_all = [&] {
    for (int round = 0; round < 3; ++round) {
      for (const std::string& task : plan.tasks()) {
        if (!RunTask(kFormats, task, options_)) return false;
      }
    }
    return true;
  };
  const pid_t a = Fork(run_all);
  const pid_t b = Fork(run_all);
  EXPECT_EQ(StatusOf(a), 0);
  EXPECT_EQ(StatusOf(b), 0);
  Must(Finish(plan));
  ExpectDone();
}

TEST_F(ForceTest, TwoProcessesMayReplaceTheSameSetAtOnce) {
  const auto run = [&] {
    const auto result = Run();
    // The one that comes last finds the plan gone, or the other still at it.
    return result || result.error().code == ErrorCode::kNotFound ||
           result.error().code == ErrorCode::kUnavailable ||
           result.error().code == ErrorCode::kExists;
  };
  const Plan plan = RunSome(0);
  const pid_t a = Fork([&] {
    for (const std::string& task : plan.tasks()) {
      if (!RunTask(kFormats, task, options_)) return false;
    }
    return true;
  });
  EXPECT_EQ(StatusOf(a), 0);
  const pid_t b = Fork(run);
  const pid_t c = Fork(run);
  EXPECT_EQ(StatusOf(b), 0);
  EXPECT_EQ(StatusOf(c), 0);
  EXPECT_EQ(Must(ReadSet(target_)), values_);
}

}  // namespace
}  // namespace dolium
