// Man pages, from the table of verbs: in roff for man(1), in Markdown for docs/man.
#pragma once

#include <string>

#include "cli/verbs.h"

namespace dolium::cli {

enum class ManFormat { kRoff, kMarkdown };

// dolium(1).
std::string OverviewManPage(ManFormat format);
// shardpack(1): the program that the verbs of packs are.
std::string PackManPage(ManFormat format);
// dolium-VERB(1).
std::string VerbManPage(const Verb& verb, ManFormat format);

}  // namespace dolium::cli
