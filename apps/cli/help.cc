#include "cli/help.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace dolium::cli {
namespace {

constexpr size_t kWidth = 90;
constexpr size_t kWidestSignature = 26;  // a longer one has its help on the next line

constexpr Option kHelp = {"h", "help", ValueKind::kFlag, "", "show this text", ""};

// `text` from column `indent` on, broken between words; the first line is already there.
std::string Wrap(std::string_view text, size_t indent) {
  std::string out;
  size_t column = indent;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (column > indent && column + 1 + word.size() > kWidth) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return out;
}

// Two columns, the left one as wide as it needs to be.
std::string Columns(const std::vector<std::pair<std::string, std::string_view>>& rows) {
  size_t width = 0;
  for (const auto& [left, right] : rows) {
    if (left.size() <= kWidestSignature) width = std::max(width, left.size());
  }
  std::string out;
  for (const auto& [left, right] : rows) {
    const size_t indent = 2 + width + 2;
    if (left.size() > width) {
      out += fmt::format("  {}\n{}", left, std::string(indent, ' '));
    } else {
      out += fmt::format("  {:<{}}", left, width + 2);
    }
    out += Wrap(right, indent);
    out += '\n';
  }
  return out;
}

// "neuroglancer or files" for "neuroglancer files".
std::string OrList(std::string_view words) {
  std::string text(words);
  for (size_t at = 0; (at = text.find(' ', at)) != std::string::npos; at += 4) {
    text.replace(at, 1, " or ");
  }
  return text;
}

}  // namespace

std::vector<Option> AllOptions(const Verb& verb) {
  std::vector<Option> options = verb.options;
  std::erase_if(options, [](const Option& option) { return option.help.empty(); });
  options.push_back(kHelp);
  return options;
}

std::string OverviewHelp() {
  std::vector<std::pair<std::string, std::string_view>> rows;
  for (const Verb& verb : Verbs()) rows.emplace_back(verb.name, verb.outline);
  const std::vector<std::pair<std::string, std::string_view>> options = {
      {"-h, --help", "show this text"},
      {"--version", "show the version"},
      {"--cache <folder>", kCacheHelp}};
  return fmt::format(
      "usage: dolium <verb> [options] ...\n\n{}\n\nverbs:\n{}\noptions:\n{}\n"
      "A location is a file, a folder, or a URL (http, https, gs, precomputed).\n"
      "`dolium <verb> --help` explains a verb.\n\n{}\n",
      Wrap(kProgramSummary, 0), Columns(rows), Columns(options), kExitStatusHelp);
}

std::string GroupHelp(std::string_view group) {
  std::vector<std::pair<std::string, std::string_view>> rows;
  for (const std::string_view word : WordsAfter(group)) {
    rows.emplace_back(word, FindVerb(fmt::format("{} {}", group, word))->outline);
  }
  return fmt::format(
      "usage: dolium {} <verb> [options] ...\n\nverbs:\n{}\n"
      "`dolium {} <verb> --help` explains a verb.\n",
      group, Columns(rows), group);
}

std::vector<OptionGroup> OptionGroups(const Verb& verb, std::string_view target) {
  std::vector<OptionGroup> groups(1);
  for (const Option& option : AllOptions(verb)) {
    if (!target.empty() && !IsFor(option, target)) continue;
    const bool is_common = option.targets.empty();
    const std::string_view targets = target.empty() ? option.targets : target;
    const std::string title = is_common ? "" : fmt::format("--to {}", OrList(targets));
    auto group = std::ranges::find(groups, title, &OptionGroup::title);
    if (group == groups.end()) group = groups.insert(group, {title, {}});
    group->options.push_back(option);
  }
  return groups;
}

std::string VerbHelp(const Verb& verb, std::string_view target) {
  std::string options;
  for (const OptionGroup& group : OptionGroups(verb, target)) {
    std::vector<std::pair<std::string, std::string_view>> rows;
    rows.reserve(group.options.size());
    for (const Option& option : group.options) {
      rows.emplace_back(Signature(option), option.help);
    }
    if (!group.title.empty()) options += fmt::format("\n{}:\n", group.title);
    options += Columns(rows);
  }
  std::string examples;
  for (const std::string_view example : verb.examples)
    examples += fmt::format("  {}\n", example);
  return fmt::format("usage: dolium {} {}\n\n{}\n\n{}\nexamples:\n{}\n{}\n", verb.name,
                     verb.usage, Wrap(verb.description, 0), options, examples,
                     kExitStatusHelp);
}

}  // namespace dolium::cli
