#include "dolium/codec/codec.h"

#include <ranges>

#include <fmt/format.h>

#include "dolium/codec/gzip.h"

namespace dolium {

std::string_view CodecName(CodecId codec) {
  switch (codec) {
    case CodecId::kGzip:
      return "gzip";
  }
  return "unknown";
}

std::string ToString(const CodecChain& chain) {
  if (chain.empty()) return "raw";
  std::string text;
  for (const CodecStep& step : chain) {
    if (!text.empty()) text += '+';
    text += CodecName(step.codec);
  }
  return text;
}

Result<Bytes> Decode(const CodecChain& chain, const Bytes& stored, uint64_t limit) {
  Bytes value = stored;
  for (const CodecStep& step : chain) {
    switch (step.codec) {
      case CodecId::kGzip: {
        DOLIUM_TRY(ByteVector decoded, GzipDecode(value, limit));
        value = Bytes::FromVector(std::move(decoded));
        break;
      }
    }
  }
  if (value.size() > limit) {
    return Corrupt(
        fmt::format("{} bytes, more than the limit of {} bytes", value.size(), limit));
  }
  return value;
}

Result<ByteVector> Encode(const CodecChain& chain, BytesView value) {
  ByteVector encoded;
  BytesView current = value;
  for (const CodecStep& step : chain | std::views::reverse) {
    switch (step.codec) {
      case CodecId::kGzip:
        encoded = GzipEncode(current);
        break;
    }
    current = encoded;
  }
  if (chain.empty()) encoded.assign(value.begin(), value.end());
  return encoded;
}

}  // namespace dolium
