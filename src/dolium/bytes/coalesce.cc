#include "dolium/bytes/coalesce.h"

#include <algorithm>
#include <utility>

namespace dolium {

std::vector<RangeGroup> CoalesceRanges(std::span<const ByteRange> ranges,
                                       uint64_t max_gap, uint64_t max_length) {
  std::vector<size_t> order;
  order.reserve(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (!ranges[i].empty()) order.push_back(i);
  }
  const auto by_offset = [&](size_t a, size_t b) {
    return std::pair(ranges[a].offset, a) < std::pair(ranges[b].offset, b);
  };
  if (!std::is_sorted(order.begin(), order.end(), by_offset)) {
    std::sort(order.begin(), order.end(), by_offset);
  }

  std::vector<RangeGroup> groups;
  for (const size_t index : order) {
    const ByteRange range = ranges[index];
    if (!groups.empty()) {
      ByteRange& covering = groups.back().covering;
      const uint64_t length = std::max(covering.end(), range.end()) - covering.offset;
      const bool is_close =
          range.offset <= covering.end() || range.offset - covering.end() <= max_gap;
      if (is_close && length <= std::max(max_length, covering.length)) {
        covering.length = length;
        groups.back().indices.push_back(index);
        continue;
      }
    }
    groups.push_back({range, {index}});
  }
  return groups;
}

}  // namespace dolium
