#include "dolium/domain/cas/exclude.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/domain/cas/testing/store_fixture.h"

namespace dolium::cas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

bool Excludes(const std::string& pattern, std::string_view path, bool is_folder = false) {
  const std::vector<std::string> patterns = {pattern};
  return ExcludePatterns::Parse(patterns)->Match(path, is_folder);
}

TEST(ExcludePatterns, MatchNamesAtAnyDepth) {
  EXPECT_TRUE(Excludes("*.tmp", "a.tmp"));
  EXPECT_TRUE(Excludes("*.tmp", "deep/down/a.tmp"));
  EXPECT_FALSE(Excludes("*.tmp", "a.tmp/file"));  // The folder was, already.
  EXPECT_FALSE(Excludes("*.tmp", "a.tmpx"));
  EXPECT_TRUE(Excludes("?[0-9]", "x/a7"));
  EXPECT_FALSE(Excludes("a*c", "a/c"));
  EXPECT_TRUE(Excludes("*", "a"));
  EXPECT_TRUE(Excludes(".*", ".hidden"));
}

TEST(ExcludePatterns, KnowWhichMatchedNothing) {
  const std::vector<std::string> given = {"*.o", "/build/", "b.*", "*.tmp"};
  ExcludePatterns patterns = *ExcludePatterns::Parse(given);
  EXPECT_THAT(patterns.Unmatched(), testing::ElementsAreArray(given));
  EXPECT_TRUE(patterns.Match("sub/b.o", false));  // By two of them.
  EXPECT_FALSE(patterns.Match("build", false));
  EXPECT_THAT(patterns.Unmatched(), ElementsAre("/build/", "*.tmp"));
  EXPECT_TRUE(patterns.Match("build", true));
  EXPECT_THAT(patterns.Unmatched(), ElementsAre("*.tmp"));
}

TEST(ExcludePatterns, MatchSeveralNamesInARow) {
  EXPECT_TRUE(Excludes("build/cache", "build/cache"));
  EXPECT_TRUE(Excludes("build/cache", "x/build/cache"));
  EXPECT_FALSE(Excludes("build/cache", "build/x/cache"));
  EXPECT_TRUE(Excludes("build/*/cache", "build/x/cache"));
  EXPECT_FALSE(Excludes("build/*/cache", "build/x/y/cache"));
  EXPECT_TRUE(Excludes("build/**/cache", "build/x/y/cache"));
  EXPECT_TRUE(Excludes("build/**/cache", "build/cache"));
  EXPECT_TRUE(Excludes("a/**/b/**/c", "a/b/x/b/y/c"));
  EXPECT_FALSE(Excludes("a/**/b/**/c", "a/x/c"));
  EXPECT_TRUE(Excludes("build/**", "build/x/y"));
}

TEST(ExcludePatterns, MayBeginInTheFolder) {
  EXPECT_TRUE(Excludes("/build", "build"));
  EXPECT_FALSE(Excludes("/build", "x/build"));
  EXPECT_TRUE(Excludes("/a/*.o", "a/x.o"));
  EXPECT_FALSE(Excludes("/a/*.o", "b/a/x.o"));
}

TEST(ExcludePatterns, MayBeForFoldersAlone) {
  EXPECT_TRUE(Excludes("cache/", "x/cache", true));
  EXPECT_FALSE(Excludes("cache/", "x/cache", false));
}

TEST(ExcludePatterns, AreRefusedIfTheyMatchNothingOrMoreThanMeant) {
  for (const std::string text : {"", "/", "a/../b", "./a", "!keep"}) {
    const std::vector<std::string> patterns = {text};
    const auto parsed = ExcludePatterns::Parse(patterns);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(parsed.error().message, HasSubstr("pattern \"" + text + "\""));
  }
}

// Many stars do not take exponential time.
TEST(ExcludePatterns, EndSoon) {
  std::string pattern;
  std::string path = "b";
  for (int i = 0; i < 200; ++i) {
    pattern += "**/a/";
    path = "a/" + path;
  }
  EXPECT_FALSE(Excludes(pattern + "c", path));
}

TEST(ReadExcludeFile, TakesOnePatternOnALine) {
  const TemporaryFolder folder;
  WriteText(folder.path() + "/list", "# comment\n*.o\n\n with space \r\n/last");
  EXPECT_THAT(*ReadExcludeFile(folder.path() + "/list"),
              ElementsAre("*.o", " with space ", "/last"));
  EXPECT_EQ(ReadExcludeFile(folder.path() + "/none").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace dolium::cas
