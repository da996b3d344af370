#include "dolium/domain/dataset/shard_names.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"

namespace dolium::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Expanded(std::string_view text) {
  return Must(ExpandBraces(text));
}

std::string NamesError(std::string_view text) {
  const auto names = ExpandBraces(text);
  if (names) return "no error";
  EXPECT_EQ(names.error().code, ErrorCode::kInvalidArgument);
  return names.error().message;
}

std::string NameOf(std::string_view output, uint64_t index) {
  return Must(ShardNamer::Make(output)).Name(index);
}

TEST(ExpandBraces, LeavesPlainTextAlone) {
  EXPECT_THAT(Expanded("a, b.shardpack"), ElementsAre("a, b.shardpack"));
  EXPECT_THAT(Expanded(""), ElementsAre(""));
}

TEST(ExpandBraces, CountsWithZeros) {
  const auto names = Expanded("dataset-train-{000000..000973}.shardpack");
  ASSERT_EQ(names.size(), 974);
  EXPECT_EQ(names.front(), "dataset-train-000000.shardpack");
  EXPECT_EQ(names[17], "dataset-train-000017.shardpack");
  EXPECT_EQ(names.back(), "dataset-train-000973.shardpack");
  EXPECT_THAT(Expanded("{8..11}"), ElementsAre("8", "9", "10", "11"));
  EXPECT_THAT(Expanded("{08..10}"), ElementsAre("08", "09", "10"));
  EXPECT_THAT(Expanded("{9..011}"), ElementsAre("009", "010", "011"));
}

TEST(ExpandBraces, CountsInStepsAndDownAndBelowZero) {
  EXPECT_THAT(Expanded("{0..10..2}"), ElementsAre("0", "2", "4", "6", "8", "10"));
  EXPECT_THAT(Expanded("{0..10..4}"), ElementsAre("0", "4", "8"));
  EXPECT_THAT(Expanded("{3..1}"), ElementsAre("3", "2", "1"));
  EXPECT_THAT(Expanded("{10..0..-5}"), ElementsAre("10", "5", "0"));
  EXPECT_THAT(Expanded("{-1..1}"), ElementsAre("-1", "0", "1"));
  EXPECT_THAT(Expanded("{-01..1}"), ElementsAre("-01", "000", "001"));
  EXPECT_THAT(Expanded("{5..5}"), ElementsAre("5"));
  EXPECT_THAT(Expanded("{0..9..100}"), ElementsAre("0"));
  EXPECT_THAT(Expanded("{c..a}"), ElementsAre("c", "b", "a"));
}

TEST(ExpandBraces, ChoosesFromLists) {
  EXPECT_THAT(Expanded("{a,b}"), ElementsAre("a", "b"));
  EXPECT_THAT(Expanded("x{,.bak}"), ElementsAre("x", "x.bak"));
  EXPECT_THAT(Expanded("{train,val}/{0..1}.sp"),
              ElementsAre("train/0.sp", "train/1.sp", "val/0.sp", "val/1.sp"));
}

TEST(ExpandBraces, Nests) {
  EXPECT_THAT(Expanded("{a{1..3},b,c{x,{y,z}}}d"),
              ElementsAre("a1d", "a2d", "a3d", "bd", "cxd", "cyd", "czd"));
  EXPECT_THAT(Expanded("{{a,b}{0..1},{c,d}}"),
              ElementsAre("a0", "a1", "b0", "b1", "c", "d"));
}

TEST(ExpandBraces, TakesBracesBehindBackslashesAsTheyAre) {
  EXPECT_THAT(Expanded(R"(\{a,b\})"), ElementsAre("{a,b}"));
  EXPECT_THAT(Expanded(R"({a\,b,c})"), ElementsAre("a,b", "c"));
  EXPECT_THAT(Expanded(R"(a\*b\)"), ElementsAre(R"(a\*b\)"));
}

