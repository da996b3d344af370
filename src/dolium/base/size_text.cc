#include "dolium/base/size_text.h"

#include <cctype>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace dolium {
namespace {

constexpr std::string_view kUnitPrefixes = "kmgtpe";

// The factor of a unit such as "", "B", "k", "MB" or "GiB"; nullopt if it is none.
std::optional<uint64_t> UnitFactor(std::string_view unit) {
  std::string lower;
  for (const char c : unit) {
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (lower.ends_with('b')) lower.pop_back();
  if (lower.empty()) return 1;
  const size_t power = kUnitPrefixes.find(lower[0]);
  if (power == std::string_view::npos) return std::nullopt;
  const bool binary = lower.size() == 2 && lower[1] == 'i';
  if (lower.size() > 1 && !binary) return std::nullopt;
  uint64_t factor = 1;
  for (size_t i = 0; i <= power; ++i) factor *= binary ? 1024 : 1000;
  return factor;
}

}  // namespace

Result<uint64_t> ParseSize(std::string_view text) {
  const auto bad = [&] {
    return InvalidArgument(
        fmt::format("\"{}\" is not a size; write 4096, 512k, 1.5GB or 64MiB", text));
  };
  size_t at = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return text.substr(begin, at - begin);
  };
  const std::string_view whole = digits();
  std::string_view fraction;
  if (at < text.size() && text[at] == '.') {
    ++at;
    fraction = digits();
    if (fraction.empty() || fraction.size() > 9) return bad();
  }
  const auto factor = UnitFactor(text.substr(at));
  if (whole.empty() || whole.size() > 20 || !factor) return bad();

  // At most 20 digits times 2^60 fits 128 bits.
  unsigned __int128 value = 0;
  for (const char c : whole) value = value * 10 + static_cast<unsigned>(c - '0');
  value *= *factor;
  uint64_t numerator = 0;
  uint64_t denominator = 1;
  for (const char c : fraction) {
    numerator = numerator * 10 + static_cast<unsigned>(c - '0');
    denominator *= 10;
  }
  value += static_cast<unsigned __int128>(numerator) * *factor / denominator;
  if (value > std::numeric_limits<uint64_t>::max()) {
    return InvalidArgument(fmt::format("\"{}\" is more than 64 bits hold", text));
  }
  return static_cast<uint64_t>(value);
}

}  // namespace dolium
