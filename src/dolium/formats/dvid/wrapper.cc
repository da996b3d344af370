#include "dolium/formats/dvid/wrapper.h"

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/codec/zstd.h"

namespace dolium::dvid {
namespace {

constexpr uint32_t kZstdMagic = 0xfd2fb528;
constexpr uint32_t kLz4FrameMagic = 0x184d2204;
constexpr uint16_t kGzipMagic = 0x8b1f;
// At this place an LZ4 frame has its flags and, if these say so, its size.
constexpr size_t kLz4FlagsAt = 4;
constexpr uint8_t kLz4HasSize = 0x08;
constexpr size_t kLz4SizeAt = 6;

std::optional<uint64_t> Lz4FrameSize(BytesView stored) {
  if (stored.size() < kLz4SizeAt + sizeof(uint64_t)) return std::nullopt;
  if ((std::to_integer<uint8_t>(stored[kLz4FlagsAt]) & kLz4HasSize) == 0) {
    return std::nullopt;
  }
  return LoadLE<uint64_t>(stored.data() + kLz4SizeAt);
}

Result<CodecChain> Sized(CodecId codec, std::optional<uint64_t> own,
                         std::optional<uint32_t> column) {
  if (!own && !column) {
    return Unsupported("its frame has no size, and there is no uncompressed_size");
  }
  if (own && column && *own != *column) {
    return Corrupt(
        fmt::format("its frame claims {} bytes, uncompressed_size is {}", *own, *column));
  }
  const uint64_t size = own ? *own : *column;
  if (size > kMaxBlockBytes) {
    return Corrupt(
        fmt::format("a block of {} bytes, more than {}", size, kMaxBlockBytes));
  }
  return CodecChain{CodecStep{codec, size}};
}

}  // namespace

Result<CodecChain> WrapperOf(BytesView stored, std::optional<uint32_t> size,
                             std::string_view codec) {
  const uint32_t magic =
      stored.size() < sizeof(uint32_t) ? 0 : LoadLE<uint32_t>(stored.data());
  if (magic == kZstdMagic) return Sized(CodecId::kZstd, ZstdClaimedSize(stored), size);
  if (magic == kLz4FrameMagic) {
    return Sized(CodecId::kLz4Frame, Lz4FrameSize(stored), size);
  }
  if (static_cast<uint16_t>(magic) == kGzipMagic) return CodecChain{{CodecId::kGzip}};
  if (codec == "lz4") return Sized(CodecId::kLz4Block, std::nullopt, size);
  return CodecChain{};
}

}  // namespace dolium::dvid