TEST(ExpandBraces, RejectsWhatIsNeitherListNorRange) {
  EXPECT_EQ(NamesError("x{0..9.shardpack"),
            "x{0..9.shardpack: the { at character 2 has no }; write \\{ for a plain one");
  EXPECT_EQ(NamesError("x0..9}"),
            "x0..9}: the } at character 6 has no {; write \\} for a plain one");
  EXPECT_EQ(NamesError("{x}"), "{x}: \"{x}\" is neither a list {a,b} nor a range {0..9}");
  for (const char* wrong :
       {"{}", "{0...9}", "{..}", "{0..}", "{0..b}", "{0..9..x}", "{0..9..2..1}",
        "{1.5..2}", "{ab..cd}", "{{a,b}}", "{0..1234567890123456789}"}) {
    EXPECT_THAT(NamesError(wrong), HasSubstr("neither a list")) << wrong;
  }
  EXPECT_EQ(NamesError("{0..9..0}"), "{0..9..0}: \"{0..9..0}\" has a step of 0");
}

TEST(ExpandBraces, RejectsBombs) {
  EXPECT_EQ(Expanded("{1..1000000}").size(), 1'000'000);
  const char* kTooMany = "stands for too many names";
  EXPECT_THAT(NamesError("{0..1000000}"), HasSubstr(kTooMany));
  EXPECT_THAT(NamesError("{0..999999999999999999}"), HasSubstr(kTooMany));
  EXPECT_THAT(NamesError("{-999999999999999999..999999999999999999}"),
              HasSubstr(kTooMany));
  EXPECT_THAT(NamesError("{0..99}{0..99}{0..99}{0..9}"), HasSubstr(kTooMany));
  std::string doubled;
  for (int i = 0; i < 1000; ++i) doubled += "{,}";
  EXPECT_THAT(NamesError(doubled), HasSubstr(kTooMany));
  // Few enough, but long.
  EXPECT_THAT(NamesError("{0..99999}" + std::string(10'000, 'x')), HasSubstr(kTooMany));
  EXPECT_THAT(NamesError(std::string(33, '{')), HasSubstr("more than 32 levels"));
  EXPECT_THAT(NamesError(std::string(100'000, 'x')), HasSubstr("100000 characters"));
}

TEST(ShardNamer, CountsFromTheDigitsThatEndTheStem) {
  EXPECT_EQ(NameOf("out/dataset-train-000000.shardpack", 0),
            "out/dataset-train-000000.shardpack");
  EXPECT_EQ(NameOf("out/dataset-train-000000.shardpack", 973),
            "out/dataset-train-000973.shardpack");
  EXPECT_EQ(NameOf("t-017.shardpack", 5), "t-022.shardpack");
  EXPECT_EQ(NameOf("t-017", 5), "t-022.shardpack");
  EXPECT_EQ(NameOf("008.shardpack", 2), "010.shardpack");
  EXPECT_EQ(NameOf("t-98.shardpack", 2), "t-100.shardpack");
  EXPECT_EQ(NameOf("t12345678901234567890", 1), "t12345678901234567891.shardpack");
}

TEST(ShardNamer, AddsANumberToAStemWithout) {
  EXPECT_EQ(NameOf("train.shardpack", 0), "train-000000.shardpack");
  EXPECT_EQ(NameOf("a1/train", 12), "a1/train-000012.shardpack");
  EXPECT_EQ(NameOf("train.tar", 1), "train.tar-000001.shardpack");
}

TEST(ShardNamer, RejectsOutputsWithoutAName) {
  for (const char* output : {"", ".shardpack", "out/", "out/.shardpack", ".", "a/.."}) {
    const auto namer = ShardNamer::Make(output);
    ASSERT_FALSE(namer) << output;
    EXPECT_THAT(namer.error().message, HasSubstr("has no file name"));
  }
}

}  // namespace
}  // namespace dolium::dataset
