// The words of the command line for the hints of errors and findings.
#pragma once

#include <string>
#include <string_view>

#include "dolium/base/error.h"

namespace dolium::cli {

// A message and, behind it, the option or command that may help.
std::string WithHintText(std::string_view message, Hint hint);

}  // namespace dolium::cli
