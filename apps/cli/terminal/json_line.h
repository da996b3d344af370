// The lines of `--json`: docs/json.md is their description.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "dolium/container/properties.h"

namespace dolium::cli {

// Members in the order they were put in.
using Json = nlohmann::ordered_json;

// Of all lines. A higher number means that members changed their meaning or went; new
// members and new types leave it as it is.
inline constexpr int kJsonSchema = 1;

// {"type": type, "schema": kJsonSchema, ...members}.
Json TypedLine(std::string_view type, const Json& members);

// One line of JSON. Names are bytes, and need not be UTF-8: such a member `key` becomes
// `key_hex`, such an element of a list {"hex": ...}. In texts for people what is not
// UTF-8 is replaced.
std::string ToLine(const Json& json);

// A time in nanoseconds since 1970, as in "2026-01-31T23:59:59.5Z".
std::string JsonTime(int64_t nanoseconds);

// Numbers stay numbers.
Json PropertiesJson(const Properties& properties);

}  // namespace dolium::cli
