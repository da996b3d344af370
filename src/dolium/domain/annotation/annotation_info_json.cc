// The JSON of an info of annotations.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/domain/annotation/annotation_info.h"

namespace dolium::annotation {
namespace {

using Json = nlohmann::json;
using objects::UnexpectedMember;

constexpr std::string_view kAnnotationMembers[] = {
    "@type",      "annotation_type", "dimensions", "lower_bound", "upper_bound",
    "properties", "relationships",   "by_id",      "spatial"};

// Doubles hold these exactly.
constexpr double kMaxInteger = 9007199254740992.0;

// A member, or null if it is not there.
const Json& MemberOf(const Json& object, const char* name) {
  static const Json kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

Result<std::string> TextMember(const Json& object, const char* name,
                               const std::string& path) {
  const Json& value = MemberOf(object, name);
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    return UnexpectedMember(path + "." + name, value, "a string that is not empty");
  }
  return value.get<std::string>();
}

Result<std::vector<double>> NumbersMember(const Json& object, const char* name,
                                          const std::string& path, size_t rank,
                                          double least) {
  const Json& value = MemberOf(object, name);
  const auto unexpected = [&] {
    return UnexpectedMember(path.empty() ? name : path + "." + name, value,
                            fmt::format("{} finite numbers", rank));
  };
  if (!value.is_array() || value.size() != rank) return unexpected();
  std::vector<double> numbers;
  numbers.reserve(rank);
  for (const Json& element : value) {
    const double number = element.is_number() ? element.get<double>() : std::nan("");
    if (!std::isfinite(number) || number < least) return unexpected();
    numbers.push_back(number);
  }
  return numbers;
}

// Each element of a list, with its path. One that is not there is empty.
template <typename T, typename Parse>
Result<std::vector<T>> ListMember(const Json& object, const char* name,
                                  const Parse& parse) {
  const Json& value = MemberOf(object, name);
  std::vector<T> list;
  if (value.is_null()) return list;
  if (!value.is_array()) return UnexpectedMember(name, value, "an array");
  list.reserve(value.size());
  for (size_t i = 0; i < value.size(); ++i) {
    const std::string path = fmt::format("{}[{}]", name, i);
    if (!value[i].is_object()) return UnexpectedMember(path, value[i], "an object");
    DOLIUM_TRY(T element, parse(value[i], path));
    list.push_back(std::move(element));
  }
  return list;
}

Result<std::optional<neuroglancer::ShardingSpec>> ShardingMember(
    const Json& object, const std::string& path) {
  const Json& value = MemberOf(object, "sharding");
  if (value.is_null()) return std::nullopt;
  auto spec = neuroglancer::ParseSharding(value);
  if (!spec) return Corrupt(spec.error().message).Within(path + ".sharding");
  return *spec;
}

Result<std::vector<Dimension>> ParseDimensions(const nlohmann::ordered_json& value) {
  constexpr std::string_view kExpected =
      "an object of names, each with a scale and a unit";
  if (!value.is_object() || value.empty() || value.size() > kMaxRank) {
    return UnexpectedMember("dimensions", Json(value),
                            fmt::format("1 to {} dimensions by name", kMaxRank));
  }
  std::vector<Dimension> dimensions;
  dimensions.reserve(value.size());
  for (const auto& [name, pair] : value.items()) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() ||
        !pair[1].is_string()) {
      return UnexpectedMember("dimensions", Json(value), kExpected);
    }
    const auto scale = pair[0].get<double>();
    if (!std::isfinite(scale) || scale <= 0) {
      return UnexpectedMember("dimensions." + name, Json(pair), "a scale greater than 0");
    }
    dimensions.push_back({name, scale, pair[1].get<std::string>()});
  }
  return dimensions;
}

