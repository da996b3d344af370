// diff: in which samples two sets differ, by key.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/dataset/sample_set.h"

namespace dolium::dataset {

struct Difference {
  enum class Kind : uint8_t { kOnlyInFirst, kOnlyInSecond, kChanged };
  Kind kind = Kind::kChanged;
  std::string key;
  std::string entry;   // the file that differs; empty: the sample itself
  std::string reason;  // what differs: "size 5, then 7"; empty unless changed
};

struct DiffOptions {
  size_t jobs = 0;
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

struct DiffSummary {
  uint64_t equal = 0;  // samples
  uint64_t changed = 0;
  uint64_t only_in_first = 0;
  uint64_t only_in_second = 0;

  bool is_equal() const { return changed + only_in_first + only_in_second == 0; }
};

// Tells `visit` of each difference, in the order of the first set, then of what only the
// second has. Contents that are stored in the same way are compared by sizes and CRCs;
// others are decoded. Of samples with equal keys in one set, the first counts.
Result<DiffSummary> DiffSets(const SampleSet& first, const SampleSet& second,
                             const DiffOptions& options,
                             const std::function<void(const Difference&)>& visit);

}  // namespace dolium::dataset
