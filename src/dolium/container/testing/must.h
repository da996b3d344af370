// Must(): the value of a Result in a test; an error fails the test with its message.
#pragma once

#include <stdexcept>
#include <utility>

#include "dolium/base/result.h"

namespace dolium {

template <typename T>
T Must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace dolium
