// An arbitrary compressed chunk: reading it must not crash, nor write beyond the chunk;
// and what a chunk is compressed to must read back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "dolium/formats/xet/compression.h"

using namespace dolium;
using namespace dolium::xet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A scheme, the raw size, the stored bytes.
  constexpr size_t kHeader = 4;
  if (size < kHeader) return 0;
  const auto scheme = static_cast<Scheme>(data[0] % 3);
  const size_t raw_size =
      (size_t{data[1]} | size_t{data[2]} << 8 | size_t{data[3]} << 16) % 131073;
  const BytesView stored = std::as_bytes(std::span(data + kHeader, size - kHeader));
  ChunkDecompressor decompressor;
  ByteVector raw(raw_size);
  const auto decoded = decompressor.Decode(scheme, stored, raw);
  static_cast<void>(decoded.has_value());

  if (stored.size() > 131072) return 0;
  ChunkCompressor compressor;
  const EncodedChunk encoded = compressor.Encode(stored, scheme);
  ByteVector again(stored.size());
  if (!decompressor.Decode(encoded.scheme, encoded.bytes, again)) std::abort();
  if (!Equal(again, stored)) std::abort();
  static_cast<void>(ChooseScheme(stored));
  return 0;
}
