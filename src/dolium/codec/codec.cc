#include "dolium/codec/codec.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "dolium/codec/gzip.h"

namespace dolium {

namespace {

// Into memory that is not cleared first, if the claimed size proves true.
Result<Bytes> GunzipToBytes(const Bytes& stored, uint64_t limit) {
  if (const auto size = GzipClaimedSize(stored); size && *size <= limit) {
    Buffer buffer(static_cast<size_t>(*size));
    DOLIUM_TRY(const bool fits, GzipDecodeInto(stored, buffer.view()));
    if (fits) return std::move(buffer).Share();
  }
  DOLIUM_TRY(ByteVector decoded, GzipDecode(stored, limit));
  return Bytes::FromVector(std::move(decoded));
}

}  // namespace

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
        DOLIUM_TRY(value, GunzipToBytes(value, limit));
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

std::optional<uint64_t> ClaimedSize(const CodecChain& chain, BytesView stored) {
  if (chain.empty()) return stored.size();
  if (chain.size() == 1 && chain[0].codec == CodecId::kGzip) {
    return GzipClaimedSize(stored);
  }
  return std::nullopt;
}

Result<bool> DecodeInto(const CodecChain& chain, BytesView stored, MutableBytes into) {
  if (chain.empty()) {
    if (stored.size() != into.size()) return false;
    std::ranges::copy(stored, into.begin());
    return true;
  }
  const CodecChain before(chain.begin(), chain.end() - 1);
  DOLIUM_TRY(const Bytes last,
             Decode(before, Bytes(nullptr, stored), kDefaultDecodeLimit));
  switch (chain.back().codec) {
    case CodecId::kGzip:
      return GzipDecodeInto(last, into);
  }
  return false;
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
