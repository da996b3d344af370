// The loops of gear_scan.cc, one for each kind of processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dolium/formats/xet/gear_table_internal.h"

namespace dolium::xet {

// Scans `lanes` neighbouring segments of `length` bytes each at once; the first begins at
// `data`. `states` has the state before each segment and gets the one behind it. Marks of
// lane k, counted from the beginning of that lane, are appended to marks[k].
// Precondition: `length` is a multiple of `step`.
struct GearKernel {
  size_t lanes;
  size_t step;
  void (*scan)(const std::byte* data, size_t length, uint64_t* states,
               std::vector<uint32_t>* marks);
};

// One chain over `count` bytes, `base` bytes behind the beginning of the lane; returns
// the state behind them.
inline uint64_t ScanChain(uint64_t state, const std::byte* data, size_t count,
                          size_t base, std::vector<uint32_t>& marks) {
  for (size_t i = 0; i < count; ++i) {
    state = GearStep(state, data[i]);
    if (state < kGearMatchEnd) marks.push_back(static_cast<uint32_t>(base + i + 1));
  }
  return state;
}

#if defined(__x86_64__)
// Precondition of using it: the processor has AVX2.
extern const GearKernel kGearAvx2;
#endif

}  // namespace dolium::xet
