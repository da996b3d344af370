// RunningKey: the keys of samples that have none of their own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace dolium::dataset {

// "000000123" after the prefix: sorted as text is sorted by number, up to 10^9.
inline std::string RunningKey(std::string_view prefix, uint64_t number) {
  return fmt::format("{}{:09}", prefix, number);
}

}  // namespace dolium::dataset
