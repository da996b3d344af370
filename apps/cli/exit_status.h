// Exit statuses: documented interface, the same for every verb.
#pragma once

#include <string_view>

#include "dolium/base/error.h"

namespace dolium::cli {

enum class ExitStatus : int {
  kGood = 0,
  kBad = 1,         // bad or missing entries
  kUsage = 2,       // also: refused to overwrite
  kUnreadable = 3,  // could not read or write; no such location
  kUnsupported = 4,
  kStopped = 130,
};

// The line that closes every help text.
inline constexpr std::string_view kExitStatusHelp =
    "exit status: 0 good, 1 bad or missing entries, 2 usage, 3 could not read, 4 "
    "unsupported, "
    "130 stopped";

// What was not found, for kNotFound: an entry is a finding, a location a failure.
enum class Missing { kEntry, kLocation };

ExitStatus ExitStatusOf(ErrorCode code, Missing missing);

// The status of two tasks: the one that needs attention most.
ExitStatus Worse(ExitStatus a, ExitStatus b);

}  // namespace dolium::cli
