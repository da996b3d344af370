#include "dolium/codec/brotli.h"

#include <brotli/encode.h>

#include <new>

#include <fmt/format.h>

#include "dolium/bytes/brotli_stream.h"

namespace dolium {

Result<ByteVector> BrotliDecode(BytesView stored, uint64_t limit) {
  BrotliStream stream;
  ByteVector out;
  DOLIUM_TRY_VOID(stream.Write(stored, out, limit));
  if (!stream.finished()) {
    return Corrupt(fmt::format("brotli stream is cut short: {} bytes decode to {} so far",
                               stored.size(), out.size()));
  }
  return out;
}

ByteVector BrotliEncode(BytesView value, int quality) {
  // The bound is 0 for sizes that the library refuses.
  ByteVector out(BrotliEncoderMaxCompressedSize(value.size()));
  size_t size = out.size();
  if (BrotliEncoderCompress(quality, BROTLI_DEFAULT_WINDOW, BROTLI_DEFAULT_MODE,
                            value.size(), reinterpret_cast<const uint8_t*>(value.data()),
                            &size,
                            reinterpret_cast<uint8_t*>(out.data())) != BROTLI_TRUE) {
    throw std::bad_alloc();  // The only way it can fail here.
  }
  out.resize(size);
  return out;
}

}  // namespace dolium
