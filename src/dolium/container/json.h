// JSON from elsewhere, parsed so that it cannot hurt.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "dolium/base/result.h"

namespace dolium {

// Parses a whole text. kInvalidArgument if it is not JSON, or nested so deeply that
// copying or printing it would overflow the stack.
Result<nlohmann::json> ParseJson(std::string_view text);

}  // namespace dolium
