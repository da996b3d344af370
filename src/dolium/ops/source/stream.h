// What comes once, front to back, from a pipe: recognised by its first bytes, read in
// memory that does not grow.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/container.h"

namespace dolium {

// What stands for standard input in place of a location.
inline constexpr std::string_view kStandardInput = "-";

struct StreamRequest {
  bool check = false;    // look for damage, too
  bool contents = true;  // with `check`: decode what is in it
  std::stop_token stop = {};
  // Each entry, in order; false ends the reading. May be empty.
  std::function<bool(std::string_view key, uint64_t size)> entry = {};
  // What is wrong; with `check` only. May be empty.
  FindingVisitor finding = {};
};

// How many of something there were: `3 files`.
struct StreamCount {
  std::string_view one;
  std::string_view many;
  uint64_t number = 0;
};

struct StreamReport {
  std::string_view format;
  Properties properties;            // as `dolium info` prints them
  std::vector<StreamCount> counts;  // of a check
  uint64_t errors = 0;
};

// Reads all of `fd`, which stays the caller's. Messages call it `-`. kInvalidArgument if
// its first bytes are those of nothing that can be read this way; kCancelled if it was
// stopped, or `entry` ended it.
Result<StreamReport> ReadStream(int fd, const StreamRequest& request);

}  // namespace dolium
