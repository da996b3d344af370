#include "cli/terminal/json_line.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <variant>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "dolium/container/json.h"

namespace dolium::cli {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// Texts for people, which no program looks up.
constexpr std::array<std::string_view, 5> kTexts = {"message", "reason", "error",
                                                    "preview", "summary"};

bool IsText(const Json& value) {
  try {
    [[maybe_unused]] const std::string text = DumpJson(value);
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

std::string HexOf(const std::string& bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

Json WithHexNames(const Json& json) {
  if (json.is_array()) {
    Json list = Json::array();
    for (const Json& element : json) {
      const bool is_name = element.is_string() && !IsText(element);
      list.push_back(is_name ? Json{{"hex", HexOf(element.get<std::string>())}}
                             : WithHexNames(element));
    }
    return list;
  }
  if (!json.is_object()) return json;
  Json object = Json::object();
  for (const auto& [name, value] : json.items()) {
    const bool is_for_people = std::ranges::find(kTexts, name) != kTexts.end();
    if (value.is_string() && !is_for_people && !IsText(value)) {
      object[name + "_hex"] = HexOf(value.get<std::string>());
    } else {
      object[name] = WithHexNames(value);
    }
  }
  return object;
}

}  // namespace

Json TypedLine(std::string_view type, const Json& members) {
  Json line = {{"type", type}, {"schema", kJsonSchema}};
  line.update(members);
  return line;
}

std::string ToLine(const Json& json) {
  try {
    return DumpJson(json);
  } catch (const Json::exception&) {
    return DumpJsonLossy(WithHexNames(json));
  }
}

std::string JsonTime(int64_t nanoseconds) {
  int64_t fraction = nanoseconds % kSecond;
  if (fraction < 0) fraction += kSecond;
  const auto seconds = static_cast<time_t>((nanoseconds - fraction) / kSecond);
  tm parts{};
  gmtime_r(&seconds, &parts);
  std::string text = fmt::format("{:%Y-%m-%dT%H:%M:%S}", parts);
  if (fraction > 0) {
    text += fmt::format(".{:09}", fraction);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + 'Z';
}

Json PropertiesJson(const Properties& properties) {
  Json json = Json::object();
  for (const auto& [name, value] : properties) {
    json[name] = std::visit([](const auto& one) { return Json(one); }, value.value());
  }
  return json;
}

}  // namespace dolium::cli
