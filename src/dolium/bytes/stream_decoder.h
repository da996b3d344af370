// StreamDecoder: undoes an encoding segment by segment, within a limit.
//
// For bodies that arrive as a stream and must not be gathered first; whole buffers are
// the business of the codecs. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium {

class StreamDecoder {
 public:
  StreamDecoder() = default;
  virtual ~StreamDecoder() = default;
  StreamDecoder(const StreamDecoder&) = delete;
  StreamDecoder& operator=(const StreamDecoder&) = delete;

  // "gzip", "brotli", "zstd".
  virtual std::string_view name() const = 0;

  // Decodes the next segment and appends to `out`, which never grows past `limit` bytes:
  // kCorrupt beyond it, or if the bytes are damaged.
  virtual Result<void> Write(BytesView segment, ByteVector& out, uint64_t limit) = 0;

  // True where the stream may end.
  virtual bool finished() const = 0;
};

// What a request may say in Accept-Encoding: the encodings that NewStreamDecoder() knows.
inline constexpr std::string_view kAcceptedEncodings = "gzip, br, zstd";

// By the value of Content-Encoding, in small letters; nullptr for one that is not known.
std::unique_ptr<StreamDecoder> NewStreamDecoder(std::string_view content_encoding);

}  // namespace dolium
