// Progress of long work, reported to whoever shows it.
#pragma once

#include <cstdint>
#include <functional>

namespace dolium {

struct Progress {
  uint64_t entries = 0;        // done so far
  uint64_t total_entries = 0;  // 0: not known
  uint64_t bytes = 0;          // read or written so far
  uint64_t total_bytes = 0;    // 0: not known
};

// May be called from any thread, one call at a time. Cheap calls only. May be empty.
using ProgressFunction = std::function<void(const Progress&)>;

}  // namespace dolium
