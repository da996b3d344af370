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

}  // namespace

Result<nlohmann::json> ParseJson(std::string_view text) {
  if (const int depth = Depth(text); depth > kMaxDepth) {
    return InvalidArgument(fmt::format(
        "JSON nested {} levels deep, more than the limit of {}", depth, kMaxDepth));
  }
  auto value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return InvalidArgument("not valid JSON");
  return value;
}

}  // namespace dolium
