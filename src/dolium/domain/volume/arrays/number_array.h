// NumberArray: what each kind of file gives: an array of its own numbers, read by boxes.
// OpenArraySource() adds the checks and the conversion to the data type of a volume.
#pragma once

#include <cstdint>
#include <string>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/arrays/number_type.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

// Sizes and channels are at least 1, and the number of bytes fits 63 bits.
struct NumberShape {
  Vec3 size = {1, 1, 1};
  int64_t channels = 1;
  NumberType type = NumberType::kUint8;

  friend bool operator==(const NumberShape&, const NumberShape&) = default;
};

// kCorrupt if the sizes are not as NumberShape says.
Result<void> CheckShape(const NumberShape& shape);

// All methods may be called from many threads. Errors do not name the file itself.
class NumberArray {
 public:
  virtual ~NumberArray() = default;

  virtual const NumberShape& shape() const = 0;

  // Fills `into` with the box: x fastest, then y, z, channel.
  // Precondition: the box is not empty and lies within the shape, and `into` is of its
  // size.
  virtual Result<void> ReadNumbers(const Box& box, MutableBytes into) const = 0;

  // As those of ArraySource.
  virtual bool reads_whole_pages() const = 0;
  virtual std::string Fingerprint() const = 0;
};

}  // namespace dolium::volume
