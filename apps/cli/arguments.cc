#include "cli/arguments.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/terminal/size.h"

namespace dolium::cli {
namespace {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0u : 1u)});
      diagonal = above;
    }
  }
  return row.back();
}

Error UsageError(const Verb& verb, std::string_view message) {
  return InvalidArgument(
      fmt::format("{}: {}; try: dolium {} --help", verb.name, message, verb.name));
}

Error UnknownOption(const Verb& verb, const std::string& option) {
  const std::string name = option.substr(0, option.find('='));
  std::vector<std::string> names = {"--help"};
  for (const Option& known : verb.options) {
    if (!known.help.empty()) names.push_back(fmt::format("--{}", known.name));
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view nearest = Nearest(name, candidates);
  if (nearest.empty()) return UsageError(verb, fmt::format("unknown option {}", name));
  return InvalidArgument(
      fmt::format("{}: unknown option {}; did you mean {}?", verb.name, name, nearest));
}

// Checks a value by its kind; the result is what Arguments keeps.
Result<std::string> CheckValue(const Option& option, const std::string& value) {
  switch (option.kind) {
    case ValueKind::kNumber: {
      DOLIUM_TRY(const uint64_t number, ParseNumber(value));
      return std::to_string(number);
    }
    case ValueKind::kSize: {
      DOLIUM_TRY(const uint64_t size, ParseSize(value));
      return std::to_string(size);
    }
    case ValueKind::kChoice: {
      const std::vector<std::string> choices =
          CLI::detail::split(std::string(option.choices), ' ');
      if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
        return InvalidArgument(
            fmt::format("\"{}\" is none of: {}", value, fmt::join(choices, ", ")));
      }
      return value;
    }
    case ValueKind::kFlag:
    case ValueKind::kText:
    case ValueKind::kFile:
    case ValueKind::kFormat:
    case ValueKind::kFiles:
    case ValueKind::kTexts:
      return value;
    case ValueKind::kPairs:
      if (value.find('=', 1) == std::string::npos) {
        return InvalidArgument(fmt::format("\"{}\" is not NAME=VALUE", value));
      }
      return value;
  }
  return value;
}

// Options of several words, with their name before each word, as CLI11 takes them.
std::vector<std::string> RepeatNames(const Verb& verb,
                                     std::span<const std::string> arguments) {
  std::vector<std::string> out;
  const Option* last = nullptr;  // its words may go on
  const auto rest = std::ranges::find(arguments, "--");
  for (auto at = arguments.begin(); at != rest; ++at) {
    const std::string& word = *at;
    const bool is_option = word.size() > 1 && word.starts_with('-');
    if (is_option) {
      const auto named = std::ranges::find_if(verb.options, [&](const Option& option) {
        return word == fmt::format("--{}", option.name);
      });
      const bool takes_words =
          named != verb.options.end() &&
          (named->kind == ValueKind::kPairs || named->kind == ValueKind::kFiles);
      last = takes_words ? &*named : nullptr;
      out.push_back(word);
      continue;
    }
    const bool is_first = !out.empty() && last != nullptr && out.back().starts_with('-');
    const bool goes_on = last != nullptr && (last->kind == ValueKind::kFiles ||
                                             word.find('=') != std::string::npos);
    if (goes_on && !is_first) out.push_back(fmt::format("--{}", last->name));
    if (!goes_on && !is_first) last = nullptr;
    out.push_back(word);
  }
  out.insert(out.end(), rest, arguments.end());
  return out;
}

// All names of an option, as CLI11 takes them.
std::string CliNames(const Option& option) {
  std::string names = fmt::format("--{}", option.name);
  if (!option.letter.empty()) names += fmt::format(",-{}", option.letter);
  for (const std::string& alias : CLI::detail::split(std::string(option.aliases), ' ')) {
    if (!alias.empty()) names += fmt::format(",--{}", alias);
  }
  return names;
}

// How many arguments a usage allows.
struct ArgumentCounts {
  size_t least = 0;
  size_t most = 0;
};

// `<x>` and plain words are one each, `[<x>]` may be left out, `<x>...` is any number.
// Options do not count, nor does what follows one.
ArgumentCounts CountArguments(std::string_view usage) {
  ArgumentCounts counts;
  bool follows_option = false;
  for (size_t begin = 0, end = 0; begin < usage.size(); begin = end + 1) {
    end = begin;
    for (bool within = false; end < usage.size() && (within || usage[end] != ' ');
         ++end) {
      within = usage[end] == '<' || (within && usage[end] != '>');
    }
    const std::string_view word = usage.substr(begin, end - begin);
    const bool is_option = word == "[options]" || word.starts_with('-');
    if (!is_option && !follows_option) {
      if (!word.starts_with('[')) ++counts.least;
      // Others may follow what there is any number of.
      const bool is_any_number = word.find("...") != std::string_view::npos;
      counts.most = is_any_number ? SIZE_MAX : std::max(counts.most, counts.most + 1);
    }
    follows_option = word.starts_with('-');
  }
  return counts;
}

}  // namespace

