// Any bytes as a jpeg, png or jxl chunk of some shape: the decoder must answer. What it
// accepts it must decode to the same voxels again, and losslessly encoded as PNG they
// must survive. The first byte is the codec, type and channels; the next three the size.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "dolium/domain/volume/encodings/jpeg.h"
#include "dolium/domain/volume/encodings/jxl.h"
#include "dolium/domain/volume/encodings/png.h"

using namespace dolium::volume;
using dolium::BytesView;
using dolium::ByteVector;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHeader = 4;
  if (size < kHeader) return 0;
  ArrayShape shape;
  for (size_t i = 0; i < 3; ++i) shape.size[i] = data[1 + i] % 64 + 1;
  shape.channels = data[0] / 8 % 4 + 1;
  const BytesView stored = std::as_bytes(std::span(data + kHeader, size - kHeader));

  auto* decode = &DecodePng;
  switch (data[0] % 4) {
    case 0:
      decode = &DecodeJpeg;
      if (shape.channels % 2 == 0) --shape.channels;
      break;
    case 1:
      decode = &DecodeJxl;
      if (shape.channels == 2) shape.channels = 1;
      break;
    default:
      if ((data[0] & 4) != 0) shape.type = DataType::kUint16;
      break;
  }
  ByteVector voxels(shape.bytes().value());
  if (!decode(shape, stored, voxels)) return 0;
  ByteVector again(voxels.size(), std::byte{0xff});
  if (!decode(shape, stored, again) || again != voxels) std::abort();
  const auto png = EncodePng(shape, 1, voxels);
  if (!png || !DecodePng(shape, *png, again) || again != voxels) std::abort();
  return 0;
}
