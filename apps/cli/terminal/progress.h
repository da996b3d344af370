// The text of a progress bar, and when it is due. Prints nothing; Terminal does.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "dolium/container/progress.h"

namespace dolium::cli {

// One line of at most `width` characters:
//
//   verify [=====>    ] 52%  104,000 of 200,000 entries  42.6 MB  31.0 MB/s  0:02 left
//   verify 104,000 entries  42.6 MB  31.0 MB/s             where no total is known
//   put [=====>    ] 52%  42.6 MB of 81.9 MB  31.0 MB/s  0:02 left       only of bytes
//
// Parts are left out from the right, then the bar, where the line is too narrow.
std::string RenderProgress(const std::string& label, const Progress& progress,
                           std::chrono::duration<double> elapsed, size_t width);

// Decides when the line is worth printing again. Not thread-safe.
class ProgressMeter {
 public:
  using Clock = std::chrono::steady_clock;

  ProgressMeter(std::string label, Clock::duration interval, Clock::time_point start);

  // The line, if `interval` has passed since the last one (or the start).
  std::optional<std::string> Update(const Progress& progress, Clock::time_point now,
                                    size_t width);

 private:
  std::string label_;
  Clock::duration interval_;
  Clock::time_point start_;
  Clock::time_point last_;
};

}  // namespace dolium::cli
