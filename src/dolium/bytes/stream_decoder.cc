#include "dolium/bytes/stream_decoder.h"

#include "dolium/bytes/brotli_stream.h"
#include "dolium/bytes/gunzip_stream.h"
#include "dolium/bytes/zstd_stream.h"

namespace dolium {

std::unique_ptr<StreamDecoder> NewStreamDecoder(std::string_view content_encoding) {
  if (content_encoding == "gzip" || content_encoding == "x-gzip") {
    return std::make_unique<GunzipStream>();
  }
  if (content_encoding == "br") return std::make_unique<BrotliStream>();
  if (content_encoding == "zstd") return std::make_unique<ZstdStream>();
  return nullptr;
}

}  // namespace dolium
