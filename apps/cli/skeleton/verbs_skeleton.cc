// The rows of `dolium skeleton`.
#include <vector>

#include "cli/verbs.h"

namespace dolium::cli {

std::vector<Verb> SkeletonVerbs() { return {SkeletonMakeVerb()}; }

}  // namespace dolium::cli
