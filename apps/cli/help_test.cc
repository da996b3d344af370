#include "cli/help.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

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

TEST(Verbs, HaveOptionsOfDifferentNames) {
  for (const Verb& verb : Verbs()) {
    std::set<std::string_view> names;
    for (const Option& option : AllOptions(verb)) {
      EXPECT_TRUE(names.insert(option.name).second) << verb.name << " --" << option.name;
      if (option.letter.empty()) continue;
      EXPECT_TRUE(names.insert(option.letter).second)
          << verb.name << " -" << option.letter;
    }
  }
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
  EXPECT_THAT(Groups(), ElementsAre("volume", "pack", "cas"));
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
