#include "cli/terminal/progress.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/terminal/size.h"

namespace dolium::cli {
namespace {

constexpr size_t kBarWidth = 20;
constexpr double kLongestLeft = 100.0 * 3600;  // beyond this, an estimate says nothing

std::string Bar(double fraction) {
  const auto full = static_cast<size_t>(fraction * static_cast<double>(kBarWidth));
  std::string bar(full, '=');
  if (full < kBarWidth) bar += '>';
  bar.resize(kBarWidth, ' ');
  return fmt::format(" [{}] {:3}%", bar, static_cast<int>(fraction * 100));
}

}  // namespace

std::string RenderProgress(const std::string& label, const Progress& progress,
                           std::chrono::duration<double> elapsed, size_t width) {
  const bool by_bytes = progress.total_entries == 0 && progress.total_bytes > 0;
  const uint64_t done = by_bytes ? progress.bytes : progress.entries;
  const uint64_t total = by_bytes ? progress.total_bytes : progress.total_entries;
  const bool known = total > 0;
  const double fraction =
      known ? std::min(1.0, static_cast<double>(done) / static_cast<double>(total)) : 0;
  const double seconds = elapsed.count();

  std::vector<std::string> parts;
  if (by_bytes) {
    parts.push_back(fmt::format("{} of {}", FormatSize(done), FormatSize(total)));
  } else {
    parts.push_back(
        known ? fmt::format("{} of {} entries", FormatCount(done), FormatCount(total))
              : fmt::format("{} entries", FormatCount(done)));
    if (progress.bytes > 0) parts.push_back(FormatSize(progress.bytes));
  }
  if (progress.bytes > 0 && seconds > 0) {
    parts.push_back(
        FormatSize(static_cast<uint64_t>(static_cast<double>(progress.bytes) / seconds)) +
        "/s");
  }
  if (known && done > 0) {
    const double left = seconds * (1 - fraction) / fraction;
    if (left < kLongestLeft) {
      parts.push_back(FormatDuration(std::chrono::seconds(std::llround(left))) + " left");
    }
  }

  const std::string bar = known ? Bar(fraction) : "";
  for (const std::string_view shown_bar : {std::string_view(bar), std::string_view()}) {
    for (size_t count = parts.size(); count > 0; --count) {
      std::string line = label;
      line += shown_bar;
      for (size_t i = 0; i < count; ++i) {
        line += i == 0 && shown_bar.empty() ? " " : "  ";
        line += parts[i];
      }
      if (line.size() <= width) return line;
    }
  }
  return label.substr(0, width);
}

ProgressMeter::ProgressMeter(std::string label, Clock::duration interval,
                             Clock::time_point start)
    : label_(std::move(label)), interval_(interval), start_(start), last_(start) {}

std::optional<std::string> ProgressMeter::Update(const Progress& progress,
                                                 Clock::time_point now, size_t width) {
  if (now - last_ < interval_) return std::nullopt;
  last_ = now;
  return RenderProgress(label_, progress, now - start_, width);
}

}  // namespace dolium::cli
