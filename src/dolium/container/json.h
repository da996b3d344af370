// JSON: parsed so that it cannot hurt, and written. The parser and the writer of the
// library are compiled here, once, and not by everybody who has JSON.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "dolium/base/result.h"

namespace dolium {

// Parses a whole text. kInvalidArgument if it is not JSON, or nested so deeply that
// copying or printing it would overflow the stack.
Result<nlohmann::json> ParseJson(std::string_view text);
// The same, with the members of objects in the order of the text.
Result<nlohmann::ordered_json> ParseOrderedJson(std::string_view text);

// As text, on one line, or with so many spaces a level. Throws json::exception if a
// string is not UTF-8.
std::string DumpJson(const nlohmann::json& value, int indent = -1);
std::string DumpJson(const nlohmann::ordered_json& value, int indent = -1);
// The same, but what is not UTF-8 becomes a replacement character.
std::string DumpJsonLossy(const nlohmann::json& value, int indent = -1);
std::string DumpJsonLossy(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace dolium
