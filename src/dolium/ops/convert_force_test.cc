#include "dolium/bytes/location.h"
#include "dolium/ops/testing/convert_fixture.h"

namespace dolium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

TEST_F(ForceTest, KeepsTheOldSetUntilTheEnd) {
  const Plan plan = RunSome(7);
  EXPECT_EQ(plan.folder, fresh_);
  EXPECT_EQ(plan.target, target_);
  EXPECT_EQ(Must(ReadSet(target_)), old_);
  EXPECT_THAT(Names(target_), ElementsAre("0.toy", "1.toy", "info"));
  Must(Finish(plan));
  ExpectDone();
}

TEST_F(ForceTest, ResumesBesideTheOldSet) {
  RunSome(4);
  EXPECT_EQ(Must(Run()).parts_done_before, 4u);
  ExpectDone();
}

TEST_F(ForceTest, BuildsInPlaceWhereThereIsNothingToReplace) {
  fs::remove_all(target_);
  EXPECT_EQ(RunSome(0).target, target_);
  Must(Run());
  ExpectDone();
}

TEST_F(ForceTest, FollowsALinkToTheFolderToReplace) {
  fs::rename(target_, folder_.path() + "/real");
  fs::create_directory_symlink(folder_.path() + "/real", target_);
  Must(Run());
  EXPECT_TRUE(fs::is_symlink(target_));
  EXPECT_EQ(Files(folder_.path() + "/real"), Files(expected_));
  EXPECT_THAT(Names(folder_.path()),
              UnorderedElementsAre("expected", "real", "source", "target"));
}

TEST_F(ForceTest, RefusesToReplaceWhatIsNotPartOfASet) {
  WriteText(target_ + "/notes.txt", "mine");
  EXPECT_THAT(
      ErrorOf(Run(), ErrorCode::kExists),
      HasSubstr("holds \"notes.txt\", which is not part of a toy set; move it away"));
  fs::remove(target_ + "/notes.txt");
  const Plan plan = RunSome(7);
  // Not even when it comes late.
  fs::create_directory(target_ + "/7.toy");
  EXPECT_THAT(ErrorOf(Finish(plan), ErrorCode::kExists), HasSubstr("7.toy"));
  EXPECT_EQ(Must(ReadSet(target_)).size(), 50u);
  fs::remove(target_ + "/7.toy");
  Must(Run());
  ExpectDone();
}

TEST_F(ForceTest, ReplacesTheUnfinishedSetOfAnotherRequest) {
  fs::remove_all(target_);
  request_.force = false;
  request_.parameters["parts"] = "5";
  RunSome(2);
  request_.force = true;
  request_.parameters["parts"] = "7";
  Must(Run());
  ExpectDone();
}

TEST_F(ForceTest, RefusesToDropAnotherReplacementUnderWay) {
  request_.parameters["parts"] = "5";
  RunSome(2);
  request_.parameters["parts"] = "7";
  EXPECT_THAT(ErrorOf(Run(), ErrorCode::kExists),
              HasSubstr("target.dolium-new: holds an"));
}

TEST_F(ForceTest, RemovesPartsWithoutAPlanThatADeadWriterLeftBeside) {
  WriteSet(fresh_, 2, old_);
  Must(Run());
  ExpectDone();
  fs::remove_all(target_);
  WriteSet(target_, 2, old_);
  WriteText(fresh_ + "/notes.txt", "mine");
  EXPECT_THAT(ErrorOf(Run(), ErrorCode::kExists), HasSubstr("notes.txt"));
}

}  // namespace
}  // namespace dolium
