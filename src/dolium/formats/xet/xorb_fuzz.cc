// A xorb of arbitrary bytes: opening, reading and verifying it must not crash; what
// verifies must read the same in all ways.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "dolium/formats/xet/xorb_reader.h"
#include "dolium/formats/xet/xorb_stream.h"

using namespace dolium;
using namespace dolium::xet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const BytesView object = std::as_bytes(std::span(data, size));
  const auto verified = VerifyXorb(object);

  // In two segments.
  XorbStream stream;
  const size_t half = size / 2;
  const bool streamed = stream.Write(object.first(half)).has_value() &&
                        stream.Write(object.subspan(half)).has_value() &&
                        stream.Finish().has_value();
  if (streamed != verified.has_value()) std::abort();

  const auto opened = OpenXorb(object, verified ? &verified->hash : nullptr);
  if (!opened) {
    if (verified) std::abort();
    return 0;
  }
  ChunkDecompressor decompressor;
  for (size_t i = 0; i < opened->size(); ++i) {
    const ByteRange range = opened->records(i, i + 1);
    if (range.end() > size) std::abort();
    ByteVector raw(opened->raw_size(i));
    const auto read = ReadChunks(
        *opened, i, i + 1, object.subspan(range.offset, range.length), decompressor, raw);
    if (verified && (!read || ChunkHash(raw) != verified->chunks[i])) std::abort();
  }
  if (verified && verified->record_ends != opened->record_ends) std::abort();
  return 0;
}
