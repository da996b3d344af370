// Options that callers may leave open, in a dict. All need the GIL.
#pragma once

#include <optional>
#include <string>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace dolium::python {

namespace nb = nanobind;

// A null object if there is no wish: no such name, or None.
inline nb::object Wish(const nb::dict& options, const char* name) {
  if (!options.contains(name)) return {};
  nb::object value = options[name];
  return value.is_none() ? nb::object() : value;
}

// TypeError if it is no T.
template <typename T>
std::optional<T> Wish(const nb::dict& options, const char* name) {
  const nb::object value = Wish(options, name);
  if (!value.is_valid()) return std::nullopt;
  T number{};
  if (!nb::try_cast<T>(value, number)) {
    throw nb::type_error(
        fmt::format("{}: cannot take {}", name, nb::cast<std::string>(nb::repr(value)))
            .c_str());
  }
  return number;
}

// Leaves `into` as it is if there is no wish.
template <typename T>
void TakeWish(const nb::dict& options, const char* name, T& into) {
  if (auto value = Wish<T>(options, name)) into = *std::move(value);
}

}  // namespace dolium::python
