#include "dolium/domain/volume/arrays/number_type.h"

#include <array>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace dolium::volume {
namespace {

constexpr std::array<std::string_view, 10> kNames = {
    "uint8", "int8",   "uint16", "int16",   "uint32",
    "int32", "uint64", "int64",  "float32", "float64"};

// Calls `use` with a value of the C++ type that `type` is.
template <typename Use>
auto WithType(NumberType type, Use&& use) {
  switch (type) {
    case NumberType::kUint8:
      return use(uint8_t{});
    case NumberType::kInt8:
      return use(int8_t{});
    case NumberType::kUint16:
      return use(uint16_t{});
    case NumberType::kInt16:
      return use(int16_t{});
    case NumberType::kUint32:
      return use(uint32_t{});
    case NumberType::kInt32:
      return use(int32_t{});
    case NumberType::kUint64:
      return use(uint64_t{});
    case NumberType::kInt64:
      return use(int64_t{});
    case NumberType::kFloat32:
      return use(float{});
    case NumberType::kFloat64:
      break;
  }
  return use(double{});
}

template <typename To, typename From>
bool Fits(From value) {
  if constexpr (std::integral<To> && std::integral<From>) {
    return std::in_range<To>(value);
  } else if constexpr (std::integral<To>) {
    // The range's end is a power of two, so exact; NaN fails every comparison.
    constexpr double kBegin = static_cast<double>(std::numeric_limits<To>::min());
    const double end = std::ldexp(1.0, std::numeric_limits<To>::digits);
    const double number = value;
    return number >= kBegin && number < end && number == std::trunc(number);
  } else if constexpr (std::is_same_v<From, double>) {
    constexpr double kLargest = std::numeric_limits<To>::max();
    return !std::isfinite(value) || std::abs(value) <= kLargest;
  } else {
    return true;
  }
}

template <typename From, typename To>
size_t ConvertAll(const std::byte* in, std::byte* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, in + i * sizeof(From), sizeof value);
    if (!Fits<To>(value)) return i;
    const To converted = static_cast<To>(value);  // NOLINT: an int8 is a number here.
    std::memcpy(out + i * sizeof(To), &converted, sizeof converted);
  }
  return count;
}

}  // namespace

size_t SizeOf(NumberType type) {
  return WithType(type, [](auto value) { return sizeof value; });
}

std::string_view ToString(NumberType type) { return kNames[static_cast<size_t>(type)]; }

std::optional<NumberType> ParseNumberType(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (lower == kNames[i]) return static_cast<NumberType>(i);
  }
  return std::nullopt;
}

NumberType ToNumberType(DataType type) {
  switch (type) {
    case DataType::kUint8:
      return NumberType::kUint8;
    case DataType::kInt8:
      return NumberType::kInt8;
    case DataType::kUint16:
      return NumberType::kUint16;
    case DataType::kInt16:
      return NumberType::kInt16;
    case DataType::kUint32:
      return NumberType::kUint32;
    case DataType::kInt32:
      return NumberType::kInt32;
    case DataType::kUint64:
      return NumberType::kUint64;
    case DataType::kFloat32:
      break;
  }
  return NumberType::kFloat32;
}

Result<DataType> ChooseDataType(NumberType from, std::optional<DataType> wanted) {
  if (wanted) return *wanted;
  if (from == NumberType::kInt64) return DataType::kUint64;
  const auto same = ParseDataType(ToString(from));
  if (same) return *same;
  return Unsupported(
      fmt::format("its numbers are {}, which volumes do not have; ask for a data type, "
                  "float32 for example",
                  ToString(from)));
}

size_t ConvertNumbers(NumberType from, const std::byte* in, DataType to, std::byte* out,
                      size_t count) {
  return WithType(from, [&](auto source) {
    return WithType(ToNumberType(to), [&](auto target) {
      return ConvertAll<decltype(source), decltype(target)>(in, out, count);
    });
  });
}

std::string NumberText(NumberType type, const std::byte* at) {
  return WithType(type, [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return fmt::format("{}", value);
  });
}

}  // namespace dolium::volume
