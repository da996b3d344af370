#include "dolium/container/json.h"

#include <algorithm>

#include <fmt/format.h>

namespace dolium {
namespace {

constexpr int kMaxDepth = 100;

// Brackets that are open at once, those within strings left out.
int Depth(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

template <typename Json>
Result<Json> ParseWithin(std::string_view text) {
  if (const int depth = Depth(text); depth > kMaxDepth) {
    return InvalidArgument(fmt::format(
        "JSON nested {} levels deep, more than the limit of {}", depth, kMaxDepth));
  }
  auto value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return InvalidArgument("not valid JSON");
  return value;
}

constexpr auto kReplace = nlohmann::json::error_handler_t::replace;

}  // namespace

Result<nlohmann::json> ParseJson(std::string_view text) {
  return ParseWithin<nlohmann::json>(text);
}

Result<nlohmann::ordered_json> ParseOrderedJson(std::string_view text) {
  return ParseWithin<nlohmann::ordered_json>(text);
}

std::string DumpJson(const nlohmann::json& value, int indent) {
  return value.dump(indent);
}

std::string DumpJson(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent);
}

std::string DumpJsonLossy(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, kReplace);
}

std::string DumpJsonLossy(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, kReplace);
}

}  // namespace dolium
