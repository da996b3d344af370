// The program behind main().
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "cli/terminal/terminal.h"
#include "dolium/container/format.h"

namespace dolium::cli {

// Does what `arguments` (without the program's name) ask for. Output is flushed.
ExitStatus Run(const std::vector<std::string>& arguments, Formats formats,
               Terminal& terminal, std::stop_token stop);

// What `dolium` is to be asked for when `shardpack` is asked for `arguments`.
std::vector<std::string> AsPackVerbs(std::vector<std::string> arguments);

}  // namespace dolium::cli
