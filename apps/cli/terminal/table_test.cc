#include "cli/terminal/table.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum Table::Align;

class TableTest : public ::testing::Test {
 protected:
  Table::Sink sink_ = [this](std::string_view line) { lines_.emplace_back(line); };
  std::vector<std::string> lines_;
};

TEST_F(TableTest, AlignsColumnsAndLeavesNoTrailingSpaces) {
  Table table({{"key", kLeft}, {"size", kRight}, {"object", kLeft}}, sink_);
  table.Add({"1", "10", "a.shard"});
  table.Add({"4021", "123456", "b"});
  table.Finish();
  EXPECT_THAT(lines_, ElementsAre("key     size  object",   //
                                  "1         10  a.shard",  //
                                  "4021  123456  b"));
}

TEST_F(TableTest, PrintsTheHeadingOfAnEmptyTable) {
  Table table({{"key", kLeft}, {"size", kRight}}, sink_);
  table.Finish();
  EXPECT_THAT(lines_, ElementsAre("key  size"));
}

TEST_F(TableTest, HasNoHeadingLineWithoutHeadings) {
  Table table({{"", kLeft}, {"", kLeft}}, sink_);
  table.Add({"format", "files"});
  table.Finish();
  EXPECT_THAT(lines_, ElementsAre("format  files"));
}

TEST_F(TableTest, StreamsOnceTheWidthsAreSettled) {
  Table table({{"k", kRight}, {"v", kLeft}}, sink_, /*settle_after=*/2);
  table.Add({"1", "a"});
  EXPECT_THAT(lines_, IsEmpty());
  table.Add({"22", "b"});
  EXPECT_THAT(lines_, ElementsAre(" k  v", " 1  a", "22  b"));
  table.Add({"333", "c"});
  EXPECT_EQ(lines_.back(), "333  c");
  table.Finish();
  EXPECT_EQ(lines_.size(), 4u);
}

TEST_F(TableTest, CountsCharactersNotBytes) {
  Table table({{"", kLeft}, {"", kLeft}}, sink_);
  table.Add({"\u00fc", "x"});
  table.Add({"ab", "y"});
  table.Finish();
  EXPECT_THAT(lines_, ElementsAre("\u00fc   x", "ab  y"));
}

}  // namespace
}  // namespace dolium::cli
