// The scripts of zsh and fish. Both have the shell describe what it offers.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/completion.h"
#include "cli/help.h"
#include "cli/verbs.h"

namespace dolium::cli {
namespace {

// `text` with a backslash before each of `special`.
std::string Backslashed(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string InFishQuotes(std::string_view text) {
  return fmt::format("'{}'", Backslashed(text, "\\'"));
}

std::string InZshQuotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

// A word that may come next, and what it is.
struct NextWord {
  std::string_view word;
  std::string help;
};

std::vector<NextWord> NextWords(std::string_view group) {
  std::vector<NextWord> next;
  for (const std::string_view word : WordsAfter(group)) {
    const std::string name =
        group.empty() ? std::string(word) : fmt::format("{} {}", group, word);
    const Verb* const verb = FindVerb(name);
    next.push_back(
        {word, verb != nullptr
                   ? std::string(verb->outline)
                   : fmt::format("verbs: {}", fmt::join(WordsAfter(word), " "))});
  }
  return next;
}

// The groups, and `help` of them: what has been given, and the group it goes on with.
std::vector<std::pair<std::string, std::string>> Beginnings() {
  std::vector<std::pair<std::string, std::string>> all = {{"", ""}, {"help", ""}};
  for (const std::string_view group : Groups()) {
    all.emplace_back(group, group);
    all.emplace_back(fmt::format("help {}", group), group);
  }
  return all;
}

std::vector<Option> CompletedOptions(const Verb& verb) {
  std::vector<Option> options;
  std::set<std::string_view> seen;
  for (const Option& option : AllOptions(verb)) {
    if (seen.insert(option.name).second) options.push_back(option);
  }
  return options;
}

std::string FormatNames(Formats formats) {
  std::vector<std::string_view> names;
  for (const Format& format : formats) names.push_back(format.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// The words that a value may be; empty: any text, or a file.
std::string ChoicesOf(const Option& option, Formats formats) {
  if (option.kind == ValueKind::kFormat) return FormatNames(formats);
  return option.kind == ValueKind::kChoice ? std::string(option.choices) : "";
}

bool TakesFile(const Option& option) {
  return option.kind == ValueKind::kFile || option.kind == ValueKind::kFiles;
}

std::string FishOption(const Verb& verb, const Option& option, Formats formats) {
  std::string line = fmt::format("  complete -c $program -n '__dolium_in {}' -l {}",
                                 verb.name, option.name);
  if (!option.letter.empty()) line += fmt::format(" -s {}", option.letter);
  const std::string choices = ChoicesOf(option, formats);
  if (!choices.empty()) {
    line += fmt::format(" -x -a {}", InFishQuotes(choices));
  } else if (TakesFile(option)) {
    line += " -r -F";
  } else if (option.kind != ValueKind::kFlag) {
    line += " -x";
  }
  return fmt::format("{} -d {}\n", line, InFishQuotes(option.help));
}

std::string ZshOption(const Option& option, Formats formats) {
  const std::string help = fmt::format("[{}]", Backslashed(option.help, "[]:\\"));
  std::string value;
  if (option.kind != ValueKind::kFlag) {
    const std::string choices = ChoicesOf(option, formats);
    value = fmt::format(":{}:", Backslashed(option.value, ":\\"));
    if (!choices.empty()) value += fmt::format("({})", choices);
    if (choices.empty() && TakesFile(option)) value += "_files";
  }
  std::string spec = fmt::format(
      "      {}\n", InZshQuotes(fmt::format("--{}{}{}", option.name, help, value)));
  if (!option.letter.empty()) {
    spec += fmt::format("      {}\n",
                        InZshQuotes(fmt::format("-{}{}{}", option.letter, help, value)));
  }
  return spec;
}

}  // namespace

std::string FishCompletion(Formats formats) {
  std::string out =
      R"(# fish completion for dolium; to use it: dolium completion fish | source

# The words given so far, without options; `shardpack VERB` is `dolium pack VERB`.
function __dolium_words
  set -l given (commandline -opc)
  test (basename -- $given[1]) = shardpack; and echo pack
  set -l is_value no
  for word in $given[2..]
    if test $is_value = yes
      set is_value no
    else if test "$word" = --cache
      set is_value yes
    else if not string match -q -- '-*' $word
      echo $word
    end
  end
end

# Whether those are all the words given.
function __dolium_at
  set -l words (__dolium_words | string join ' ')
  test "$words" = "$argv"
end

# Whether the words given begin with those.
function __dolium_in
  set -l words (__dolium_words | string join ' ')
  string match -q -- "$argv *" "$words "
end

for program in dolium shardpack
  complete -c $program -e
  complete -c $program -l cache -r -F -d 'keep what is read from remote locations'
  complete -c $program -l help -s h -d 'explain it'
)";
  for (const auto& [given, group] : Beginnings()) {
    for (const NextWord& next : NextWords(group)) {
      out += fmt::format("  complete -c $program -f -n '__dolium_at {}' -a {} -d {}\n",
                         given, next.word, InFishQuotes(next.help));
    }
  }
  out += "  complete -c $program -f -n '__dolium_at completion' -a 'bash zsh fish'\n";
  for (const Verb& verb : Verbs()) {
    for (const Option& option : CompletedOptions(verb)) {
      if (option.name != "help") out += FishOption(verb, option, formats);
    }
  }
  return out + "end\n";
}

std::string ZshCompletion(Formats formats) {
  std::string out = R"(#compdef dolium shardpack
# zsh completion for dolium; to use it: source <(dolium completion zsh), after compinit

_dolium() {
  local -a given next
  local word is_value=no
  # `shardpack VERB` is `dolium pack VERB`.
  [[ ${words[1]:t} == shardpack ]] && given=(pack)
  for word in "${(@)words[2,CURRENT-1]}"; do
    if [[ $is_value == yes ]]; then
      is_value=no
    elif [[ $word == --cache ]]; then
      is_value=yes
    elif [[ $word != -* ]]; then
      given+=("$word")
    fi
  done
  if [[ $is_value == yes ]]; then
    _files -/
    return
  fi
  case "${(j: :)given}" in
)";
  for (const auto& [given, group] : Beginnings()) {
    out += fmt::format("  '{}')\n    next=(\n", given);
    for (const NextWord& next : NextWords(group)) {
      out += fmt::format("      {}\n",
                         InZshQuotes(fmt::format("{}:{}", next.word, next.help)));
    }
    out += R"(    )
    [[ $PREFIX == -* ]] || { _describe -t verbs verb next; return; }
    _arguments '--help[explain it]' '--version[show the version]' '--cache[keep what is read]:folder:_files -/'
    return ;;
)";
  }
  out +=
      "  completion)\n    next=(bash zsh fish)\n    _describe -t shells shell next\n"
      "    return ;;\n";
  for (const Verb& verb : Verbs()) {
    out += fmt::format("  '{0}'|'{0} '*)\n    next=(\n", verb.name);
    for (const Option& option : CompletedOptions(verb)) out += ZshOption(option, formats);
    out += "    ) ;;\n";
  }
  return out + R"(  *) return 1 ;;
  esac
  _arguments -S $next '--cache[keep what is read from remote locations]:folder:_files -/' '*:file:_files'
}

if [[ ${funcstack[1]-} == _dolium ]]; then
  _dolium "$@"
else
  compdef _dolium dolium shardpack
fi
)";
}

}  // namespace dolium::cli