Result<Property> ParseProperty(const Json& object, const std::string& path) {
  Property property;
  DOLIUM_TRY(property.id, TextMember(object, "id", path));
  DOLIUM_TRY(const std::string type, TextMember(object, "type", path));
  const auto known = ParsePropertyType(type);
  if (!known) {
    return UnexpectedMember(path + ".type", type,
                            "rgb, rgba, uint8, int8, uint16, int16, uint32, int32 or "
                            "float32");
  }
  property.type = *known;
  const Json& description = MemberOf(object, "description");
  if (!description.is_null()) {
    if (!description.is_string()) {
      return UnexpectedMember(path + ".description", description, "a string");
    }
    property.description = description.get<std::string>();
  }
  const Json& values = MemberOf(object, "enum_values");
  if (values.is_null()) return property;
  const Json& labels = MemberOf(object, "enum_labels");
  if (!values.is_array()) {
    return UnexpectedMember(path + ".enum_values", values, "an array of numbers");
  }
  DOLIUM_TRY(property.enum_values,
             NumbersMember(object, "enum_values", path, values.size(), -HUGE_VAL));
  if (!labels.is_array() || labels.size() != values.size() ||
      !std::ranges::all_of(labels, [](const Json& one) { return one.is_string(); })) {
    return UnexpectedMember(path + ".enum_labels", labels,
                            fmt::format("{} strings", values.size()));
  }
  property.enum_labels = labels.get<std::vector<std::string>>();
  return property;
}

Result<Relationship> ParseRelationship(const Json& object, const std::string& path) {
  Relationship relationship;
  DOLIUM_TRY(relationship.id, TextMember(object, "id", path));
  DOLIUM_TRY(relationship.key, TextMember(object, "key", path));
  DOLIUM_TRY(relationship.sharding, ShardingMember(object, path));
  const Json& layer = MemberOf(object, "segmentation_layer");
  if (layer.is_string()) relationship.segmentation_layer = layer.get<std::string>();
  return relationship;
}

Result<SpatialLevel> ParseLevel(const Json& object, const std::string& path,
                                size_t rank) {
  SpatialLevel level;
  DOLIUM_TRY(level.key, TextMember(object, "key", path));
  DOLIUM_TRY(const auto shape, NumbersMember(object, "grid_shape", path, rank, 0));
  for (const double number : shape) {
    if (number < 1 || number > kMaxInteger || std::trunc(number) != number) {
      return UnexpectedMember(path + ".grid_shape", MemberOf(object, "grid_shape"),
                              fmt::format("{} integers from 1 on", rank));
    }
    level.grid_shape.push_back(static_cast<uint64_t>(number));
  }
  DOLIUM_TRY(level.chunk_size, NumbersMember(object, "chunk_size", path, rank, 0));
  const Json& limit = MemberOf(object, "limit");
  const double number = limit.is_number() ? limit.get<double>() : 0;
  if (!(number >= 1) || number > kMaxInteger) {
    return UnexpectedMember(path + ".limit", limit, "a number from 1 on");
  }
  level.limit = static_cast<uint64_t>(number);
  DOLIUM_TRY(level.sharding, ShardingMember(object, path));
  return level;
}

