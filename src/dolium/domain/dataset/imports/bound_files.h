// BoundFiles: the states that files of a source were in when it was bound to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/result.h"
#include "dolium/base/stable_hash.h"

namespace dolium::dataset {

// Takes eight bytes for each file. One thread at a time.
class BoundFiles {
 public:
  // The next one. `state` is its generation; empty if it is not there.
  void Add(std::string_view name, std::string_view state) {
    states_.push_back(StableHash(state));
    hash_ = StableHash(name, hash_ + states_.back());
  }

  // kConflict if a file, by its number in the order of Add(), is not in that state. No
  // error unless files were added.
  Result<void> Check(size_t number, std::string_view state) const {
    if (states_.empty()) return {};
    if (number < states_.size() && StableHash(state) == states_[number]) return {};
    return Conflict("has changed since the job began");
  }

  // Another one if any name or state is, or the order.
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::vector<uint64_t> states_;
  uint64_t hash_ = 0;
};

}  // namespace dolium::dataset
