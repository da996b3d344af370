#include "dolium/domain/properties/segment_properties.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "dolium/domain/objects/object_storage.h"

namespace dolium::properties {
namespace {

constexpr uint64_t kMaxPropertiesBytes = uint64_t{1} << 32;

struct KindRow {
  PropertyKind kind;
  std::string_view name;
};

constexpr std::array<KindRow, 5> kKindRows = {
    {{PropertyKind::kLabel, "label"},
     {PropertyKind::kDescription, "description"},
     {PropertyKind::kString, "string"},
     {PropertyKind::kTags, "tags"},
     {PropertyKind::kNumber, "number"}}};

template <typename T>
bool HoldsInteger(double number) {
  return number >= static_cast<double>(std::numeric_limits<T>::min()) &&
         number <= static_cast<double>(std::numeric_limits<T>::max()) &&
         std::trunc(number) == number;
}

bool Holds(volume::DataType type, double number) {
  using volume::DataType;
  switch (type) {
    case DataType::kUint8:
      return HoldsInteger<uint8_t>(number);
    case DataType::kInt8:
      return HoldsInteger<int8_t>(number);
    case DataType::kUint16:
      return HoldsInteger<uint16_t>(number);
    case DataType::kInt16:
      return HoldsInteger<int16_t>(number);
    case DataType::kUint32:
      return HoldsInteger<uint32_t>(number);
    case DataType::kInt32:
      return HoldsInteger<int32_t>(number);
    case DataType::kFloat32:
      return std::isfinite(number) &&
             std::abs(number) <= std::numeric_limits<float>::max();
    case DataType::kUint64:
      return false;
  }
  return false;
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

Result<void> ValidateTags(const SegmentProperty& property) {
  std::set<std::string_view> seen;
  for (const std::string& tag : property.tags) {
    if (tag.empty() || tag.starts_with('#') || std::ranges::any_of(tag, IsBlank)) {
      return InvalidArgument(
          fmt::format("tag \"{}\": expected no spaces, and no # in front", tag));
    }
    if (!seen.insert(tag).second) {
      return InvalidArgument(fmt::format("tag \"{}\" is there twice", tag));
    }
  }
  if (!property.tag_descriptions.empty() &&
      property.tag_descriptions.size() != property.tags.size()) {
    return InvalidArgument(fmt::format("{} descriptions of {} tags",
                                       property.tag_descriptions.size(),
                                       property.tags.size()));
  }
  for (size_t i = 0; i < property.tag_values.size(); ++i) {
    const std::vector<uint32_t>& values = property.tag_values[i];
    const bool ascends =
        std::ranges::adjacent_find(values, std::greater_equal<>()) == values.end();
    if (!ascends || (!values.empty() && values.back() >= property.tags.size())) {
      return InvalidArgument(fmt::format(
          "values[{}]: expected ascending places of {} tags", i, property.tags.size()));
    }
  }
  return {};
}

Result<void> ValidateProperty(const SegmentProperty& property, size_t segments) {
  if (property.id.empty()) return InvalidArgument("expected an id");
  if (property.size() != segments) {
    return InvalidArgument(
        fmt::format("{} values for {} segments", property.size(), segments));
  }
  if (property.kind == PropertyKind::kTags) return ValidateTags(property);
  if (property.kind != PropertyKind::kNumber) return {};
  if (property.type == volume::DataType::kUint64) {
    return InvalidArgument("numbers of uint64, which no client shows; expected float32");
  }
  for (size_t i = 0; i < segments; ++i) {
    if (Holds(property.type, property.numbers[i])) continue;
    return InvalidArgument(fmt::format("values[{}]: {} is no {}", i, property.numbers[i],
                                       volume::ToString(property.type)));
  }
  return {};
}

}  // namespace

std::string_view ToString(PropertyKind kind) {
  return std::ranges::find(kKindRows, kind, &KindRow::kind)->name;
}

std::optional<PropertyKind> ParsePropertyKind(std::string_view text) {
  const auto* const row = std::ranges::find(kKindRows, text, &KindRow::name);
  if (row == kKindRows.end()) return std::nullopt;
  return row->kind;
}

size_t SegmentProperty::size() const {
  switch (kind) {
    case PropertyKind::kNumber:
      return numbers.size();
    case PropertyKind::kTags:
      return tag_values.size();
    case PropertyKind::kLabel:
    case PropertyKind::kDescription:
    case PropertyKind::kString:
      break;
  }
  return texts.size();
}

Result<void> Validate(const SegmentProperties& properties) {
  std::unordered_set<uint64_t> ids;
  ids.reserve(properties.ids.size());
  for (const uint64_t id : properties.ids) {
    if (!ids.insert(id).second) {
      return InvalidArgument(fmt::format("ids: {} is there twice", id));
    }
  }
  std::set<std::string_view> names;
  std::set<PropertyKind> kinds;
  for (const SegmentProperty& property : properties.properties) {
    const std::string where = fmt::format("property \"{}\"", property.id);
    if (!names.insert(property.id).second) {
      return InvalidArgument(where + " is there twice");
    }
    const bool is_unique = property.kind == PropertyKind::kLabel ||
                           property.kind == PropertyKind::kDescription ||
                           property.kind == PropertyKind::kTags;
    if (!kinds.insert(property.kind).second && is_unique) {
      return InvalidArgument(
          fmt::format("{}: a second one of type {}, expected at most "
                      "one",
                      where, ToString(property.kind)));
    }
    DOLIUM_TRY_VOID(ValidateProperty(property, properties.ids.size()).Within(where));
  }
  return {};
}

volume::DataType NumberTypeFor(const std::vector<double>& numbers) {
  const auto all = [&](volume::DataType type) {
    return std::ranges::all_of(numbers,
                               [&](double number) { return Holds(type, number); });
  };
  if (all(volume::DataType::kUint32)) return volume::DataType::kUint32;
  if (all(volume::DataType::kInt32)) return volume::DataType::kInt32;
  return volume::DataType::kFloat32;
}

SegmentProperty MakeTags(std::string id, const std::vector<std::string>& texts) {
  std::vector<std::set<std::string>> found(texts.size());
  std::map<std::string, uint32_t> places;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string_view rest = texts[i];
    while (!rest.empty()) {
      const auto* const begin = std::ranges::find_if_not(rest, IsBlank);
      const auto* const end = std::find_if(begin, rest.end(), IsBlank);
      if (begin != end) found[i].emplace(begin, end);
      rest = {end, rest.end()};
    }
    for (const std::string& tag : found[i]) places.emplace(tag, 0);
  }
  SegmentProperty property{.id = std::move(id), .kind = PropertyKind::kTags};
  for (auto& [tag, place] : places) {
    place = static_cast<uint32_t>(property.tags.size());
    property.tags.push_back(tag);
  }
  for (const auto& tags : found) {
    std::vector<uint32_t>& values = property.tag_values.emplace_back();
    for (const std::string& tag : tags) values.push_back(places[tag]);
  }
  return property;
}

Result<SegmentProperties> ReadSegmentProperties(const Location& folder) {
  const Location at = folder.Child("info");
  DOLIUM_TRY(const auto bytes, objects::ReadWrapped(at, kMaxPropertiesBytes));
  if (!bytes) return NotFound(fmt::format("{}: is not there", at.Describe()));
  auto properties = ParseSegmentProperties(AsText(*bytes));
  if (!properties) return std::move(properties).error().Within(at.Describe());
  return properties;
}

Result<void> WriteSegmentProperties(const Location& folder,
                                    const SegmentProperties& properties, bool replace) {
  DOLIUM_TRY_VOID(Validate(properties));
  const Location at = folder.Child("info");
  Precondition precondition = Precondition::Absent();
  if (replace) {
    DOLIUM_TRY(const auto there, at.store->Stat(at.path));
    if (there) {
      // Of something else, it is not ours to replace.
      const auto old = ReadSegmentProperties(folder);
      if (!old) {
        return Exists(
            fmt::format("{}: holds no segment properties; move it away", at.Describe()));
      }
      precondition = Precondition::At(there->generation);
    }
  }
  auto put = at.store->Put(at.path, AsBytes(ToJson(properties)), precondition);
  if (put) return {};
  if (put.error().code != ErrorCode::kExists) return std::move(put).error();
  return Exists(fmt::format("{}: is there already", at.Describe()))
      .WithHint(Hint::kReplace);
}

}  // namespace dolium::properties
