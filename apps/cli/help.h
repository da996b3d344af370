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
std::string VerbHelp(const Verb& verb);

// Of the option that stands before or after any verb.
inline constexpr std::string_view kCacheHelp =
    "keep what is read from remote locations in this folder; FOLDER,SIZE sets a limit "
    "[10GB], FOLDER,SIZE,offline asks no server";

// The options of a verb, with those that every verb has.
std::vector<Option> AllOptions(const Verb& verb);

}  // namespace dolium::cli
