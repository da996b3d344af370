#include "dolium/ops/properties/segment_tables.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dolium/container/entry_error.h"
#include "dolium/ops/csv.h"

namespace dolium {

using properties::PropertyKind;
using properties::SegmentProperties;
using properties::SegmentProperty;

namespace {

constexpr std::string_view kSegmentColumn = "id";
constexpr std::string_view kDefaultFolder = "segment_properties";

// A column as it was read.
struct TextColumn {
  std::string name;
  std::string kind;  // empty: to be found out
  std::vector<std::string> texts;
};

Result<std::vector<double>> ColumnNumbers(const TextColumn& column) {
  std::vector<double> numbers;
  numbers.reserve(column.texts.size());
  for (size_t i = 0; i < column.texts.size(); ++i) {
    auto number = ParseCsvNumber(column.texts[i]);
    if (!number) {
      return std::move(number).error().Within(
          fmt::format("column \"{}\", segment {}", column.name, i + 1));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

PropertyKind GuessKind(const TextColumn& column) {
  for (const PropertyKind kind :
       {PropertyKind::kLabel, PropertyKind::kDescription, PropertyKind::kTags}) {
    if (column.name == properties::ToString(kind)) return kind;
  }
  return ColumnNumbers(column) ? PropertyKind::kNumber : PropertyKind::kString;
}

Result<SegmentProperty> PropertyOf(TextColumn column) {
  std::optional<volume::DataType> type;
  std::optional<PropertyKind> kind;
  if (column.kind.empty()) {
    kind = GuessKind(column);
  } else {
    kind = properties::ParsePropertyKind(column.kind);
    type = volume::ParseDataType(column.kind);
    if (type) kind = PropertyKind::kNumber;
    if (!kind) {
      return InvalidArgument(
          fmt::format("column \"{}\": \"{}\" is no kind; expected label, description, "
                      "string, tags, number or a type of numbers",
                      column.name, column.kind));
    }
  }
  if (*kind == PropertyKind::kTags)
    return properties::MakeTags(column.name, column.texts);
  SegmentProperty property{.id = column.name, .kind = *kind};
  if (*kind == PropertyKind::kNumber) {
    DOLIUM_TRY(property.numbers, ColumnNumbers(column));
    property.type = type.value_or(properties::NumberTypeFor(property.numbers));
  } else {
    property.texts = std::move(column.texts);
  }
  return property;
}

std::string KindText(const SegmentProperty& property) {
  return std::string(property.kind == PropertyKind::kNumber
                         ? volume::ToString(property.type)
                         : properties::ToString(property.kind));
}

std::string ValueText(const SegmentProperty& property, size_t segment) {
  switch (property.kind) {
    case PropertyKind::kNumber: {
      const double number = property.numbers[segment];
      return property.type == volume::DataType::kFloat32
                 ? fmt::format("{}", static_cast<float>(number))
                 : fmt::format("{}", static_cast<int64_t>(number));
    }
    case PropertyKind::kTags: {
      std::string text;
      for (const uint32_t place : property.tag_values[segment]) {
        if (!text.empty()) text += ' ';
        text += property.tags[place];
      }
      return text;
    }
    case PropertyKind::kLabel:
    case PropertyKind::kDescription:
    case PropertyKind::kString:
      break;
  }
  return property.texts[segment];
}

// The volume at a location; nullopt if there is none.
Result<std::optional<volume::Volume>> FindVolume(const Location& location) {
  auto opened = volume::Volume::Open(location);
  if (opened) return std::optional(*std::move(opened));
  const ErrorCode code = opened.error().code;
  if (code == ErrorCode::kNotFound || code == ErrorCode::kInvalidArgument) {
    return std::nullopt;
  }
  return std::move(opened).error();
}

}  // namespace

Result<SegmentProperties> ReadPropertiesCsv(const Location& csv,
                                            const std::stop_token& stop) {
  SegmentProperties table;
  std::vector<TextColumn> columns;
  std::optional<size_t> id_column;
  DOLIUM_TRY_VOID(ReadCsv(
      csv, stop, [&](uint64_t, std::span<const std::string> fields) -> Result<void> {
        if (columns.empty()) {
          for (const std::string& field : fields) {
            const size_t colon = field.find(':');
            const bool has_kind = colon != std::string::npos;
            columns.push_back({.name = field.substr(0, colon),
                               .kind = has_kind ? field.substr(colon + 1) : "",
                               .texts = {}});
            if (field == kSegmentColumn) id_column = columns.size() - 1;
          }
          if (id_column) return {};
          return InvalidArgument(fmt::format("no column \"{}\" among {}", kSegmentColumn,
                                             fmt::join(fields, ", ")));
        }
        for (size_t i = 0; i < fields.size(); ++i) {
          if (i != *id_column) {
            columns[i].texts.push_back(fields[i]);
            continue;
          }
          DOLIUM_TRY(const uint64_t id, ParseCsvId(fields[i]));
          table.ids.push_back(id);
        }
        return {};
      }));
  if (!id_column) {
    return InvalidArgument(
        fmt::format("{}: expected a row with names of columns", csv.Describe()));
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i == *id_column) continue;
    auto property = PropertyOf(std::move(columns[i]));
    if (!property) return std::move(property).error().Within(csv.Describe());
    table.properties.push_back(*std::move(property));
  }
  DOLIUM_TRY_VOID(Validate(table).Within(csv.Describe()));
  return table;
}

std::string WritePropertiesCsv(const SegmentProperties& table) {
  std::string text(kSegmentColumn);
  for (const SegmentProperty& property : table.properties) {
    text += ',';
    AppendCsvField(fmt::format("{}:{}", property.id, KindText(property)), text);
  }
  text += '\n';
  for (size_t i = 0; i < table.ids.size(); ++i) {
    text += std::to_string(table.ids[i]);
    for (const SegmentProperty& property : table.properties) {
      text += ',';
      AppendCsvField(ValueText(property, i), text);
    }
    text += '\n';
  }
  return text;
}

Result<Location> FindPropertiesFolder(const Location& location) {
  DOLIUM_TRY(const auto found, FindVolume(location));
  if (!found) return location;
  const auto& key = found->info().segment_properties;
  if (key) return volume::ResolveScaleKey(found->folder(), *key);
  return NotFound(
      fmt::format("{}: its info names no segment properties", location.Describe()));
}

Result<PropertiesTarget> PutSegmentProperties(const Location& location,
                                              const SegmentProperties& table,
                                              bool replace) {
  DOLIUM_TRY(const auto found, FindVolume(location));
  if (!found) {
    DOLIUM_TRY_VOID(properties::WriteSegmentProperties(location, table, replace));
    return PropertiesTarget{location, false};
  }
  const bool is_new = !found->info().segment_properties.has_value();
  const std::string key =
      found->info().segment_properties.value_or(std::string(kDefaultFolder));
  PropertiesTarget place{volume::ResolveScaleKey(found->folder(), key), is_new};
  DOLIUM_TRY_VOID(properties::WriteSegmentProperties(place.folder, table, replace));
  if (!is_new) return place;
  DOLIUM_TRY(
      [[maybe_unused]] const volume::VolumeInfo changed,
      volume::UpdateInfo(found->folder(),
                         [&](volume::VolumeInfo info) -> Result<volume::VolumeInfo> {
                           info.segment_properties = key;
                           return info;
                         }));
  return place;
}

Result<VerifyReport> VerifySegmentProperties(const Location& folder,
                                             const FindingVisitor& visitor) {
  VerifyReport report{.objects = 1, .entries = 1, .entries_read = 1};
  const Location info = folder.Child("info");
  const auto read = properties::ReadSegmentProperties(folder);
  if (!read) {
    CountError(report, read.error().code);
    visitor(ErrorFinding("value", info.Describe(), "info", std::nullopt, read.error()));
  }
  return report;
}

}  // namespace dolium
