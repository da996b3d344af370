// The words of volumes: vectors, boxes, data types, dense arrays of voxels.
//
// A volume is three-dimensional, with one or more channels. Coordinates are absolute
// voxels, may be negative, and go in the order x, y, z. Dense arrays have x fastest, then
// y, z, channel; numbers in them are little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dolium::volume {

using Vec3 = std::array<int64_t, 3>;  // x, y, z

// Half-open. Empty if an end is not greater than its begin.
struct Box {
  Vec3 begin = {0, 0, 0};
  Vec3 end = {0, 0, 0};

  Vec3 size() const { return {end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]}; }
  bool empty() const {
    return end[0] <= begin[0] || end[1] <= begin[1] || end[2] <= begin[2];
  }
  bool Contains(const Box& other) const;
  Box Intersect(const Box& other) const;

  friend bool operator==(const Box&, const Box&) = default;
};

// "x0:x1,y0:y1,z0:z1".
std::string ToString(const Box& box);
// "x,y,z".
std::string ToString(const Vec3& vector);

enum class DataType : uint8_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kUint64,
  kFloat32,
};

size_t SizeOf(DataType type);
std::string_view ToString(DataType type);
// Ignores case; nullopt if there is no such type.
std::optional<DataType> ParseDataType(std::string_view name);

// The shape of a dense array of voxels. Sizes and channels are at least 1.
struct ArrayShape {
  Vec3 size = {1, 1, 1};
  int64_t channels = 1;
  DataType type = DataType::kUint8;

  // Both nullopt if they do not fit.
  std::optional<uint64_t> voxels() const;  // of one channel
  std::optional<uint64_t> bytes() const;   // of all

  friend bool operator==(const ArrayShape&, const ArrayShape&) = default;
};

}  // namespace dolium::volume
