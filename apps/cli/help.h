// What --help prints, from the table of verbs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs.h"

namespace dolium::cli {

// `dolium --help`, `dolium GROUP` and `dolium VERB --help`.
std::string OverviewHelp();
std::string GroupHelp(std::string_view group);
// With a target of convert, only the options that fit it.
std::string VerbHelp(const Verb& verb, std::string_view target = {});

// Of the option that stands before or after any verb.
inline constexpr std::string_view kCacheHelp =
    "keep what is read from remote locations in this folder; FOLDER,SIZE sets a limit "
    "[10GB], FOLDER,SIZE,offline asks no server";

// The options of a verb that texts show, with those that every verb has.
std::vector<Option> AllOptions(const Verb& verb);

// The same by what they are for: first those for everything, whose title is empty, then
// those for some targets of convert; if one is named, those that fit it.
struct OptionGroup {
  std::string title;  // "--to neuroglancer"
  std::vector<Option> options;
};
std::vector<OptionGroup> OptionGroups(const Verb& verb, std::string_view target = {});

}  // namespace dolium::cli
