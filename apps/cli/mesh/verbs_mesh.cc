// The rows of `dolium mesh`.
#include <vector>

#include "cli/verbs.h"

namespace dolium::cli {

std::vector<Verb> MeshVerbs() { return {MeshMakeVerb()}; }

}  // namespace dolium::cli
