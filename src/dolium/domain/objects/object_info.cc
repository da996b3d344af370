#include "dolium/domain/objects/object_info.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"

namespace dolium::objects {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kCommonMembers[] = {"@type", "transform", "sharding",
                                               "segment_properties"};

bool Contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Result<Transform> ParseTransform(const Json& value) {
  constexpr std::string_view kExpected = "12 finite numbers";
  Transform transform;
  if (!value.is_array() || value.size() != transform.size()) {
    return UnexpectedMember("transform", value, kExpected);
  }
  for (size_t i = 0; i < transform.size(); ++i) {
    if (!value[i].is_number()) return UnexpectedMember("transform", value, kExpected);
    transform[i] = value[i].get<double>();
    if (!std::isfinite(transform[i])) {
      return UnexpectedMember("transform", value, kExpected);
    }
  }
  return transform;
}

}  // namespace

Point Apply(const Transform& transform, const Point& point) {
  Point out;
  for (size_t row = 0; row < 3; ++row) {
    const double* const m = &transform[4 * row];
    out[row] =
        static_cast<float>(m[0] * point[0] + m[1] * point[1] + m[2] * point[2] + m[3]);
  }
  return out;
}

Error UnexpectedMember(std::string_view path, const Json& found,
                       std::string_view expected) {
  constexpr size_t kShown = 60;
  std::string text = found.dump(-1, ' ', /*ensure_ascii=*/true,
                                nlohmann::json::error_handler_t::replace);
  if (text.size() > kShown) text.replace(kShown, std::string::npos, "...");
  return Corrupt(fmt::format("{}: found {}, expected {}", path, text, expected));
}

Result<Json> ParseInfoObject(std::string_view text, std::string_view type,
                             TypeMember member) {
  auto object = ParseJson(text);
  // It is what is stored that is wrong, and not what the caller asks for.
  if (!object) return Corrupt(object.error().message);
  if (!object->is_object()) {
    return Corrupt(fmt::format("found {}, expected a JSON object", object->type_name()));
  }
  const auto found = object->find("@type");
  if (found == object->end() && member == TypeMember::kOptional) return object;
  if (found == object->end() || *found != std::string(type)) {
    return UnexpectedMember("@type", found == object->end() ? Json() : *found, type);
  }
  return object;
}

Result<ObjectInfo> ParseObjectInfo(const Json& object,
                                   std::span<const std::string_view> own) {
  ObjectInfo info;
  for (const auto& [name, value] : object.items()) {
    if (Contains(own, name)) continue;
    if (!Contains(kCommonMembers, name)) {
      info.extra[name] = DumpJsonLossy(value);
    } else if (value.is_null()) {
      continue;
    } else if (name == "transform") {
      DOLIUM_TRY(info.transform, ParseTransform(value));
    } else if (name == "sharding") {
      auto spec = neuroglancer::ParseSharding(value);
      if (!spec) return Corrupt(spec.error().message).Within("sharding");
      info.sharding = *spec;
    } else if (name == "segment_properties") {
      if (!value.is_string()) return UnexpectedMember(name, value, "a string");
      info.segment_properties = value.get<std::string>();
    }
  }
  return info;
}

void AddObjectInfo(const ObjectInfo& info, Json& object) {
  for (const auto& [name, text] : info.extra) {
    object[name] = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  }
  object["transform"] = info.transform;
  if (info.sharding) object["sharding"] = neuroglancer::ToJson(*info.sharding);
  if (info.segment_properties) object["segment_properties"] = *info.segment_properties;
}

Result<void> ValidateObjectInfo(const ObjectInfo& info) {
  for (const double number : info.transform) {
    if (!std::isfinite(number)) {
      return InvalidArgument(
          fmt::format("transform: found {}, expected 12 finite numbers", number));
    }
  }
  if (info.sharding) return info.sharding->Validate().Within("sharding");
  return {};
}

}  // namespace dolium::objects
