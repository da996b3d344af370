// What rows of `dolium pack` share.
#pragma once

#include <string_view>
#include <vector>

#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace dolium::cli {

using Options = std::vector<Option>;

inline constexpr Option kPackMemory = Value(ValueKind::kSize, "", "memory", "<size>",
                                            "most to hold of samples at once [256MiB]");
inline constexpr Option kPackPlan =
    Flag("", "plan", "refused: which files there will be is not known beforehand");
inline constexpr Option kPrefix =
    Value(ValueKind::kText, "", "prefix", "<text>", "samples whose keys begin with this");
inline constexpr Option kSeed =
    Value(ValueKind::kNumber, "", "seed", "<n>", "choose another order or part [0]");

inline constexpr std::string_view kSetDetails =
    "A set is one shard; shards in brace notation, as in `train-{000000..000099}"
    ".shardpack`; a pattern in quotes; a folder, for the *.shardpack in it; a list, as "
    "in "
    "`shards.txt` or `@shards`, with a reference on each line; or a catalog, as in "
    "`catalog.json`. Shards may be URLs.";

// Which samples of a set are meant.
inline Options PackSelectRows() {
  return {
      kPrefix,
      Value(ValueKind::kFile, "", "keys-from", "<file>",
            "samples whose keys are the lines of a file [-: standard input]"),
      Flag("", "ignore-missing", "keys of the file that are not there are no error"),
      Value(ValueKind::kText, "", "range", "<begin:end>",
            "samples of these numbers, as in 0:1000 or 500:"),
      Value(ValueKind::kNumber, "", "every", "<n>", "of those left, every n-th"),
      Value(ValueKind::kText, "", "sample", "<n | p%>",
            "of those left, a random part, in the order of the set"),
      kSeed,
  };
}

Verb PackCreateVerb();
Verb PackImportVerb();
// split, merge, reshard and the like.
std::vector<Verb> PackCopyVerbs();

}  // namespace dolium::cli
