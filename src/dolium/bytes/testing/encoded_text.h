// Encoders for tests of this layer, which comes before the codecs.
#pragma once

#include <brotli/encode.h>
#include <zstd.h>

#include <string>

#include <gtest/gtest.h>
#include <zlib.h>

namespace dolium {

// One member of gzip.
inline std::string GzipText(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string BrotliText(const std::string& text) {
  std::string out(BrotliEncoderMaxCompressedSize(text.size()) + 16, '\0');
  size_t size = out.size();
  EXPECT_EQ(
      BrotliEncoderCompress(5, BROTLI_DEFAULT_WINDOW, BROTLI_DEFAULT_MODE, text.size(),
                            reinterpret_cast<const uint8_t*>(text.data()), &size,
                            reinterpret_cast<uint8_t*>(out.data())),
      BROTLI_TRUE);
  out.resize(size);
  return out;
}

// One frame of zstd.
inline std::string ZstdText(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  EXPECT_EQ(ZSTD_isError(size), 0U);
  out.resize(size);
  return out;
}

}  // namespace dolium
