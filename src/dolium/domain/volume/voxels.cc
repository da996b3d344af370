#include "dolium/domain/volume/voxels.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"

namespace dolium::volume {
namespace {

struct TypeRow {
  DataType type;
  std::string_view name;
  size_t size;
};

// In the order of DataType.
constexpr std::array<TypeRow, 8> kTypes = {{
    {DataType::kUint8, "uint8", 1},
    {DataType::kInt8, "int8", 1},
    {DataType::kUint16, "uint16", 2},
    {DataType::kInt16, "int16", 2},
    {DataType::kUint32, "uint32", 4},
    {DataType::kInt32, "int32", 4},
    {DataType::kUint64, "uint64", 8},
    {DataType::kFloat32, "float32", 4},
}};

const TypeRow& RowOf(DataType type) { return kTypes.at(static_cast<size_t>(type)); }

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

}  // namespace

bool Box::Contains(const Box& other) const {
  if (other.empty()) return true;
  for (size_t d = 0; d < 3; ++d) {
    if (other.begin[d] < begin[d] || other.end[d] > end[d]) return false;
  }
  return true;
}

Box Box::Intersect(const Box& other) const {
  Box common;
  for (size_t d = 0; d < 3; ++d) {
    common.begin[d] = std::max(begin[d], other.begin[d]);
    common.end[d] = std::max(common.begin[d], std::min(end[d], other.end[d]));
  }
  return common;
}

std::string ToString(const Box& box) {
  return fmt::format("{}:{},{}:{},{}:{}", box.begin[0], box.end[0], box.begin[1],
                     box.end[1], box.begin[2], box.end[2]);
}

std::string ToString(const Vec3& vector) {
  return fmt::format("{},{},{}", vector[0], vector[1], vector[2]);
}

size_t SizeOf(DataType type) { return RowOf(type).size; }

std::string_view ToString(DataType type) { return RowOf(type).name; }

std::optional<DataType> ParseDataType(std::string_view name) {
  for (const TypeRow& row : kTypes) {
    if (EqualsIgnoringCase(name, row.name)) return row.type;
  }
  return std::nullopt;
}

std::optional<uint64_t> ArrayShape::voxels() const {
  const auto plane =
      CheckedMul(static_cast<uint64_t>(size[0]), static_cast<uint64_t>(size[1]));
  return plane ? CheckedMul(*plane, static_cast<uint64_t>(size[2])) : std::nullopt;
}

std::optional<uint64_t> ArrayShape::bytes() const {
  const auto channel = voxels();
  const auto all =
      channel ? CheckedMul(*channel, static_cast<uint64_t>(channels)) : std::nullopt;
  return all ? CheckedMul(*all, SizeOf(type)) : std::nullopt;
}

}  // namespace dolium::volume
