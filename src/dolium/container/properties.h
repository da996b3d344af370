// What a format says about a container besides its entries.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace dolium {

// Text, a number, or yes and no: programs get it as it is, people as text().
class PropertyValue {
 public:
  using Value = std::variant<std::string, uint64_t, double, bool>;

  // NOLINTBEGIN(google-explicit-constructor): a value is whatever it is made of.
  PropertyValue(std::string text) : value_(std::move(text)) {}
  PropertyValue(std::string_view text) : value_(std::string(text)) {}
  PropertyValue(const char* text) : value_(std::string(text)) {}
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  PropertyValue(T number) : value_(uint64_t{number}) {}
  PropertyValue(double number) : value_(number) {}
  template <std::same_as<bool> T>
  PropertyValue(T yes) : value_(yes) {}
  // NOLINTEND(google-explicit-constructor)

  const Value& value() const { return value_; }
  // Numbers with a fraction have two digits of it.
  std::string text() const;

  bool operator==(const PropertyValue&) const = default;

 private:
  Value value_;
};

// Names and values, in the order that `dolium info` prints them.
using Properties = std::vector<std::pair<std::string, PropertyValue>>;

}  // namespace dolium
