#include "dolium/codec/codec.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "dolium/codec/gzip.h"
#include "dolium/codec/lz4_block.h"
#include "dolium/codec/lz4_frame.h"
#include "dolium/codec/zstd.h"

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

// Nothing grows by more than this, whichever the codec.
constexpr uint64_t kMaxLz4Ratio = 255;
constexpr uint64_t kMaxZstdRatio = uint64_t{1} << 17;

// Steps that know their size. It is a claim: held against the limit, and against what the
// stored bytes could hold, before memory is taken.
Result<void> CheckDecodedSize(const CodecStep& step, BytesView stored, uint64_t limit) {
  if (step.decoded_size > limit) {
    return Corrupt(fmt::format("decodes to {} bytes, more than the limit of {} bytes",
                               step.decoded_size, limit));
  }
  const uint64_t ratio = step.codec == CodecId::kZstd ? kMaxZstdRatio : kMaxLz4Ratio;
  if (step.decoded_size / ratio > stored.size()) {
    return Corrupt(fmt::format("{} bytes cannot decode to {} ({})", stored.size(),
                               step.decoded_size, CodecName(step.codec)));
  }
  return {};
}

Result<void> DecodeStepInto(const CodecStep& step, BytesView stored, MutableBytes into) {
  if (step.codec == CodecId::kXetChunks) return step.decoder->DecodeInto(stored, into);
  if (step.codec == CodecId::kLz4Block) return Lz4BlockDecodeInto(stored, into);
  if (step.codec == CodecId::kLz4Frame) return Lz4FrameDecodeInto(stored, into);
  return ZstdDecodeInto(stored, into, step.dictionary.get());
}

Result<Bytes> DecodeSized(const CodecStep& step, const Bytes& stored, uint64_t limit) {
  DOLIUM_TRY_VOID(CheckDecodedSize(step, stored, limit));
  Buffer buffer(static_cast<size_t>(step.decoded_size));
  DOLIUM_TRY_VOID(DecodeStepInto(step, stored, buffer.view()));
  return std::move(buffer).Share();
}

Result<Bytes> SliceOf(const CodecStep& step, const Bytes& value) {
  if (step.slice_offset > value.size() ||
      step.decoded_size > value.size() - step.slice_offset) {
    return Corrupt(fmt::format("{} bytes at {} end past the {} that hold them",
                               step.decoded_size, step.slice_offset, value.size()));
  }
  return value.Slice(static_cast<size_t>(step.slice_offset),
                     static_cast<size_t>(step.decoded_size));
}

Result<ByteVector> EncodeSized(const CodecStep& step, BytesView value) {
  if (step.codec == CodecId::kXetChunks) {
    return InvalidArgument(
        fmt::format("a step of {} is done by its format alone", CodecName(step.codec)));
  }
  if (step.decoded_size != value.size() || step.dictionary) {
    return InvalidArgument(fmt::format("{} bytes for a {} step of {}{}", value.size(),
                                       CodecName(step.codec), step.decoded_size,
                                       step.dictionary ? " with a dictionary" : ""));
  }
  if (step.codec == CodecId::kZstd) return ZstdEncode(value);
  if (step.codec == CodecId::kLz4Frame) return Lz4FrameEncode(value);
  if (value.size() > kLz4BlockLimit) {
    return InvalidArgument(fmt::format("{} bytes, {} are possible in an lz4 block",
                                       value.size(), kLz4BlockLimit));
  }
  auto encoded = Lz4BlockEncode(value, SIZE_MAX);
  if (!encoded) return InvalidArgument("lz4 cannot encode it");
  return *std::move(encoded);
}

}  // namespace

std::string_view CodecName(CodecId codec) {
  switch (codec) {
    case CodecId::kGzip:
      return "gzip";
    case CodecId::kLz4Block:
      return "lz4";
    case CodecId::kZstd:
      return "zstd";
    case CodecId::kLz4Frame:
      return "lz4-frame";
    case CodecId::kSlice:
      return "slice";
    case CodecId::kXetChunks:
      return "xet";
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
      case CodecId::kLz4Block:
      case CodecId::kZstd:
      case CodecId::kLz4Frame:
      case CodecId::kXetChunks: {
        DOLIUM_TRY(value, DecodeSized(step, value, limit));
        break;
      }
      case CodecId::kSlice: {
        DOLIUM_TRY(value, SliceOf(step, value));
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
  if (chain.back().codec == CodecId::kSlice && chain.size() == 1) {
    if (!SliceOf(chain[0], Bytes(nullptr, stored))) return std::nullopt;
    return chain[0].decoded_size;
  }
  if (chain.back().codec != CodecId::kGzip) {
    if (chain.size() == 1 && !CheckDecodedSize(chain[0], stored, UINT64_MAX)) {
      return std::nullopt;
    }
    return chain.back().decoded_size;
  }
  if (chain.size() == 1) return GzipClaimedSize(stored);
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
    case CodecId::kSlice: {
      DOLIUM_TRY(const Bytes slice, SliceOf(chain.back(), last));
      if (slice.size() != into.size()) return false;
      std::ranges::copy(slice.view(), into.begin());
      return true;
    }
    case CodecId::kLz4Block:
    case CodecId::kZstd:
    case CodecId::kLz4Frame:
    case CodecId::kXetChunks: {
      if (chain.back().decoded_size != into.size()) return false;
      DOLIUM_TRY_VOID(DecodeStepInto(chain.back(), last, into));
      return true;
    }
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
      case CodecId::kSlice:
        return InvalidArgument("a part of something larger cannot be encoded alone");
      case CodecId::kLz4Block:
      case CodecId::kZstd:
      case CodecId::kLz4Frame:
      case CodecId::kXetChunks: {
        DOLIUM_TRY(encoded, EncodeSized(step, current));
        break;
      }
    }
    current = encoded;
  }
  if (chain.empty()) encoded.assign(value.begin(), value.end());
  return encoded;
}

}  // namespace dolium
