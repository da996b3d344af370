// Annotations from CSV, and as CSV.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dolium/ops/annotation/annotation_set.h"
#include "dolium/ops/csv.h"

namespace dolium {

using annotation::AnnotationInfo;
using annotation::AnnotationSummary;
using annotation::AnnotationTable;
using annotation::AnnotationType;
using annotation::Property;
using annotation::PropertyType;
using annotation::RecordLayout;

namespace {

constexpr std::string_view kIdColumn = "id";
constexpr std::string_view kPointsColumn = "points";
constexpr size_t kSegmentBytes = size_t{1} << 20;

// Calls `take` with each part of a text between separators that is not empty.
template <typename Take>
Result<void> SplitText(std::string_view text, std::string_view separators,
                       const Take& take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) DOLIUM_TRY_VOID(take(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

// What a column is.
struct CsvColumn {
  enum class Kind : uint8_t { kId, kCoordinate, kPoints, kProperty, kRelationship };
  Kind kind = Kind::kProperty;
  size_t index = 0;  // of the coordinate, property or relationship
};

// Rows as annotations.
class RowReader {
 public:
  RowReader(const AnnotationImport& request, std::unique_ptr<FolderDraft> draft)
      : request_(request), draft_(std::move(draft)) {}

  Result<void> Take(uint64_t row, std::span<const std::string> fields) {
    if (set_ == nullptr) return TakeHeader(fields);
    id_ = row - 2;
    std::ranges::fill(properties_, std::byte{0});
    for (auto& ids : related_) ids.clear();
    if (has_points_) geometry_.clear();
    for (size_t i = 0; i < fields.size(); ++i) {
      DOLIUM_TRY_VOID(TakeField(columns_[i], fields[i]).Within(names_[i]));
    }
    for (size_t r = 0; r < related_.size(); ++r) spans_[r] = related_[r];
    return set_->writer().Add({id_, geometry_, properties_}, spans_);
  }

  Result<AnnotationSummary> Finish() {
    if (set_ == nullptr) {
      return InvalidArgument(fmt::format("{}: expected a row with names of columns",
                                         request_.csv.Describe()));
    }
    return set_->Finish();
  }

 private:
  Result<void> TakeHeader(std::span<const std::string> fields) {
    annotation::AnnotationSchema schema = request_.schema;
    const auto coordinates = CoordinateColumns(schema.type, schema.dimensions);
    std::vector<bool> has_coordinate(coordinates.size());
    std::vector<bool> has_relationship(schema.relationships.size());
    for (const std::string& field : fields) {
      const auto coordinate = std::ranges::find(coordinates, field);
      const auto relationship =
          std::ranges::find(schema.relationships, field, &annotation::Relationship::id);
      names_.push_back(field);
      if (field == kIdColumn) {
        columns_.push_back({CsvColumn::Kind::kId, 0});
      } else if (coordinate != coordinates.end()) {
        const auto index = static_cast<size_t>(coordinate - coordinates.begin());
        has_coordinate[index] = true;
        has_points_ = schema.type == AnnotationType::kPolyline;
        columns_.push_back(
            {has_points_ ? CsvColumn::Kind::kPoints : CsvColumn::Kind::kCoordinate,
             index});
      } else if (relationship != schema.relationships.end()) {
        const auto index =
            static_cast<size_t>(relationship - schema.relationships.begin());
        has_relationship[index] = true;
        columns_.push_back({CsvColumn::Kind::kRelationship, index});
      } else {
        DOLIUM_TRY_VOID(AddProperty(field, schema.properties));
      }
    }
    DOLIUM_TRY_VOID(CheckAllThere(coordinates, has_coordinate, "coordinates"));
    std::vector<std::string> relationships;
    relationships.reserve(schema.relationships.size());
    for (const auto& one : schema.relationships) relationships.push_back(one.id);
    DOLIUM_TRY_VOID(CheckAllThere(relationships, has_relationship, "relationships"));
    types_ = schema.properties;
    related_.resize(schema.relationships.size());
    spans_.resize(related_.size());
    DOLIUM_TRY(set_, AnnotationSetWriter::Begin(std::move(draft_), std::move(schema),
                                                request_.options));
    layout_.emplace(set_->writer().layout());
    properties_.resize(layout_->property_bytes());
    geometry_.resize(layout_->geometry_size());
    return {};
  }

  static Result<void> CheckAllThere(const std::vector<std::string>& names,
                                    const std::vector<bool>& are_there,
                                    std::string_view what) {
    const auto missing = std::ranges::find(are_there, false);
    if (missing == are_there.end()) return {};
    return InvalidArgument(
        fmt::format("no column \"{}\"; expected {} in columns {}",
                    names[static_cast<size_t>(missing - are_there.begin())], what,
                    fmt::join(names, ", ")));
  }

  // `name` or `name:type`.
  Result<void> AddProperty(const std::string& field, std::vector<Property>& properties) {
    const size_t colon = field.find(':');
    const std::string id = field.substr(0, colon);
    std::optional<PropertyType> type;
    if (colon != std::string::npos) {
      type = annotation::ParsePropertyType(field.substr(colon + 1));
      if (!type) {
        return InvalidArgument(
            fmt::format("column \"{}\": expected a type uint8, int8, uint16, int16, "
                        "uint32, int32, float32, rgb or rgba behind the colon",
                        field));
      }
    }
    auto known = std::ranges::find(properties, id, &Property::id);
    if (known == properties.end()) {
      known = properties.insert(properties.end(), Property{.id = id});
    }
    if (type) known->type = *type;
    columns_.push_back(
        {CsvColumn::Kind::kProperty, static_cast<size_t>(known - properties.begin())});
    return {};
  }

  Result<void> TakeField(const CsvColumn& column, const std::string& field) {
    switch (column.kind) {
      case CsvColumn::Kind::kId: {
        DOLIUM_TRY(id_, ParseCsvId(field));
        return {};
      }
      case CsvColumn::Kind::kCoordinate: {
        DOLIUM_TRY(const double number, ParseCsvNumber(field));
        geometry_[column.index] = static_cast<float>(number);
        return {};
      }
      case CsvColumn::Kind::kPoints:
        return SplitText(field, "; ", [&](std::string_view text) -> Result<void> {
          DOLIUM_TRY(const double number, ParseCsvNumber(text));
          geometry_.push_back(static_cast<float>(number));
          return {};
        });
      case CsvColumn::Kind::kRelationship:
        return SplitText(field, "; ", [&](std::string_view text) -> Result<void> {
          DOLIUM_TRY(const uint64_t id, ParseCsvId(text));
          related_[column.index].push_back(id);
          return {};
        });
      case CsvColumn::Kind::kProperty:
        break;
    }
    if (field.empty()) return {};  // Zeros.
    const Property& property = types_[column.index];
    std::byte* const at = &properties_[layout_->offset(column.index)];
    if (annotation::IsColor(property.type)) {
      return annotation::StoreColor(property.type, field, at);
    }
    const auto label = std::ranges::find(property.enum_labels, field);
    if (label != property.enum_labels.end()) {
      const auto place = static_cast<size_t>(label - property.enum_labels.begin());
      return annotation::StoreNumber(property.type, property.enum_values[place], at);
    }
    DOLIUM_TRY(const double number, ParseCsvNumber(field));
    return annotation::StoreNumber(property.type, number, at);
  }

  const AnnotationImport& request_;
  std::unique_ptr<FolderDraft> draft_;        // until the header is read
  std::unique_ptr<AnnotationSetWriter> set_;  // from then on
  std::optional<RecordLayout> layout_;
  std::vector<Property> types_;
  std::vector<CsvColumn> columns_;
  std::vector<std::string> names_;
  bool has_points_ = false;
  uint64_t id_ = 0;
  std::vector<float> geometry_;
  ByteVector properties_;
  std::vector<std::vector<uint64_t>> related_;
  std::vector<std::span<const uint64_t>> spans_;
};

}  // namespace

std::vector<std::string> CoordinateColumns(
    AnnotationType type, const std::vector<annotation::Dimension>& dimensions) {
  if (type == AnnotationType::kPolyline) return {std::string(kPointsColumn)};
  std::vector<std::string> names;
  const auto add = [&](std::string_view before, std::string_view after) {
    for (const annotation::Dimension& dimension : dimensions) {
      names.push_back(fmt::format("{}{}{}", before, dimension.name, after));
    }
  };
  switch (type) {
    case AnnotationType::kPoint:
      add("", "");
      break;
    case AnnotationType::kEllipsoid:
      add("", "");
      add("r", "");
      break;
    case AnnotationType::kLine:
    case AnnotationType::kBox:
    case AnnotationType::kPolyline:
      add("", "1");
      add("", "2");
      break;
  }
  return names;
}

Result<AnnotationSummary> ImportAnnotations(const AnnotationImport& request) {
  DOLIUM_TRY(auto draft,
             AnnotationSetWriter::BeginFolder(request.target, request.replace));
  RowReader rows(request, std::move(draft));
  DOLIUM_TRY_VOID(ReadCsv(request.csv, request.options.writer.stop,
                          [&](uint64_t row, std::span<const std::string> fields) {
                            return rows.Take(row, fields);
                          }));
  return rows.Finish();
}

std::string CsvHeader(const AnnotationInfo& info, bool with_relationships) {
  std::string line(kIdColumn);
  const auto add = [&](std::string_view name) {
    line += ',';
    AppendCsvField(name, line);
  };
  for (const std::string& name : CoordinateColumns(info.type, info.dimensions)) add(name);
  for (const Property& property : info.properties) {
    add(fmt::format("{}:{}", property.id, annotation::ToString(property.type)));
  }
  if (with_relationships) {
    for (const annotation::Relationship& one : info.relationships) add(one.id);
  }
  return line + "\n";
}

void AppendCsvRow(const AnnotationInfo& info, const RecordLayout& layout,
                  const AnnotationTable& table, size_t row, std::string& line) {
  const annotation::AnnotationView one = table[row];
  auto out = std::back_inserter(line);
  fmt::format_to(out, "{}", one.id);
  for (size_t i = 0; i < one.geometry.size(); ++i) {
    const bool goes_on = info.type == AnnotationType::kPolyline && i > 0;
    const bool is_point = i % info.rank() == 0;
    line += !goes_on ? ',' : is_point ? ';' : ' ';
    fmt::format_to(out, "{}", one.geometry[i]);
  }
  for (size_t p = 0; p < info.properties.size(); ++p) {
    const PropertyType type = info.properties[p].type;
    const std::byte* const at = &one.properties[layout.offset(p)];
    line += ',';
    if (annotation::IsColor(type)) {
      line += annotation::ColorAt(type, at);
    } else if (type == PropertyType::kFloat32) {
      fmt::format_to(out, "{}", static_cast<float>(annotation::NumberAt(type, at)));
    } else {
      fmt::format_to(out, "{}", static_cast<int64_t>(annotation::NumberAt(type, at)));
    }
  }
  for (const annotation::RelatedIds& related : table.related()) {
    line += ',';
    const char* separator = "";
    for (const uint64_t id : related.Of(row)) {
      fmt::format_to(out, "{}{}", separator, id);
      separator = " ";
    }
  }
  line += '\n';
}

Result<uint64_t> ExportAnnotations(const annotation::AnnotationSource& source,
                                   size_t jobs, const std::stop_token& stop,
                                   const TextSink& sink) {
  DOLIUM_TRY_VOID(sink(CsvHeader(source.info(), /*with_relationships=*/true)));
  uint64_t count = 0;
  std::string text;
  DOLIUM_TRY_VOID(source.VisitAll(
      {.jobs = jobs, .stop = stop}, [&](const AnnotationTable& table) -> Result<void> {
        for (size_t i = 0; i < table.size(); ++i) {
          AppendCsvRow(source.info(), source.layout(), table, i, text);
          if (text.size() < kSegmentBytes) continue;
          DOLIUM_TRY_VOID(sink(text));
          text.clear();
        }
        count += table.size();
        return {};
      }));
  DOLIUM_TRY_VOID(sink(text));
  return count;
}

}  // namespace dolium
