// JSON in the records of jobs: exceptions of the library end here.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/result.h"
#include "dolium/container/json.h"

namespace dolium {

// kInvalidArgument if a name in it is not UTF-8, which JSON cannot hold.
Result<std::string> DumpJob(const nlohmann::json& value, int indent = -1);

// The message of an exception, without the library's name for it.
std::string_view MessageOf(const nlohmann::json::exception& error);

// Parses `text` and lets `read` pick it apart; what that throws is kCorrupt. `what` says
// what the text should be: "a task".
template <typename Read>
auto ParseJob(std::string_view text, std::string_view what, const Read& read)
    -> decltype(read(nlohmann::json())) {
  const auto parsed = ParseJson(text);
  if (!parsed) return Corrupt(fmt::format("not {}: {}", what, parsed.error().message));
  try {
    return read(*parsed);
  } catch (const nlohmann::json::exception& error) {
    return Corrupt(fmt::format("not {}: {}", what, MessageOf(error)));
  }
}

}  // namespace dolium
