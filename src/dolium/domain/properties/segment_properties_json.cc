// The JSON of segment properties.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/domain/properties/segment_properties.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::properties {
namespace {

using Json = nlohmann::json;
using objects::UnexpectedMember;

const Json& Find(const Json& object, const char* name) {
  static const Json kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

Result<std::vector<uint64_t>> ParseIds(const Json& ids) {
  if (!ids.is_array()) return UnexpectedMember("inline.ids", ids, "an array");
  std::vector<uint64_t> numbers;
  numbers.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto* const text = ids[i].get_ptr<const std::string*>();
    const auto id = text == nullptr ? Result<uint64_t>(InvalidArgument(""))
                                    : neuroglancer::ParseKey(*text);
    if (!id || (text->size() > 1 && text->starts_with('0'))) {
      return UnexpectedMember(fmt::format("inline.ids[{}]", i), ids[i],
                              "a decimal number of 64 bits, as a string");
    }
    numbers.push_back(*id);
  }
  return numbers;
}

Result<std::vector<std::string>> ParseTexts(const Json& list, const std::string& path) {
  if (!list.is_array()) return UnexpectedMember(path, list, "an array of strings");
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_string()) {
      return UnexpectedMember(fmt::format("{}[{}]", path, i), list[i], "a string");
    }
    texts.push_back(list[i].get<std::string>());
  }
  return texts;
}

Result<void> ParseNumbers(const Json& values, const std::string& path,
                          SegmentProperty& property) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_number()) {
      return UnexpectedMember(fmt::format("{}[{}]", path, i), values[i], "a number");
    }
    property.numbers.push_back(values[i].get<double>());
  }
  return {};
}

Result<void> ParseTagValues(const Json& values, const std::string& path,
                            SegmentProperty& property) {
  for (size_t i = 0; i < values.size(); ++i) {
    std::vector<uint32_t>& places = property.tag_values.emplace_back();
    const auto is_place = [&](const Json& one) {
      return one.is_number_unsigned() && one.get<uint64_t>() < property.tags.size();
    };
    if (!values[i].is_array() || !std::ranges::all_of(values[i], is_place)) {
      return UnexpectedMember(
          fmt::format("{}[{}]", path, i), values[i],
          fmt::format("an array of places below {}", property.tags.size()));
    }
    places.reserve(values[i].size());
    for (const Json& one : values[i]) places.push_back(one.get<uint32_t>());
  }
  return {};
}

Result<SegmentProperty> ParseProperty(const Json& object, const std::string& path) {
  if (!object.is_object()) return UnexpectedMember(path, object, "an object");
  SegmentProperty property;
  const Json& id = Find(object, "id");
  if (!id.is_string()) return UnexpectedMember(path + ".id", id, "a string");
  property.id = id.get<std::string>();
  const Json& type = Find(object, "type");
  const auto kind =
      type.is_string() ? ParsePropertyKind(type.get<std::string>()) : std::nullopt;
  if (!kind) {
    return UnexpectedMember(path + ".type", type,
                            "label, description, string, tags or number");
  }
  property.kind = *kind;
  const Json& description = Find(object, "description");
  if (description.is_string()) property.description = description.get<std::string>();
  const Json& values = Find(object, "values");
  const std::string at = path + ".values";
  if (!values.is_array()) return UnexpectedMember(at, values, "an array");
  switch (property.kind) {
    case PropertyKind::kNumber: {
      const Json& data_type = Find(object, "data_type");
      const auto known = data_type.is_string()
                             ? volume::ParseDataType(data_type.get<std::string>())
                             : std::nullopt;
      if (!known || *known == volume::DataType::kUint64) {
        return UnexpectedMember(path + ".data_type", data_type,
                                "uint8, int8, uint16, int16, uint32, int32 or float32");
      }
      property.type = *known;
      DOLIUM_TRY_VOID(ParseNumbers(values, at, property));
      break;
    }
    case PropertyKind::kTags: {
      DOLIUM_TRY(property.tags, ParseTexts(Find(object, "tags"), path + ".tags"));
      const Json& texts = Find(object, "tag_descriptions");
      if (!texts.is_null()) {
        DOLIUM_TRY(property.tag_descriptions,
                   ParseTexts(texts, path + ".tag_descriptions"));
      }
      DOLIUM_TRY_VOID(ParseTagValues(values, at, property));
      break;
    }
    case PropertyKind::kLabel:
    case PropertyKind::kDescription:
    case PropertyKind::kString: {
      DOLIUM_TRY(property.texts, ParseTexts(values, at));
      break;
    }
  }
  return property;
}

Json NumberJson(double number) {
  constexpr double kMaxExact = 9007199254740992.0;
  if (std::trunc(number) == number && std::abs(number) < kMaxExact) {
    return static_cast<int64_t>(number);
  }
  return number;
}

Json ToJson(const SegmentProperty& property) {
  Json object = {{"id", property.id}, {"type", ToString(property.kind)}};
  if (!property.description.empty()) object["description"] = property.description;
  switch (property.kind) {
    case PropertyKind::kNumber: {
      object["data_type"] = volume::ToString(property.type);
      Json numbers = Json::array();
      for (const double number : property.numbers) numbers.push_back(NumberJson(number));
      object["values"] = std::move(numbers);
      break;
    }
    case PropertyKind::kTags:
      object["tags"] = property.tags;
      if (!property.tag_descriptions.empty()) {
        object["tag_descriptions"] = property.tag_descriptions;
      }
      object["values"] = property.tag_values;
      break;
    case PropertyKind::kLabel:
    case PropertyKind::kDescription:
    case PropertyKind::kString:
      object["values"] = property.texts;
      break;
  }
  return object;
}

}  // namespace

Result<SegmentProperties> ParseSegmentProperties(std::string_view text) {
  DOLIUM_TRY(const Json object, objects::ParseInfoObject(text, kSegmentPropertiesType));
  const Json& inlined = Find(object, "inline");
  if (!inlined.is_object()) return UnexpectedMember("inline", inlined, "an object");
  SegmentProperties properties;
  DOLIUM_TRY(properties.ids, ParseIds(Find(inlined, "ids")));
  const Json& list = Find(inlined, "properties");
  if (!list.is_array()) return UnexpectedMember("inline.properties", list, "an array");
  for (size_t i = 0; i < list.size(); ++i) {
    DOLIUM_TRY(SegmentProperty property,
               ParseProperty(list[i], fmt::format("inline.properties[{}]", i)));
    properties.properties.push_back(std::move(property));
  }
  for (const auto& [name, value] : object.items()) {
    if (name != "@type" && name != "inline") {
      properties.extra[name] = DumpJsonLossy(value);
    }
  }
  auto valid = Validate(properties);
  if (!valid) return Corrupt(valid.error().message);
  return properties;
}

std::string ToJson(const SegmentProperties& properties) {
  Json object = Json::object();
  for (const auto& [name, text] : properties.extra) {
    object[name] = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  }
  object["@type"] = kSegmentPropertiesType;
  Json ids = Json::array();
  for (const uint64_t id : properties.ids) ids.push_back(std::to_string(id));
  Json list = Json::array();
  for (const SegmentProperty& property : properties.properties) {
    list.push_back(ToJson(property));
  }
  object["inline"] = {{"ids", std::move(ids)}, {"properties", std::move(list)}};
  return DumpJsonLossy(object) + "\n";
}

}  // namespace dolium::properties
