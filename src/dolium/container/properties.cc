#include "dolium/container/properties.h"

#include <fmt/format.h>

namespace dolium {

std::string PropertyValue::text() const {
  if (const auto* const text = std::get_if<std::string>(&value_)) return *text;
  if (const auto* const number = std::get_if<uint64_t>(&value_)) {
    return std::to_string(*number);
  }
  if (const auto* const number = std::get_if<double>(&value_)) {
    return fmt::format("{:.2f}", *number);
  }
  return std::get<bool>(value_) ? "yes" : "no";
}

}  // namespace dolium
