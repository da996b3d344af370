#include "cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium::cli {
namespace {

using ::testing::ElementsAre;

Result<Arguments> Parse(std::string_view verb, std::vector<std::string> words) {
  return ParseArguments(*FindVerb(verb), words);
}

TEST(ParseArguments, TakesOptionsAnywhere) {
  const auto arguments = Parse("verify", {"-j4", "a", "--json", "b", "--sample=5%"});
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_THAT(arguments->positionals(), ElementsAre("a", "b"));
  EXPECT_EQ(arguments->Number("jobs", 0), 4u);
  EXPECT_TRUE(arguments->Has("json"));
  EXPECT_FALSE(arguments->Has("strict"));
  EXPECT_EQ(arguments->Get("sample"), "5%");
}

TEST(ParseArguments, TakesOlderNamesOfOptions) {
  const auto ls = Parse("ls", {"--sharding", "spec.json", "--salvage", "set"});
  ASSERT_TRUE(ls) << ls.error().message;
  EXPECT_EQ(ls->Get("spec"), "spec.json");
  EXPECT_TRUE(ls->Has("skip-damaged"));
  const auto convert = Parse("convert", {"--sharding=a", "--from-sharding=b", "s", "t"});
  ASSERT_TRUE(convert) << convert.error().message;
  EXPECT_EQ(convert->Get("to-spec"), "a");
  EXPECT_EQ(convert->Get("spec"), "b");
  const auto extract = Parse("pack extract", {"--threads", "3", "set"});
  ASSERT_TRUE(extract) << extract.error().message;
  EXPECT_EQ(extract->Number("jobs", 0), 3u);
}

TEST(ParseArguments, TakesADashAndNumbersAndBracketsAsTheyAre) {
  const auto arguments = Parse("put", {"set", "[1,2]", "-"});
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_THAT(arguments->positionals(), ElementsAre("set", "[1,2]", "-"));
  const auto negative = Parse("cat", {"set", "-5"});
  ASSERT_TRUE(negative) << negative.error().message;
  EXPECT_THAT(negative->positionals(), ElementsAre("set", "-5"));
}

TEST(ParseArguments, TakesEverythingAfterTwoDashesAsArguments) {
  const auto arguments = Parse("cat", {"--raw", "--", "set", "--json"});
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_THAT(arguments->positionals(), ElementsAre("set", "--json"));
  EXPECT_TRUE(arguments->Has("raw"));
  EXPECT_FALSE(arguments->Has("json"));
}

TEST(ParseArguments, TurnsSizesIntoBytes) {
  const auto arguments = Parse("convert", {"a", "b", "--shard-size", "64MiB"});
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_EQ(arguments->Get("shard-size"), "67108864");
}

TEST(ParseArguments, SaysWhatIsWrong) {
  const auto message = [](std::string_view verb, std::vector<std::string> words) {
    const auto arguments = Parse(verb, std::move(words));
    return arguments ? "no error" : arguments.error().message;
  };
  EXPECT_EQ(message("verify", {"--qick", "a"}),
            "verify: unknown option --qick; did you mean --quick?");
  EXPECT_EQ(message("verify", {"--frobnicate=3", "a"}),
            "verify: unknown option --frobnicate; try: dolium verify --help");
  EXPECT_EQ(message("verify", {"-j", "x", "a"}),
            "verify: --jobs: \"x\" is not a whole number; try: dolium verify --help");
  EXPECT_EQ(
      message("convert", {"a", "b", "--hash", "md5"}),
      "convert: --hash: \"md5\" is none of: identity, murmurhash3_x86_128; try: dolium "
      "convert --help");
  EXPECT_EQ(message("ls", {}),
            "ls: too few arguments; usage: dolium ls [options] <location>");
  EXPECT_EQ(message("ls", {"a", "b"}),
            "ls: \"b\" is one argument too many; usage: dolium ls [options] <location>");
}

TEST(ParseArguments, TakesAsManyArgumentsAsTheUsageNames) {
  EXPECT_FALSE(Parse("cat", {"set"}));
  EXPECT_TRUE(Parse("cas get", {"name", "-o", "file"}));
  EXPECT_FALSE(Parse("cas get", {"-o", "file"}));
  EXPECT_FALSE(Parse("cas get", {"name", "file", "other"}));
  EXPECT_TRUE(Parse("pack cat", {"set", "-n", "1"}));
  EXPECT_TRUE(Parse("pack cat", {"set", "key", "file"}));
  EXPECT_FALSE(Parse("pack cat", {"set", "key", "file", "more"}));
  EXPECT_TRUE(Parse("verify", {"a", "b", "c", "d"}));
  EXPECT_TRUE(Parse("task", {}));
  EXPECT_FALSE(Parse("completion", {}));
}

TEST(Arguments, NameTheTargetLastOrAsOutput) {
  const auto target = [](const std::vector<std::string>& words) {
    const auto arguments = Parse("cas get", words);
    EXPECT_TRUE(arguments);
    return arguments->Target(1);
  };
  EXPECT_EQ(*target({"name", "file"}), "file");
  EXPECT_EQ(*target({"name", "-o", "file"}), "file");
  EXPECT_EQ(*target({"name"}), std::nullopt);
  EXPECT_EQ(target({"name", "file", "-o", "other"}).error().message,
            "--output other and file: one of them is too many");
}

TEST(ParseArguments, NeedsNoArgumentsForHelp) {
  const auto arguments = Parse("ls", {"-h"});
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_TRUE(arguments->Has("help"));
}

TEST(Nearest, FindsSlipsAndNothingElse) {
  constexpr std::string_view kWords[] = {"verify", "convert", "ls"};
  EXPECT_EQ(Nearest("verfy", kWords), "verify");
  EXPECT_EQ(Nearest("convrt", kWords), "convert");
  EXPECT_EQ(Nearest("l", kWords), "ls");
  EXPECT_EQ(Nearest("serve", kWords), "");
}

TEST(ParseArguments, TakesSeveralPairsAfterOneOption) {
  const auto arguments =
      Parse("pack create", {"--metadata", "creator=MyName", "training=true", "--input",
                            "in", "--metadata=a=b=c"});
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_THAT(arguments->GetAll("metadata"),
              ElementsAre("creator=MyName", "training=true", "a=b=c"));
  EXPECT_EQ(arguments->Get("input"), "in");
  EXPECT_THAT(arguments->positionals(), ElementsAre());
  const auto mixed = Parse("pack merge", {"a", "--metadata", "x=1", "b", "y=2"});
  ASSERT_TRUE(mixed) << mixed.error().message;
  EXPECT_THAT(mixed->GetAll("metadata"), ElementsAre("x=1"));
  EXPECT_THAT(mixed->positionals(), ElementsAre("a", "b", "y=2"));
  const auto bad = Parse("pack create", {"--metadata", "creator"});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message,
            "pack create: --metadata: \"creator\" is not NAME=VALUE; try: dolium pack "
            "create --help");
}

TEST(ParseArguments, TakesSeveralFilesUpToTheNextOption) {
  const auto arguments = Parse("pack compact", {"base", "--overlay", "a", "b", "-o",
                                                "out", "more", "--", "--json"});
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_THAT(arguments->GetAll("overlay"), ElementsAre("a", "b"));
  EXPECT_EQ(arguments->Get("output"), "out");
  EXPECT_THAT(arguments->positionals(), ElementsAre("base", "more", "--json"));
}

}  // namespace
}  // namespace dolium::cli
