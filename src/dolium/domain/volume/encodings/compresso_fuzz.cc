// Any bytes as a chunk of the shape that they claim, if it is small: DecodeCompresso must
// answer. What it accepts must survive a round trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "dolium/base/endian.h"
#include "dolium/domain/volume/encodings/compresso.h"

using dolium::ByteVector;
using namespace dolium::volume;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHeader = 36;
  constexpr uint64_t kMaxVoxels = 1 << 16;
  if (size < kHeader) return 0;
  // Copied, so that a sanitizer sees what is read behind its end.
  const auto input = std::as_bytes(std::span(data, size));
  const ByteVector stored(input.begin(), input.end());
  constexpr DataType kTypes[] = {DataType::kUint8, DataType::kUint16, DataType::kUint32,
                                 DataType::kUint64};
  ArrayShape shape;
  for (const DataType type : kTypes) {
    if (SizeOf(type) == data[5]) shape.type = type;
  }
  for (size_t d = 0; d < 3; ++d) {
    shape.size[d] = dolium::LoadLE<uint16_t>(&stored[6 + 2 * d]);
    if (shape.size[d] == 0) return 0;
  }
  if (*shape.voxels() > kMaxVoxels) return 0;

  ByteVector voxels(static_cast<size_t>(*shape.bytes()));
  if (!DecodeCompresso(shape, stored, voxels)) return 0;
  const auto encoded = EncodeCompresso(shape, voxels);
  if (!encoded) std::abort();
  ByteVector again(voxels.size());
  if (!DecodeCompresso(shape, *encoded, again) || voxels != again) std::abort();
  return 0;
}
