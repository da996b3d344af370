// What several verbs of meshes take.
#pragma once

#include "cli/context.h"
#include "dolium/base/result.h"

namespace dolium::cli {

// --lod: 0 unless it is given.
Result<int> LevelOption(const Context& context);

}  // namespace dolium::cli
