// stats: counts and sizes of a container, from its index alone.
#pragma once

#include <array>
#include <cstdint>
#include <stop_token>

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/container/progress.h"

namespace dolium {

struct Distribution {
  uint64_t count = 0;
  uint64_t sum = 0;
  uint64_t min = 0;
  uint64_t max = 0;
  // histogram[i] counts values v with bit_width(v) == i: 0, 1, 2..3, 4..7, ...
  std::array<uint64_t, 65> histogram{};

  void Add(uint64_t value);
  double mean() const { return count == 0 ? 0 : double(sum) / double(count); }
  // An upper bound of the value below which the fraction `q` of all values lies.
  uint64_t Quantile(double q) const;
};

struct StatsReport {
  uint64_t objects = 0;
  uint64_t object_bytes = 0;     // sizes of the objects scanned
  uint64_t preceding_bytes = 0;  // unindexed bytes that belong to entries
  Distribution stored_size;      // of entries
  Distribution entries_per_object;
  uint64_t damaged = 0;  // parts of the index that could not be read

  // Bytes that are neither payload nor bytes before it: indexes and gaps.
  uint64_t overhead_bytes() const {
    const uint64_t used = stored_size.sum + preceding_bytes;
    return object_bytes > used ? object_bytes - used : 0;
  }
};

struct StatsOptions {
  size_t jobs = 0;
  ProgressFunction progress;
  std::stop_token stop;
};

Result<StatsReport> Stats(const Container& container, const StatsOptions& options);

}  // namespace dolium
