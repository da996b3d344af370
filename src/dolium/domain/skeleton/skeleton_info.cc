#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/domain/skeleton/skeleton.h"

namespace dolium::skeleton {
namespace {

using Json = nlohmann::json;

struct TypeRow {
  AttributeType type;
  std::string_view name;
  uint64_t size;
};

constexpr std::array<TypeRow, 7> kTypes = {{{AttributeType::kFloat32, "float32", 4},
                                            {AttributeType::kInt8, "int8", 1},
                                            {AttributeType::kUint8, "uint8", 1},
                                            {AttributeType::kInt16, "int16", 2},
                                            {AttributeType::kUint16, "uint16", 2},
                                            {AttributeType::kInt32, "int32", 4},
                                            {AttributeType::kUint32, "uint32", 4}}};

constexpr std::string_view kOwnMembers[] = {"vertex_attributes"};

// More would not fit a vertex of any shader.
constexpr uint32_t kMaxComponents = 1U << 16;

Result<Attribute> ParseAttribute(const Json& value, const std::string& path) {
  if (!value.is_object()) return objects::UnexpectedMember(path, value, "an object");
  const auto member = [&](const char* name) {
    const auto found = value.find(name);
    return found == value.end() ? Json() : *found;
  };
  Attribute attribute;
  const Json id = member("id");
  if (!id.is_string() || id.get<std::string>().empty()) {
    return objects::UnexpectedMember(path + ".id", id, "a string that is not empty");
  }
  attribute.id = id.get<std::string>();
  const Json type = member("data_type");
  const auto parsed =
      type.is_string() ? ParseAttributeType(type.get<std::string>()) : std::nullopt;
  if (!parsed) {
    return objects::UnexpectedMember(
        path + ".data_type", type,
        "float32, int8, uint8, int16, uint16, int32 or uint32");
  }
  attribute.type = *parsed;
  const Json components = member("num_components");
  const double number = components.is_number() ? components.get<double>() : 0;
  if (number < 1 || number > kMaxComponents || std::trunc(number) != number) {
    return objects::UnexpectedMember(
        path + ".num_components", components,
        fmt::format("an integer from 1 to {}", kMaxComponents));
  }
  attribute.num_components = static_cast<uint32_t>(number);
  return attribute;
}

}  // namespace

std::string_view ToString(AttributeType type) {
  return std::ranges::find(kTypes, type, &TypeRow::type)->name;
}

std::optional<AttributeType> ParseAttributeType(std::string_view text) {
  std::string lowered(text);
  std::ranges::transform(lowered, lowered.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  const auto* const found = std::ranges::find(kTypes, lowered, &TypeRow::name);
  if (found == kTypes.end()) return std::nullopt;
  return found->type;
}

uint64_t SizeOf(AttributeType type) {
  return std::ranges::find(kTypes, type, &TypeRow::type)->size;
}

Result<SkeletonInfo> ParseSkeletonInfo(std::string_view text) {
  DOLIUM_TRY(const Json object, objects::ParseInfoObject(text, kSkeletonType,
                                                         objects::TypeMember::kOptional));
  SkeletonInfo info;
  DOLIUM_TRY(static_cast<objects::ObjectInfo&>(info),
             objects::ParseObjectInfo(object, kOwnMembers));
  const auto attributes = object.find("vertex_attributes");
  if (attributes == object.end() || attributes->is_null()) return info;
  if (!attributes->is_array()) {
    return objects::UnexpectedMember("vertex_attributes", *attributes, "an array");
  }
  for (size_t i = 0; i < attributes->size(); ++i) {
    DOLIUM_TRY(Attribute attribute,
               ParseAttribute((*attributes)[i], fmt::format("vertex_attributes[{}]", i)));
    info.attributes.push_back(std::move(attribute));
  }
  auto valid = Validate(info);
  if (!valid) return Corrupt(valid.error().message);
  return info;
}

Result<void> Validate(const SkeletonInfo& info) {
  std::set<std::string_view> ids;
  for (const Attribute& attribute : info.attributes) {
    if (attribute.id.empty()) return InvalidArgument("an attribute without an id");
    if (!ids.insert(attribute.id).second) {
      return InvalidArgument(
          fmt::format("attribute \"{}\" is there twice", attribute.id));
    }
    if (attribute.num_components < 1 || attribute.num_components > kMaxComponents) {
      return InvalidArgument(
          fmt::format("attribute \"{}\" has {} components, expected 1 to {}",
                      attribute.id, attribute.num_components, kMaxComponents));
    }
  }
  return objects::ValidateObjectInfo(info);
}

std::string ToJson(const SkeletonInfo& info) {
  Json object = Json::object();
  objects::AddObjectInfo(info, object);
  object["@type"] = kSkeletonType;
  Json attributes = Json::array();
  for (const Attribute& attribute : info.attributes) {
    attributes.push_back({{"id", attribute.id},
                          {"data_type", ToString(attribute.type)},
                          {"num_components", attribute.num_components}});
  }
  object["vertex_attributes"] = std::move(attributes);
  return DumpJsonLossy(object, 2) + "\n";
}

}  // namespace dolium::skeleton
