// Shell completion, from the table of verbs.
#pragma once

#include <string>

#include "dolium/container/format.h"

namespace dolium::cli {

// A script to source in bash. Names of verbs, options, choices and formats; files
// otherwise.
std::string BashCompletion(Formats formats);
// The same, with descriptions. That of zsh may also be a file `_dolium` in its fpath.
std::string ZshCompletion(Formats formats);
std::string FishCompletion(Formats formats);

}  // namespace dolium::cli