std::string_view Nearest(std::string_view word,
                         std::span<const std::string_view> candidates) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

bool Arguments::Has(std::string_view option) const {
  return options_.find(option) != options_.end();
}

std::optional<std::string> Arguments::Get(std::string_view option) const {
  const auto found = options_.find(option);
  if (found == options_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Arguments::GetAll(std::string_view option) const {
  const auto found = words_.find(option);
  return found == words_.end() ? std::vector<std::string>() : found->second;
}

uint64_t Arguments::Number(std::string_view option, uint64_t fallback) const {
  const auto text = Get(option);
  if (!text) return fallback;
  const auto number = ParseNumber(*text);
  return number ? *number : fallback;
}

Result<std::optional<std::string>> Arguments::Target(size_t position) const {
  auto output = Get("output");
  if (positionals_.size() <= position) return output;
  if (!output) return positionals_[position];
  return InvalidArgument(fmt::format("--output {} and {}: one of them is too many",
                                     *output, positionals_[position]));
}

Result<Arguments> ParseArguments(const Verb& verb,
                                 std::span<const std::string> arguments) {
  CLI::App app;
  app.set_help_flag();  // None of CLI11's own: help comes from the table.
  app.allow_extras();
  CLI::Option* const help = app.add_flag("-h,--help");
  std::vector<CLI::Option*> parsed;
  const std::vector<Option> options = DistinctOptions(verb);
  std::vector<std::string> values(options.size());
  std::vector<std::vector<std::string>> words(options.size());
  for (size_t i = 0; i < options.size(); ++i) {
    const Option& option = options[i];
    const std::string names = CliNames(option);
    if (option.kind == ValueKind::kFlag) {
      parsed.push_back(app.add_flag(names));
    } else if (option.kind == ValueKind::kPairs || option.kind == ValueKind::kFiles ||
               option.kind == ValueKind::kTexts) {
      parsed.push_back(app.add_option(names, words[i])
                           ->expected(1)
                           ->allow_extra_args(false)
                           ->take_all());
    } else {
      parsed.push_back(app.add_option(names, values[i])->take_last());
    }
  }
  try {
    // CLI11 takes the arguments last first.
    std::vector<std::string> repeated = RepeatNames(verb, arguments);
    std::ranges::reverse(repeated);
    app.parse(std::move(repeated));
  } catch (const CLI::ArgumentMismatch&) {
    return UsageError(verb, fmt::format("{} needs a value", arguments.back()));
  } catch (const CLI::ParseError& error) {
    return UsageError(verb, error.what());
  }

  Arguments out;
  // All positionals are extras to CLI11, as are unknown options in front of "--".
  bool only_positionals = false;
  for (const std::string& extra : app.remaining()) {
    const bool digit = extra.size() > 1 && extra[1] >= '0' && extra[1] <= '9';
    if (!only_positionals && extra == "--") {
      only_positionals = true;
    } else if (!only_positionals && extra.size() > 1 && extra[0] == '-' && !digit) {
      return UnknownOption(verb, extra);
    } else {
      out.positionals_.push_back(extra);
    }
  }
  for (size_t i = 0; i < options.size(); ++i) {
    const Option& option = options[i];
    if (parsed[i]->count() == 0) continue;
    for (const std::string& word : words[i]) {
      const auto value = CheckValue(option, word);
      if (!value) {
        return UsageError(verb,
                          fmt::format("--{}: {}", option.name, value.error().message));
      }
    }
    if (!words[i].empty()) {
      out.options_.emplace(option.name, words[i].back());
      out.words_.emplace(option.name, std::move(words[i]));
      continue;
    }
    auto value = CheckValue(option, values[i]);
    if (!value) {
      return UsageError(verb,
                        fmt::format("--{}: {}", option.name, value.error().message));
    }
    out.options_.emplace(option.name, *std::move(value));
  }
  if (help->count() > 0) {
    out.options_.emplace("help", "");
    return out;
  }
  const ArgumentCounts counts = CountArguments(verb.usage);
  if (out.positionals_.size() < counts.least) {
    return InvalidArgument(fmt::format("{}: too few arguments; usage: dolium {} {}",
                                       verb.name, verb.name, verb.usage));
  }
  if (out.positionals_.size() > counts.most) {
    return InvalidArgument(
        fmt::format("{}: \"{}\" is one argument too many; usage: dolium {} {}", verb.name,
                    out.positionals_[counts.most], verb.name, verb.usage));
  }
  return out;
}

}  // namespace dolium::cli
