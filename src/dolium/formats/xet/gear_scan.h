// Where the gear hash matches: the first, expensive pass of chunking.
//
// A match depends on the 64 bytes before it and on nothing else, so that any number of
// places of a buffer can be scanned at once. All variants find the same marks.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"

namespace dolium::xet {

// Bytes that the state remembers.
inline constexpr uint64_t kGearWindow = 64;

// How to scan; the machine has those that AvailableGearVariants() names.
enum class GearVariant : uint8_t {
  kScalar,    // one chain of states, as the definition has it
  kPortable,  // two chains at once
  kAvx2,      // four
};

std::string_view GearVariantName(GearVariant variant);
// From the plainest to the fastest.
std::vector<GearVariant> AvailableGearVariants();
GearVariant BestGearVariant();

// A kernel of one variant. Internal to the scanner.
struct GearKernel;

// Scans a stream segment by segment. One thread at a time.
class GearScanner {
 public:
  explicit GearScanner(GearVariant variant = BestGearVariant());

  // Appends the marks in `segment` to `marks`, ascending: the number of bytes of
  // `segment` up to and with the one that matched. Marks less than kGearWindow bytes
  // behind the last Reset() mean nothing. Precondition: segment.size() < 2^32.
  void Scan(BytesView segment, std::vector<uint32_t>& marks);

  // Forgets what came before.
  void Reset() { state_ = 0; }

 private:
  void ScanLanes(BytesView block, uint32_t base, std::vector<uint32_t>& marks);

  const GearKernel* kernel_;
  uint64_t state_ = 0;
  std::vector<std::vector<uint32_t>> lane_marks_;
};

}  // namespace dolium::xet
