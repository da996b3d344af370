#include "cli/run.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/help.h"
#include "cli/verbs.h"
#include "dolium/bytes/default_cache.h"

namespace dolium::cli {
namespace {

// `group` is what stands before the word, with a space; or empty.
Error UnknownVerb(const std::string& group, const std::string& word,
                  std::string_view program) {
  const std::vector<std::string_view> words =
      WordsAfter(std::string_view(group).substr(0, group.find(' ')));
  const std::string_view nearest = Nearest(word, words);
  const char* const what = word.starts_with('-') ? "option" : "verb";
  // `shardpack` is the group itself.
  const std::string shown = program == kPackProgram ? "" : group;
  if (!nearest.empty()) {
    return InvalidArgument(fmt::format("no {} \"{}{}\"; did you mean {}{}?", what, shown,
                                       word, shown, nearest));
  }
  return InvalidArgument(
      fmt::format("no {} \"{}{}\"; try: {} {}--help", what, shown, word, program, shown));
}

ExitStatus Fail(Terminal& terminal, const Error& error) {
  terminal.Report(error);
  return ExitStatusOf(error.code, Missing::kLocation);
}

ExitStatus RunVerb(const Verb& verb, std::span<const std::string> rest, Formats formats,
                   Terminal& terminal, std::stop_token stop) {
  // Before parsing, so that even its errors are objects.
  terminal.set_json(std::find(rest.begin(), rest.end(), "--json") != rest.end());
  auto arguments = ParseArguments(verb, rest);
  if (!arguments) return Fail(terminal, arguments.error());
  if (arguments->Has("help")) {
    terminal.Raw(
        AsBytes(terminal.AsCalled(VerbHelp(verb, arguments->Get("to").value_or("")))));
    return ExitStatus::kGood;
  }
  terminal.set_json(arguments->Has("json"));
  const std::string when = arguments->Get("progress").value_or("auto");
  terminal.set_progress(when == "always"  ? Terminal::ProgressWhen::kAlways
                        : when == "never" ? Terminal::ProgressWhen::kNever
                                          : Terminal::ProgressWhen::kAuto);
  Context context(formats, terminal, std::move(stop), *std::move(arguments));
  return verb.run(context);
}

// Takes `--cache <folder>` out of the words. It may stand before the verb or after it.
Result<void> TakeCache(std::vector<std::string>& words) {
  constexpr std::string_view kName = "--cache";
  for (size_t i = 0; i < words.size() && words[i] != "--";) {
    std::string value;
    size_t taken = 1;
    if (words[i] == kName) {
      if (i + 1 == words.size()) {
        return InvalidArgument("--cache needs a folder; try: --cache /tmp/cache,20GB");
      }
      value = words[i + 1];
      taken = 2;
    } else if (words[i].starts_with(kName) && words[i][kName.size()] == '=') {
      value = words[i].substr(kName.size() + 1);
    } else {
      ++i;
      continue;
    }
    DOLIUM_TRY(const CacheOptions options, ParseCacheOptions(value));
    SetDefaultCache(options);
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    words.erase(at, at + static_cast<std::ptrdiff_t>(taken));
  }
  return {};
}

ExitStatus Dispatch(std::vector<std::string> arguments, Formats formats,
                    Terminal& terminal, std::stop_token stop) {
  if (const auto taken = TakeCache(arguments); !taken) {
    return Fail(terminal, taken.error());
  }
  if (arguments.empty()) {
    return Fail(terminal, InvalidArgument("no verb given; try: dolium --help"));
  }
  const auto is_help = [](const std::string& word) {
    return word == "--help" || word == "-h";
  };
  const std::string& first = arguments.front();
  if (is_help(first)) {
    terminal.Raw(AsBytes(OverviewHelp()));
    return ExitStatus::kGood;
  }
  if (first == "--version") {
    terminal.Line("dolium " DOLIUM_VERSION);
    return ExitStatus::kGood;
  }
  std::string group;
  std::span<const std::string> words = arguments;
  if (!WordsAfter(first).empty()) {
    words = words.subspan(1);
    if (words.empty() || is_help(words.front())) {
      terminal.Raw(AsBytes(terminal.AsCalled(GroupHelp(first))));
      return ExitStatus::kGood;
    }
    group = first + " ";
  }
  const Verb* const verb = FindVerb(group + words.front());
  if (verb == nullptr) {
    return Fail(terminal, UnknownVerb(group, words.front(), terminal.program()));
  }
  return RunVerb(*verb, words.subspan(1), formats, terminal, std::move(stop));
}

}  // namespace

std::vector<std::string> AsPackVerbs(std::vector<std::string> arguments) {
  // What is no verb of packs is the same as for dolium.
  if (!arguments.empty() &&
      (arguments[0] == "--version" || arguments[0] == "completion")) {
    return arguments;
  }
  const bool is_help = !arguments.empty() && arguments[0] == "help";
  arguments.insert(arguments.begin() + (is_help ? 1 : 0), std::string(kPackGroup));
  return arguments;
}

ExitStatus Run(const std::vector<std::string>& arguments, Formats formats,
               Terminal& terminal, std::stop_token stop) {
  const ExitStatus status = Dispatch(arguments, formats, terminal, std::move(stop));
  terminal.EndProgress();
  const auto flushed = terminal.Flush();
  if (!flushed && !terminal.reader_gone())
    return Worse(status, Fail(terminal, flushed.error()));
  return status;
}

}  // namespace dolium::cli