// ^[a-z][a-zA-Z0-9_]*$
bool IsPropertyId(std::string_view id) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return !id.empty() && is_lower(id.front()) && std::ranges::all_of(id, [&](char c) {
    return is_lower(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Result<void> ValidateProperty(const Property& property) {
  if (!IsPropertyId(property.id)) {
    return InvalidArgument(fmt::format(
        "property \"{}\": expected a lower case letter, then letters, digits and _",
        property.id));
  }
  if (property.enum_values.size() != property.enum_labels.size()) {
    return InvalidArgument(fmt::format("property \"{}\": {} enum values, {} labels",
                                       property.id, property.enum_values.size(),
                                       property.enum_labels.size()));
  }
  if (!property.enum_values.empty() && IsColor(property.type)) {
    return InvalidArgument(
        fmt::format("property \"{}\": a colour has no enum values", property.id));
  }
  for (const double value : property.enum_values) {
    std::array<std::byte, sizeof(uint32_t)> scratch;
    DOLIUM_TRY_VOID(
        StoreNumber(property.type, value, scratch.data())
            .Within(fmt::format("property \"{}\": enum_values", property.id)));
  }
  return {};
}

Result<void> ValidateLevel(const SpatialLevel& level, size_t rank) {
  if (level.key.empty()) return InvalidArgument("a spatial level without a key");
  if (level.grid_shape.size() != rank || level.chunk_size.size() != rank) {
    return InvalidArgument(fmt::format(
        "{}: grid_shape and chunk_size: expected {} numbers each", level.key, rank));
  }
  unsigned bits = 0;
  for (size_t d = 0; d < rank; ++d) {
    if (level.grid_shape[d] < 1) {
      return InvalidArgument(fmt::format("{}: grid_shape: found 0", level.key));
    }
    bits += static_cast<unsigned>(std::bit_width(level.grid_shape[d] - 1));
    if (!(level.chunk_size[d] > 0) || !std::isfinite(level.chunk_size[d])) {
      return InvalidArgument(fmt::format("{}: chunk_size: found {}, expected more than 0",
                                         level.key, level.chunk_size[d]));
    }
  }
  if (bits > 64) {
    return InvalidArgument(fmt::format(
        "{}: grid_shape: cells need {} bits, expected at most 64", level.key, bits));
  }
  if (level.limit < 1) return InvalidArgument(fmt::format("{}: limit 0", level.key));
  if (level.sharding) return level.sharding->Validate().Within(level.key);
  return {};
}

template <typename T, typename Name>
Result<void> CheckDistinct(const std::vector<T>& list, std::string_view what,
                           const Name& name) {
  std::set<std::string_view> seen;
  for (const T& one : list) {
    if (!seen.insert(name(one)).second) {
      return InvalidArgument(fmt::format("{} \"{}\" is there twice", what, name(one)));
    }
  }
  return {};
}

Json ShardedJson(Json object, const std::optional<neuroglancer::ShardingSpec>& sharding) {
  if (sharding) object["sharding"] = neuroglancer::ToJson(*sharding);
  return object;
}

Json NumberJson(double number) {
  if (std::trunc(number) == number && std::abs(number) < kMaxInteger) {
    return static_cast<int64_t>(number);
  }
  return number;
}

Json NumbersJson(const std::vector<double>& numbers) {
  Json list = Json::array();
  for (const double number : numbers) list.push_back(NumberJson(number));
  return list;
}

Json PropertyJson(const Property& property) {
  Json object = {{"id", property.id}, {"type", ToString(property.type)}};
  if (!property.description.empty()) object["description"] = property.description;
  if (!property.enum_values.empty()) {
    object["enum_values"] = NumbersJson(property.enum_values);
    object["enum_labels"] = property.enum_labels;
  }
  return object;
}

}  // namespace

Result<AnnotationInfo> ParseAnnotationInfo(std::string_view text) {
  DOLIUM_TRY(const Json object, objects::ParseInfoObject(text, kAnnotationsType));
  DOLIUM_TRY(const auto ordered, ParseOrderedJson(text));
  AnnotationInfo info;
  const Json& type = MemberOf(object, "annotation_type");
  const auto known =
      type.is_string() ? ParseAnnotationType(type.get<std::string>()) : std::nullopt;
  if (!known) {
    return UnexpectedMember(
        "annotation_type", type,
        "point, line, axis_aligned_bounding_box, ellipsoid or polyline");
  }
  info.type = *known;
  const auto dimensions = ordered.find("dimensions");
  DOLIUM_TRY(info.dimensions,
             ParseDimensions(dimensions == ordered.end() ? nlohmann::ordered_json()
                                                         : *dimensions));
  const size_t rank = info.rank();
  DOLIUM_TRY(info.lower_bound, NumbersMember(object, "lower_bound", "", rank, -HUGE_VAL));
  DOLIUM_TRY(info.upper_bound, NumbersMember(object, "upper_bound", "", rank, -HUGE_VAL));
  DOLIUM_TRY(info.properties, ListMember<Property>(object, "properties", ParseProperty));
  DOLIUM_TRY(info.relationships,
             ListMember<Relationship>(object, "relationships", ParseRelationship));
  const Json& by_id = MemberOf(object, "by_id");
  if (!by_id.is_object()) return UnexpectedMember("by_id", by_id, "an object");
  DOLIUM_TRY(info.by_id.key, TextMember(by_id, "key", "by_id"));
  DOLIUM_TRY(info.by_id.sharding, ShardingMember(by_id, "by_id"));
  DOLIUM_TRY(info.spatial,
             ListMember<SpatialLevel>(object, "spatial",
                                      [&](const Json& level, const std::string& path) {
                                        return ParseLevel(level, path, rank);
                                      }));
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(kAnnotationMembers, name) == std::end(kAnnotationMembers)) {
      info.extra[name] = DumpJsonLossy(value);
    }
  }
  auto valid = Validate(info);
  if (!valid) return Corrupt(valid.error().message);
  return info;
}

