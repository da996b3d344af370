#include "dolium/domain/annotation/annotation_info.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "dolium/base/endian.h"

namespace dolium::annotation {
namespace {

struct GeometryRow {
  AnnotationType type;
  std::string_view name;
  size_t points;  // of its geometry; 0: any number
};

constexpr std::array<GeometryRow, 5> kGeometries = {{
    {AnnotationType::kPoint, "point", 1},
    {AnnotationType::kLine, "line", 2},
    {AnnotationType::kBox, "axis_aligned_bounding_box", 2},
    {AnnotationType::kEllipsoid, "ellipsoid", 2},
    {AnnotationType::kPolyline, "polyline", 0},
}};

struct PropertyRow {
  PropertyType type;
  std::string_view name;
  uint64_t size;
  uint64_t alignment;
};

constexpr std::array<PropertyRow, 9> kPropertyRows = {{
    {PropertyType::kUint8, "uint8", 1, 1},
    {PropertyType::kInt8, "int8", 1, 1},
    {PropertyType::kUint16, "uint16", 2, 2},
    {PropertyType::kInt16, "int16", 2, 2},
    {PropertyType::kUint32, "uint32", 4, 4},
    {PropertyType::kInt32, "int32", 4, 4},
    {PropertyType::kFloat32, "float32", 4, 4},
    {PropertyType::kRgb, "rgb", 3, 1},
    {PropertyType::kRgba, "rgba", 4, 1},
}};

constexpr size_t kRecordAlignment = 4;
constexpr size_t kNumberBytes = sizeof(float);

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  std::ranges::transform(lowered, lowered.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return lowered;
}

const PropertyRow& RowOf(PropertyType type) {
  return *std::ranges::find(kPropertyRows, type, &PropertyRow::type);
}

template <typename T>
Result<void> StoreInteger(PropertyType type, double number, std::byte* at) {
  if (!(number >= static_cast<double>(std::numeric_limits<T>::min())) ||
      !(number <= static_cast<double>(std::numeric_limits<T>::max())) ||
      std::trunc(number) != number) {
    return InvalidArgument(fmt::format("{} is no {}", number, ToString(type)));
  }
  StoreLE(at, static_cast<std::make_unsigned_t<T>>(static_cast<T>(number)));
  return {};
}

template <typename T>
double LoadInteger(const std::byte* at) {
  return static_cast<T>(LoadLE<std::make_unsigned_t<T>>(at));
}

}  // namespace

std::string_view ToString(AnnotationType type) {
  return std::ranges::find(kGeometries, type, &GeometryRow::type)->name;
}

std::optional<AnnotationType> ParseAnnotationType(std::string_view text) {
  const auto* const row =
      std::ranges::find(kGeometries, Lowered(text), &GeometryRow::name);
  if (row == kGeometries.end()) return std::nullopt;
  return row->type;
}

std::string_view ToString(PropertyType type) { return RowOf(type).name; }

std::optional<PropertyType> ParsePropertyType(std::string_view text) {
  const auto* const row =
      std::ranges::find(kPropertyRows, Lowered(text), &PropertyRow::name);
  if (row == kPropertyRows.end()) return std::nullopt;
  return row->type;
}

uint64_t SizeOf(PropertyType type) { return RowOf(type).size; }

uint64_t AlignmentOf(PropertyType type) { return RowOf(type).alignment; }

bool IsColor(PropertyType type) {
  return type == PropertyType::kRgb || type == PropertyType::kRgba;
}

RecordLayout::RecordLayout(const AnnotationInfo& info)
    : type_(info.type),
      rank_(info.rank()),
      geometry_size_(
          info.rank() *
          std::ranges::find(kGeometries, info.type, &GeometryRow::type)->points),
      offsets_(info.properties.size()) {
  for (const uint64_t alignment : {4, 2, 1}) {
    for (size_t i = 0; i < info.properties.size(); ++i) {
      if (AlignmentOf(info.properties[i].type) != alignment) continue;
      offsets_[i] = property_bytes_;
      property_bytes_ += SizeOf(info.properties[i].type);
    }
  }
  property_bytes_ =
      (property_bytes_ + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}

size_t RecordLayout::min_record_bytes() const {
  const size_t geometry = geometry_size_ == 0 ? 1 : geometry_size_;  // or the count
  return geometry * kNumberBytes + property_bytes_;
}

double NumberAt(PropertyType type, const std::byte* at) {
  switch (type) {
    case PropertyType::kUint8:
      return LoadInteger<uint8_t>(at);
    case PropertyType::kInt8:
      return LoadInteger<int8_t>(at);
    case PropertyType::kUint16:
      return LoadInteger<uint16_t>(at);
    case PropertyType::kInt16:
      return LoadInteger<int16_t>(at);
    case PropertyType::kUint32:
      return LoadInteger<uint32_t>(at);
    case PropertyType::kInt32:
      return LoadInteger<int32_t>(at);
    case PropertyType::kFloat32:
      return std::bit_cast<float>(LoadLE<uint32_t>(at));
    case PropertyType::kRgb:
    case PropertyType::kRgba: {
      uint32_t number = 0;
      for (size_t i = 0; i < SizeOf(type); ++i) {
        number = number << 8 | std::to_integer<uint32_t>(at[i]);
      }
      return number;
    }
  }
  return 0;
}

Result<void> StoreNumber(PropertyType type, double number, std::byte* at) {
  switch (type) {
    case PropertyType::kUint8:
      return StoreInteger<uint8_t>(type, number, at);
    case PropertyType::kInt8:
      return StoreInteger<int8_t>(type, number, at);
    case PropertyType::kUint16:
      return StoreInteger<uint16_t>(type, number, at);
    case PropertyType::kInt16:
      return StoreInteger<int16_t>(type, number, at);
    case PropertyType::kUint32:
      return StoreInteger<uint32_t>(type, number, at);
    case PropertyType::kInt32:
      return StoreInteger<int32_t>(type, number, at);
    case PropertyType::kFloat32:
      StoreLE(at, std::bit_cast<uint32_t>(static_cast<float>(number)));
      return {};
    case PropertyType::kRgb:
    case PropertyType::kRgba:
      return InvalidArgument(
          fmt::format("{} is no {}: expected #rrggbb", number, ToString(type)));
  }
  return {};
}

Result<void> StoreColor(PropertyType type, std::string_view text, std::byte* at) {
  std::string_view digits = text;
  if (digits.starts_with('#')) digits.remove_prefix(1);
  uint32_t number = 0;
  const size_t size = SizeOf(type);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (digits.size() != 2 * size || error != std::errc() ||
      end != digits.data() + digits.size()) {
    return InvalidArgument(fmt::format("\"{}\" is no {}: expected {}", text,
                                       ToString(type),
                                       size == 3 ? "#rrggbb" : "#rrggbbaa"));
  }
  for (size_t i = size; i-- > 0; number >>= 8) {
    at[i] = static_cast<std::byte>(number & 0xff);
  }
  return {};
}

std::string ColorAt(PropertyType type, const std::byte* at) {
  return fmt::format("#{:0{}x}", static_cast<uint32_t>(NumberAt(type, at)),
                     2 * SizeOf(type));
}

}  // namespace dolium::annotation
