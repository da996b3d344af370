#include "dolium/ops/write.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/container/unfinished.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/list.h"

namespace dolium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class SetWriterTest : public testing::Test {
 protected:
  Result<std::unique_ptr<SetWriter>> Begin(bool force = false) {
    WriteRequest request;
    request.target = target_;
    request.format = "neuroglancer";
    request.create.parameters = {{"shard-bits", "1"},
                                 {"minishard-bits", "0"},
                                 {"preshift-bits", "0"},
                                 {"hash", "identity"}};
    request.force = force;
    return SetWriter::Begin(BuiltinFormats(), request, {});
  }
  void Write(std::string_view value, bool force = false) {
    const auto set = Must(Begin(force));
    for (const char* key : {"1", "2", "3"}) {
      Must(set->writer().Add({.key = key, .value = AsBytes(value), .preceding = {}}));
    }
    const WriteSummary summary = Must(set->Finish());
    EXPECT_EQ(summary.entries, 3U);
    EXPECT_EQ(summary.objects, 2U);
  }
  Result<std::unique_ptr<Container>> Open() {
    return OpenContainer(BuiltinFormats(), Must(ParseLocation(target_)), "", {});
  }
  std::string Value(std::string_view key) {
    return std::string(AsText(Must(Cat(*Must(Open()), key, false)).value));
  }
  std::set<std::string> Names(const std::string& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  TemporaryFolder folder_;
  const std::string target_ = folder_.path() + "/set";
};

TEST_F(SetWriterTest, MakesASetThatOpens) {
  Write("old");
  EXPECT_EQ(Value("2"), "old");
  EXPECT_THAT(Names(target_), ElementsAre("0.shard", "1.shard", "info"));
}

TEST_F(SetWriterTest, IsUnfinishedUntilTheEnd) {
  const auto set = Must(Begin());
  Must(set->writer().Add({.key = "1", .value = AsBytes("x"), .preceding = {}}));
  const auto opened = Open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(opened.error().message, HasSubstr("set: this set is unfinished"));
  Must(set->Finish());
  EXPECT_EQ(Value("1"), "x");
}

TEST_F(SetWriterTest, StartsOverWhereAWriterDied) {
  {
    const auto set = Must(Begin());
    Must(set->writer().Add({.key = "77", .value = AsBytes("lost"), .preceding = {}}));
  }
  // What the dead writer may have left.
  std::ofstream(target_ + "/1.shard") << "half of a shard";
  fs::create_directory(target_ + "/.dolium-spill-1-2");
  Write("new");
  EXPECT_EQ(Value("1"), "new");
  EXPECT_EQ(Must(Must(Open())->Find("77")), std::nullopt);
  EXPECT_THAT(Names(target_), ElementsAre("0.shard", "1.shard", "info"));
}

TEST_F(SetWriterTest, StartsOverWithoutTheSubfoldersOfAWriterThatDied) {
  const WriteRequest request{.target = target_, .format = "files", .create = {}};
  const auto write = [&](std::string_view key) {
    auto set = Must(SetWriter::Begin(BuiltinFormats(), request, {}));
    Must(set->writer().Add(
        {.key = std::string(key), .value = AsBytes("x"), .preceding = {}}));
    return set;
  };
  write("below/lost").reset();
  fs::create_directories(target_ + "/below");
  std::ofstream(target_ + "/below/lost") << "x";
  Must(write("kept")->Finish());
  EXPECT_THAT(Names(target_), ElementsAre("kept"));
}

TEST_F(SetWriterTest, DoesNotReplaceASetUnasked) {
  Write("old");
  const auto begun = Begin();
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, ErrorCode::kExists);
  EXPECT_THAT(begun.error().message, HasSubstr("set: is there already"));
  EXPECT_EQ(begun.error().hint, Hint::kReplace);
  EXPECT_EQ(Value("1"), "old");
}

TEST_F(SetWriterTest, KeepsTheOldSetUntilTheNewOneIsWhole) {
  Write("old");
  {
    const auto set = Must(Begin(/*force=*/true));
    Must(set->writer().Add({.key = "1", .value = AsBytes("new"), .preceding = {}}));
    EXPECT_EQ(Value("1"), "old");
  }  // Given up.
  EXPECT_EQ(Value("1"), "old");
  Write("new", /*force=*/true);
  EXPECT_EQ(Value("1"), "new");
  EXPECT_THAT(Names(folder_.path()), ElementsAre("set"));
}

TEST_F(SetWriterTest, DoesNotReplaceWhatIsNotPartOfASet) {
  Write("old");
  std::ofstream(target_ + "/notes.txt") << "mine";
  const auto begun = Begin(/*force=*/true);
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, ErrorCode::kExists);
  EXPECT_THAT(begun.error().message, HasSubstr("notes.txt"));
}

TEST_F(SetWriterTest, KeepsASecondWriterAway) {
  const auto first = Must(Begin());
  Must(first->writer().Add({.key = "1", .value = AsBytes("x"), .preceding = {}}));
  const auto second = Begin();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kExists);
  EXPECT_THAT(second.error().message, HasSubstr("is being written by another process"));
  Must(first->Finish());
  EXPECT_EQ(Value("1"), "x");
}

TEST_F(SetWriterTest, ReadsAnUnfinishedSetOnRequest) {
  const auto set = Must(Begin());
  OpenOptions options;
  options.allow_unfinished = true;
  const auto opened =
      OpenContainer(BuiltinFormats(), Must(ParseLocation(target_)), "", options);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->format_name(), "neuroglancer");
}

TEST_F(SetWriterTest, TakesNonsenseForAMarkerOfOthers) {
  fs::create_directory(target_);
  const Location place = Must(ParseLocation(target_));
  Must(WriteMarker(place, R"({"operation": 5})"));
  EXPECT_EQ(Begin().error().code, ErrorCode::kExists);
}

TEST_F(SetWriterTest, LeavesTheUnfinishedWorkOfOthersAlone) {
  fs::create_directory(target_);
  const Location place = Must(ParseLocation(target_));
  Must(WriteMarker(place, R"({"operation": "convert"})"));
  const auto begun = Begin();
  ASSERT_FALSE(begun);
  EXPECT_THAT(begun.error().message,
              HasSubstr("an unfinished set that another operation began"));
}

}  // namespace
}  // namespace dolium
