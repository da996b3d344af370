// Entries that a test has in memory, as a source.
#pragma once

#include <algorithm>
#include <span>

#include "dolium/container/writer.h"

namespace dolium {

// Does not own the entries. Gives them in several goes, for what happens in between.
class EntryList final : public EntrySource {
 public:
  explicit EntryList(std::span<const Entry> entries) : entries_(entries) {}

  Result<std::span<const Entry>> Next() override {
    constexpr size_t kAtOnce = 5;
    const auto next = entries_.subspan(next_, std::min(kAtOnce, entries_.size() - next_));
    next_ += next.size();
    return next;
  }
  Result<void> Rewind() override {
    next_ = 0;
    return {};
  }

 private:
  const std::span<const Entry> entries_;
  size_t next_ = 0;
};

}  // namespace dolium
