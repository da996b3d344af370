#include "cli/completion.h"

#include <set>
#include <string_view>

#include <fmt/format.h>

#include "cli/help.h"
#include "cli/verbs.h"

namespace dolium::cli {
namespace {

// The case pattern of an option: `-j|--jobs`.
std::string Pattern(const Option& option) {
  if (option.letter.empty()) return fmt::format("--{}", option.name);
  return fmt::format("-{}|--{}", option.letter, option.name);
}

std::string Words(std::string_view group) {
  return fmt::format("{}", fmt::join(WordsAfter(group), " "));
}

// The words that go on after a group, and after `help` and a group.
std::string GroupCases() {
  std::string out;
  for (const std::string_view group : Groups()) {
    out += fmt::format("    '{0}'|'help {0}') words='{1}' ;;\n", group, Words(group));
  }
  return out;
}

// What bash does for the value of an option.
std::string ValueReply(const Option& option, const std::string& format_names) {
  switch (option.kind) {
    case ValueKind::kFlag:
      return "";
    case ValueKind::kChoice:
      return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\"))",
                         option.choices);
    case ValueKind::kFormat:
      return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\"))", format_names);
    case ValueKind::kFile:
    case ValueKind::kFiles:
      return "COMPREPLY=($(compgen -f -- \"$current\"))";
    case ValueKind::kText:
    case ValueKind::kTexts:
    case ValueKind::kPairs:
    case ValueKind::kNumber:
    case ValueKind::kSize:
      return "COMPREPLY=()";
  }
  return "";
}

std::string VerbCase(const Verb& verb, const std::string& format_names) {
  std::string options;
  std::string values;
  std::set<std::string_view> seen;
  for (const Option& option : AllOptions(verb)) {
    if (!seen.insert(option.name).second) continue;
    options += fmt::format("{}--{}", options.empty() ? "" : " ", option.name);
    const std::string reply = ValueReply(option, format_names);
    if (reply.empty()) continue;
    values += fmt::format("        {}) {}; return ;;\n", Pattern(option), reply);
  }
  std::string out = fmt::format("    '{}')\n", verb.name);
  if (!values.empty()) {
    out += fmt::format("      case $previous in\n{}      esac\n", values);
  }
  out += fmt::format("      options='{}'\n", options);
  if (verb.name == "help") out += fmt::format("      words='{}'\n", Words(""));
  if (verb.name == "completion") out += "      words='bash zsh fish'\n";
  out += "      ;;\n";
  return out;
}

}  // namespace

std::string BashCompletion(Formats formats) {
  std::string format_names;
  for (const Format& format : formats) {
    if (!format_names.empty()) format_names += ' ';
    format_names += format.name;
  }
  std::string cases;
  for (const Verb& verb : Verbs()) cases += VerbCase(verb, format_names);

  return fmt::format(
      R"(# bash completion for dolium; to use it: source <(dolium completion bash)

_dolium() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local options='' words='' kept=() i
  COMPREPLY=()
  # `--cache FOLDER` and `--cache=FOLDER`, which bash cuts at the sign, stand anywhere.
  for ((i = 0; i < COMP_CWORD; ++i)); do
    if [[ ${{COMP_WORDS[i]}} != --cache ]]; then
      kept+=("${{COMP_WORDS[i]}}")
      continue
    fi
    if [[ ${{COMP_WORDS[i+1]}} == = ]]; then ((++i)); fi
    if ((++i >= COMP_CWORD)); then
      COMPREPLY=($(compgen -d -- "${{current#=}}"))
      return
    fi
  done
  COMP_WORDS=("${{kept[@]}}" "$current")
  COMP_CWORD=${{#kept[@]}}
  previous=${{COMP_WORDS[COMP_CWORD-1]}}
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '{} --cache --help --version' -- "$current"))
    return
  fi
  case "${{COMP_WORDS[*]:1:COMP_CWORD-1}}" in
{}  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  local verb=${{COMP_WORDS[1]}}
  case $verb in
    {}) verb+=" ${{COMP_WORDS[2]}}" ;;
  esac
  case $verb in
{}    *) return ;;
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options --cache" -- "$current"))
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}

complete -o filenames -F _dolium dolium

# `{} VERB` is `dolium {} VERB`.
_{}() {{
  COMP_WORDS=(dolium {} "${{COMP_WORDS[@]:1}}")
  COMP_CWORD=$((COMP_CWORD + 1))
  _dolium
}}

complete -o filenames -F _{} {}
)",
      Words(""), GroupCases(), fmt::join(Groups(), "|"), cases, kPackProgram, kPackGroup,
      kPackProgram, kPackGroup, kPackProgram, kPackProgram);
}

}  // namespace dolium::cli
