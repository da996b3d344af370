// Sets and sources that come through a pipe.
#pragma once

#include <string>

#include "dolium/base/result.h"

namespace dolium::cli {

// The path of what a verb is to read: `reference` itself, or, of `-`, a path by which
// this process reads standard input at any place. What comes through a pipe is kept in an
// unnamed temporary file, as long as the process lives: disk space, not memory.
Result<std::string> PackInput(const std::string& reference);

}  // namespace dolium::cli
