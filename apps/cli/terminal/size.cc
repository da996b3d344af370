#include "cli/terminal/size.h"

#include <charconv>

#include <fmt/format.h>

namespace dolium::cli {

Result<uint64_t> ParseNumber(std::string_view text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    return InvalidArgument(fmt::format("\"{}\" is more than 64 bits hold", text));
  }
  if (error != std::errc() || stop != end) {
    return InvalidArgument(fmt::format("\"{}\" is not a whole number", text));
  }
  return value;
}

std::string FormatSize(uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1000;
  size_t power = 0;
  // 999.95 would be rounded to 1000.0.
  constexpr std::string_view kShown = "kMGTPE";
  while (value >= 999.95 && power + 1 < kShown.size()) {
    value /= 1000;
    ++power;
  }
  return fmt::format("{:.1f} {}B", value, kShown[power]);
}

std::string FormatCount(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string FormatCount(uint64_t count, std::string_view word) {
  return fmt::format("{} {}", FormatCount(count),
                     count == 1 ? std::string(word) : Plural(word));
}

std::string Plural(std::string_view word) {
  if (word.ends_with("sh")) return fmt::format("{}es", word);
  if (!word.ends_with('y')) return fmt::format("{}s", word);
  return fmt::format("{}ies", word.substr(0, word.size() - 1));
}

std::string FormatDuration(std::chrono::seconds duration) {
  const auto seconds = duration.count();
  const auto minutes = seconds / 60;
  if (minutes < 60) return fmt::format("{}:{:02}", minutes, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", minutes / 60, minutes % 60, seconds % 60);
}

}  // namespace dolium::cli
