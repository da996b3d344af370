// Result<T>: a T or an Error, with the member names of std::expected.
#pragma once

#include <cstdlib>
#include <type_traits>
#include <utility>
#include <variant>

#include "dolium/base/error.h"

namespace dolium {

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  // Lets `return std::nullopt` and the like pass through as a T.
  template <typename U>
    requires(std::is_convertible_v<U &&, T> &&
             !std::is_same_v<std::remove_cvref_t<U>, T> &&
             !std::is_same_v<std::remove_cvref_t<U>, Error> &&
             !std::is_same_v<std::remove_cvref_t<U>, Result>)
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}  // NOLINT

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // Precondition of the following: has_value().
  T& value() & { return *Checked(); }
  const T& value() const& { return *const_cast<Result*>(this)->Checked(); }
  T&& value() && { return std::move(*Checked()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return Checked(); }
  const T* operator->() const { return const_cast<Result*>(this)->Checked(); }

  // Precondition: !has_value().
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

  // The same result; an error gains `context` in front of its message.
  Result Within(std::string_view context) && {
    if (!has_value()) return std::move(*this).error().Within(context);
    return std::move(*this);
  }

 private:
  T* Checked() {
    T* value = std::get_if<0>(&state_);
    if (value == nullptr) std::abort();  // A bug in the caller, never bad input.
    return value;
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT

  bool has_value() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const& { return error_; }
  Error&& error() && { return std::move(error_); }

  Result Within(std::string_view context) && {
    if (!ok_) return std::move(error_).Within(context);
    return {};
  }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace dolium

#define DOLIUM_CONCAT_INNER(a, b) a##b
#define DOLIUM_CONCAT(a, b) DOLIUM_CONCAT_INNER(a, b)

// DOLIUM_TRY(auto x, F()); declares x from the value, or returns the error.
#define DOLIUM_TRY(declaration, ...) \
  DOLIUM_TRY_IMPL(DOLIUM_CONCAT(dolium_result_, __LINE__), declaration, __VA_ARGS__)
#define DOLIUM_TRY_IMPL(result, declaration, ...) \
  auto result = (__VA_ARGS__);                    \
  if (!result) return std::move(result).error();  \
  declaration = *std::move(result)

// DOLIUM_TRY_VOID(F()); returns the error of a Result<void>.
#define DOLIUM_TRY_VOID(...)                                               \
  do {                                                                     \
    auto dolium_void_result = (__VA_ARGS__);                               \
    if (!dolium_void_result) return std::move(dolium_void_result).error(); \
  } while (false)