Result<void> Validate(const AnnotationInfo& info) {
  const size_t rank = info.rank();
  if (rank < 1 || rank > kMaxRank) {
    return InvalidArgument(
        fmt::format("{} dimensions, expected 1 to {}", rank, kMaxRank));
  }
  for (const Dimension& dimension : info.dimensions) {
    if (!std::isfinite(dimension.scale) || dimension.scale <= 0) {
      return InvalidArgument(
          fmt::format("dimension \"{}\": scale {}, expected more "
                      "than 0",
                      dimension.name, dimension.scale));
    }
  }
  DOLIUM_TRY_VOID(CheckDistinct(info.dimensions, "dimension", [](const Dimension& one) {
    return std::string_view(one.name);
  }));
  if (info.lower_bound.size() != rank || info.upper_bound.size() != rank) {
    return InvalidArgument(fmt::format("bounds: expected {} numbers each", rank));
  }
  for (size_t d = 0; d < rank; ++d) {
    if (!std::isfinite(info.lower_bound[d]) || !std::isfinite(info.upper_bound[d]) ||
        info.lower_bound[d] > info.upper_bound[d]) {
      return InvalidArgument(fmt::format("bounds of \"{}\": from {} to {}",
                                         info.dimensions[d].name, info.lower_bound[d],
                                         info.upper_bound[d]));
    }
  }
  for (const Property& property : info.properties) {
    DOLIUM_TRY_VOID(ValidateProperty(property));
  }
  DOLIUM_TRY_VOID(CheckDistinct(info.properties, "property", [](const Property& one) {
    return std::string_view(one.id);
  }));
  for (const Relationship& relationship : info.relationships) {
    if (relationship.id.empty() || relationship.key.empty()) {
      return InvalidArgument("a relationship without an id or a key");
    }
    if (relationship.sharding) {
      DOLIUM_TRY_VOID(relationship.sharding->Validate().Within(relationship.id));
    }
  }
  DOLIUM_TRY_VOID(
      CheckDistinct(info.relationships, "relationship",
                    [](const Relationship& one) { return std::string_view(one.id); }));
  if (info.by_id.sharding) {
    DOLIUM_TRY_VOID(info.by_id.sharding->Validate().Within("by_id"));
  }
  for (const SpatialLevel& level : info.spatial) {
    DOLIUM_TRY_VOID(ValidateLevel(level, rank));
  }
  return {};
}

std::string ToJson(const AnnotationInfo& info) {
  // Members in the order of the specification: that of dimensions means something.
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  object["@type"] = kAnnotationsType;
  auto dimensions = nlohmann::ordered_json::object();
  for (const Dimension& dimension : info.dimensions) {
    dimensions[dimension.name] =
        nlohmann::ordered_json::array({dimension.scale, dimension.unit});
  }
  object["dimensions"] = std::move(dimensions);
  object["lower_bound"] = NumbersJson(info.lower_bound);
  object["upper_bound"] = NumbersJson(info.upper_bound);
  object["annotation_type"] = ToString(info.type);
  Json properties = Json::array();
  for (const Property& property : info.properties) {
    properties.push_back(PropertyJson(property));
  }
  object["properties"] = properties;
  Json relationships = Json::array();
  for (const Relationship& relationship : info.relationships) {
    Json one = ShardedJson({{"id", relationship.id}, {"key", relationship.key}},
                           relationship.sharding);
    if (relationship.segmentation_layer) {
      one["segmentation_layer"] = *relationship.segmentation_layer;
    }
    relationships.push_back(std::move(one));
  }
  object["relationships"] = relationships;
  object["by_id"] = ShardedJson({{"key", info.by_id.key}}, info.by_id.sharding);
  Json spatial = Json::array();
  for (const SpatialLevel& level : info.spatial) {
    spatial.push_back(ShardedJson({{"key", level.key},
                                   {"grid_shape", level.grid_shape},
                                   {"chunk_size", NumbersJson(level.chunk_size)},
                                   {"limit", level.limit}},
                                  level.sharding));
  }
  object["spatial"] = spatial;
  for (const auto& [name, text] : info.extra) {
    object[name] =
        nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  }
  return DumpJsonLossy(object, 2) + "\n";
}

}  // namespace dolium::annotation
