#include "cli/findings.h"

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verbs.h"

namespace dolium::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// What `add` prints, as lines of `verify`.
template <typename Add>
std::string Printed(const std::vector<std::string>& words, const Add& add) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(tmpfile(), &fclose);
  {
    Terminal terminal(fileno(file.get()), STDERR_FILENO);
    auto arguments = ParseArguments(*FindVerb("verify"), words);
    EXPECT_TRUE(arguments);
    const Context context({}, terminal, {}, *std::move(arguments));
    terminal.set_json(context.arguments.Has("json"));
    FindingPrinter printer(context, FindingPrinter::Output::kResults);
    add(printer);
  }
  std::string text(1 << 20, '\0');
  const ssize_t count = pread(fileno(file.get()), text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return text;
}

Finding Missing(const std::string& object, size_t number) {
  Finding finding;
  finding.kind = "missing";
  finding.object = object;
  finding.message = "number " + std::to_string(number);
  return finding;
}

size_t LinesOf(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(FindingPrinter, CountsWhatRepeatsInAnObject) {
  const std::string text = Printed({"set"}, [](FindingPrinter& printer) {
    for (size_t i = 0; i < 47'187; ++i) printer.Add(Missing("a", i));
    printer.Add(Missing("b", 0));
  });
  EXPECT_EQ(LinesOf(text), 12u) << text;
  EXPECT_THAT(text, HasSubstr("a: number 9\n"));
  EXPECT_THAT(text, Not(HasSubstr("a: number 10\n")));
  EXPECT_THAT(text, HasSubstr("b: number 0\n"));
  EXPECT_THAT(text,
              HasSubstr("47,177 more of kind \"missing\"; --all-findings shows them\n"));
}

TEST(FindingPrinter, CountsWhatRepeatsInManyObjects) {
  const std::string text = Printed({"set"}, [](FindingPrinter& printer) {
    for (size_t i = 0; i < 1'000; ++i) printer.Add(Missing(std::to_string(i), i));
  });
  EXPECT_EQ(LinesOf(text), 101u) << text;
  EXPECT_THAT(text, HasSubstr("900 more of kind \"missing\""));
}

TEST(FindingPrinter, ShowsAllOnRequestAndToPrograms) {
  for (const char* const option : {"--all-findings", "--json"}) {
    const std::string text = Printed({option, "set"}, [](FindingPrinter& printer) {
      for (size_t i = 0; i < 500; ++i) printer.Add(Missing("a", i));
    });
    EXPECT_EQ(LinesOf(text), 500u) << option;
  }
}

}  // namespace
}  // namespace dolium::cli
