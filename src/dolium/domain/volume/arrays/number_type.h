// NumberType: the numbers that people's array files hold. They are more than volumes
// have: int64 and float64 come in by conversion.
//
// Numbers in memory are in the order of the machine, which the arrays of voxels.h want
// little-endian.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

static_assert(std::endian::native == std::endian::little);

enum class NumberType : uint8_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kUint64,
  kInt64,
  kFloat32,
  kFloat64,
};

size_t SizeOf(NumberType type);
std::string_view ToString(NumberType type);
// "uint8", ..., "float64"; ignores case; nullopt if there is no such type.
std::optional<NumberType> ParseNumberType(std::string_view name);

// The number type that a volume's data type is.
NumberType ToNumberType(DataType type);

// The data type in which numbers of type `from` come in: the one wanted, else the same,
// else uint64 for int64. kUnsupported if it would have to be float64.
Result<DataType> ChooseDataType(NumberType from, std::optional<DataType> wanted);

// Converts `count` numbers and returns how many it did before the first one that does not
// fit: an integer outside the range of the target, a float that is no whole number where
// the target is an integer, a float64 beyond the range of float32. Rounding to a float is
// no misfit. In place if the sizes of both types are equal.
size_t ConvertNumbers(NumberType from, const std::byte* in, DataType to, std::byte* out,
                      size_t count);

// The number at `at`, for messages.
std::string NumberText(NumberType type, const std::byte* at);

}  // namespace dolium::volume
