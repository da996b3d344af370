#include "cli/help.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/completion.h"
#include "cli/man_page.h"
#include "dolium/formats/builtin.h"

namespace dolium::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

// Those of convert that have the same name are for different targets.
TEST(Verbs, HaveOptionsOfDifferentNames) {
  for (const Verb& verb : Verbs()) {
    std::set<std::string> names;
    for (const Option& option : DistinctOptions(verb)) {
      const auto add = [&](std::string_view name) {
        EXPECT_TRUE(names.insert(std::string(name)).second) << verb.name << ": " << name;
      };
      add(option.name);
      if (!option.letter.empty()) add(option.letter);
      std::istringstream aliases{std::string(option.aliases)};
      for (std::string alias; aliases >> alias;) add(alias);
    }
    std::set<std::pair<std::string_view, std::string_view>> rows;
    for (const Option& option : AllOptions(verb)) {
      EXPECT_TRUE(rows.emplace(option.name, option.targets).second)
          << verb.name << " --" << option.name;
    }
  }
}

TEST(Verbs, CheckToTheSameDepths) {
  for (const std::string_view name :
       {"verify", "volume verify", "pack verify", "cas verify"}) {
    const std::string help = VerbHelp(*FindVerb(name));
    EXPECT_THAT(help, HasSubstr("  --quick ")) << name;
    EXPECT_THAT(help, HasSubstr("  --deep ")) << name;
  }
}

TEST(FindVerb, KnowsOlderNamesThatNoTextShows) {
  EXPECT_EQ(FindVerb("cas stat"), FindVerb("cas stats"));
  EXPECT_EQ(FindVerb(""), nullptr);
  EXPECT_THAT(WordsAfter("cas"), testing::Not(testing::Contains("stat")));
}

TEST(VerbHelp, ShowsOfConvertOnlyWhatFitsTheTarget) {
  const Verb& convert = *FindVerb("convert");
  const std::string all = VerbHelp(convert);
  EXPECT_THAT(all, HasSubstr("\n--to neuroglancer:\n"));
  EXPECT_THAT(all, HasSubstr("\n--to precomputed or dvid:\n"));
  const std::string dvid = VerbHelp(convert, "dvid");
  EXPECT_THAT(dvid, HasSubstr("\n--to dvid:\n"));
  EXPECT_THAT(dvid, HasSubstr("  --layout "));
  EXPECT_THAT(dvid, HasSubstr("  --resolution "));
  EXPECT_THAT(dvid, HasSubstr("  -j, --jobs "));
  for (const char* const other :
       {"  --hash ", "  --shard-size ", "  --supervoxels ", "--format "}) {
    EXPECT_THAT(dvid, testing::Not(HasSubstr(other)));
  }
  EXPECT_THAT(VerbHelp(convert, "shardpack"),
              testing::Not(HasSubstr("\n--to shardpack")));
}

TEST(Verbs, AllTakeJson) {
  for (const Verb& verb : Verbs()) EXPECT_THAT(VerbHelp(verb), HasSubstr("  --json "));
}

TEST(WordsAfter, AreFirstWordsOnceAndThoseOfAGroup) {
  EXPECT_THAT(WordsAfter(""), IsSupersetOf({"verify", "volume"}));
  EXPECT_EQ(std::ranges::count(WordsAfter(""), "volume"), 1);
  EXPECT_THAT(WordsAfter("volume"), IsSupersetOf({"ingest", "cutout"}));
  EXPECT_THAT(WordsAfter("vol"), IsEmpty());
  EXPECT_THAT(WordsAfter("verify"), IsEmpty());
  EXPECT_THAT(Groups(), ElementsAre("volume", "mesh", "skeleton", "annotations",
                                    "properties", "pack", "cas"));
}

TEST(VerbHelp, FitsATerminalButForExamplesAndStatus) {
  for (const Verb& verb : Verbs()) {
    const std::string help = VerbHelp(verb);
    std::istringstream lines(help.substr(0, help.find("\nexamples:")));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 90u) << line;
  }
}

TEST(ManPage, NamesEveryOption) {
  for (const Verb& verb : Verbs()) {
    const std::string page = VerbManPage(verb, ManFormat::kMarkdown);
    for (const Option& option : AllOptions(verb)) {
      EXPECT_THAT(page, HasSubstr("`" + Signature(option) + "`"));
    }
  }
}

TEST(ManPage, KeepsDashesAndQuotesInRoff) {
  const std::string page = VerbManPage(*FindVerb("verify"), ManFormat::kRoff);
  EXPECT_THAT(page, HasSubstr(".TH DOLIUM\\-VERIFY 1 "));
  EXPECT_THAT(page, HasSubstr("\\fB\\-j, \\-\\-jobs <n>\\fR\n"));
  EXPECT_THAT(page, HasSubstr("\\(aqselect(.type == \"bad\").key\\(aq"));
}

TEST(ManPage, IsNamedByAllWordsOfTheVerb) {
  const std::string page = VerbManPage(*FindVerb("volume ingest"), ManFormat::kMarkdown);
  EXPECT_THAT(page, HasSubstr("# dolium-volume-ingest(1)\n"));
  EXPECT_THAT(page, HasSubstr("**dolium volume ingest** [options]"));
}

TEST(BashCompletion, KnowsVerbsOptionsAndFormats) {
  const std::string script = BashCompletion(BuiltinFormats());
  for (const Verb& verb : Verbs()) {
    EXPECT_THAT(script, HasSubstr("\n    '" + std::string(verb.name) + "')\n"));
  }
  EXPECT_THAT(script, HasSubstr("-f|--format) COMPREPLY=($(compgen -W 'neuroglancer "
                                "shardpack xet dvid files'"));
}

}  // namespace
}  // namespace dolium::cli
