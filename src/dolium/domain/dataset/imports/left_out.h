// LeftOut: what a source has left out, until somebody takes it.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/container/entry.h"

namespace dolium::dataset {

// May be used by many threads.
class LeftOut {
 public:
  // `position`: how many samples come before it. Positions never decrease.
  void Note(uint64_t position, Finding finding);

  // Those before the sample of that number, once each.
  std::vector<Finding> Take(uint64_t before);

 private:
  struct One {
    uint64_t position = 0;
    Finding finding;
  };

  std::mutex mutex_;
  std::deque<One> all_;  // guarded by mutex_
};

// Things of one sort that are left out: their number, and the name of the first.
struct PassedOver {
  uint64_t count = 0;
  std::string first;

  void Add(std::string_view name) {
    if (count++ == 0) first = name;
  }
};

// A warning that `passed` of `object` are left out: "2 links, a.jpg the first of them".
// `one` and `many` are what they are, with a reason behind a comma if it is not plain.
Finding FindingOf(const PassedOver& passed, std::string_view object, std::string_view one,
                  std::string_view many);

}  // namespace dolium::dataset
