#include "dolium/codec/gzip.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <libdeflate.h>

#include "dolium/base/byte_reader.h"
#include "dolium/base/checked_math.h"

namespace dolium {
namespace {

// RFC 1952, section 2.3.
constexpr uint8_t kId1 = 0x1f;
constexpr uint8_t kId2 = 0x8b;
constexpr uint8_t kMethodDeflate = 8;
constexpr uint8_t kFlagHeaderCrc = 1 << 1;
constexpr uint8_t kFlagExtra = 1 << 2;
constexpr uint8_t kFlagName = 1 << 3;
constexpr uint8_t kFlagComment = 1 << 4;
constexpr uint8_t kFlagsReserved = 0xe0;
constexpr size_t kTrailerBytes = 8;  // CRC32, ISIZE

// A deflate stream cannot grow by more than this: 258 bytes from two bits.
constexpr uint64_t kMaxRatio = 1032;
constexpr uint64_t kRatioSlack = 64;
// Sizes that are allocated on the trailer's word: this, or this many times the input.
constexpr uint64_t kTrustedHint = uint64_t{64} << 20;
constexpr uint64_t kUsualRatio = 16;

constexpr int kMinLevel = 0;
constexpr int kMaxLevel = 12;

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const {
    libdeflate_free_compressor(compressor);
  }
};
struct FreeDecompressor {
  void operator()(libdeflate_decompressor* decompressor) const {
    libdeflate_free_decompressor(decompressor);
  }
};

libdeflate_compressor* ThreadCompressor(int level) {
  thread_local std::array<std::unique_ptr<libdeflate_compressor, FreeCompressor>,
                          kMaxLevel + 1>
      compressors;
  auto& compressor = compressors[static_cast<size_t>(level)];
  if (!compressor) compressor.reset(libdeflate_alloc_compressor(level));
  if (!compressor) throw std::bad_alloc();
  return compressor.get();
}

libdeflate_decompressor* ThreadDecompressor() {
  thread_local std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor;
  if (!decompressor) decompressor.reset(libdeflate_alloc_decompressor());
  if (!decompressor) throw std::bad_alloc();
  return decompressor.get();
}

Error CutShort() { return Corrupt("gzip stream is cut short"); }

Error OverLimit(uint64_t limit) {
  return Corrupt(fmt::format("decodes to more than the limit of {} bytes", limit));
}

// Steps over a zero-terminated field of the header.
Result<void> SkipText(BytesView stream, ByteReader& reader) {
  const BytesView rest = stream.subspan(reader.position());
  const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
  if (end == rest.end()) return CutShort();
  const auto length = static_cast<uint64_t>(end - rest.begin()) + 1;
  DOLIUM_TRY([[maybe_unused]] const BytesView text, reader.ReadBytes(length, "text"));
  return {};
}

bool StartsLikeGzip(BytesView stream) {
  constexpr uint8_t kMagic[] = {kId1, kId2, kMethodDeflate};
  const size_t count = std::min(stream.size(), std::size(kMagic));
  return std::equal(
      stream.begin(), stream.begin() + static_cast<ptrdiff_t>(count), kMagic,
      [](std::byte a, uint8_t b) { return std::to_integer<uint8_t>(a) == b; });
}

// Length of the header that `stream` begins with.
Result<size_t> HeaderLength(BytesView stream) {
  if (!StartsLikeGzip(stream)) return Corrupt("not a gzip stream");
  constexpr size_t kFixedBytes = 10;
  constexpr size_t kFlagsAt = 3;
  ByteReader reader(stream);
  if (!reader.ReadBytes(kFixedBytes, "header")) return CutShort();
  const auto flags = std::to_integer<uint8_t>(stream[kFlagsAt]);
  if ((flags & kFlagsReserved) != 0) {
    return Corrupt(fmt::format("not a gzip stream: reserved flags {:#04x}", flags));
  }
  if ((flags & kFlagExtra) != 0) {
    const auto length = reader.Read<uint16_t>("XLEN");
    if (!length || !reader.ReadBytes(*length, "extra field")) return CutShort();
  }
  if ((flags & kFlagName) != 0) DOLIUM_TRY_VOID(SkipText(stream, reader));
  if ((flags & kFlagComment) != 0) DOLIUM_TRY_VOID(SkipText(stream, reader));
  if ((flags & kFlagHeaderCrc) != 0 && !reader.Read<uint16_t>("CRC16")) return CutShort();
  return reader.position();
}

// The output of all members, in a buffer that grows within `cap`.
class Output {
 public:
  Output(uint64_t cap, uint64_t hint)
      : cap_(cap), data_(static_cast<size_t>(std::min(cap, hint))) {}

  MutableBytes free() { return MutableBytes(data_).subspan(used_); }
  void Use(size_t length) { used_ += length; }

  // False if it is as large as it may be.
  bool Grow() {
    constexpr uint64_t kFirst = 4096;
    if (data_.size() == cap_) return false;
    const uint64_t wanted =
        data_.size() > cap_ / 2 ? cap_ : std::max<uint64_t>(kFirst, 2 * data_.size());
    const auto size = static_cast<size_t>(std::min(cap_, wanted));
    if (used_ == 0) data_ = ByteVector();  // Nothing to keep: never hold both.
    data_.resize(size);
    return true;
  }

  ByteVector Take() && {
    data_.resize(used_);
    return std::move(data_);
  }

 private:
  uint64_t cap_;
  ByteVector data_;
  size_t used_ = 0;
};

struct Member {
  size_t stored = 0;   // bytes of the stream
  size_t decoded = 0;  // bytes of the output
};

// Decodes the member that `stream` begins with; nullopt if `into` is too small for it.
Result<std::optional<Member>> DecodeMember(BytesView stream, MutableBytes into) {
  DOLIUM_TRY(const size_t header, HeaderLength(stream));
  const BytesView body = stream.subspan(header);
  size_t consumed = 0;
  size_t produced = 0;
  // The library wants a place even for nothing.
  std::byte nowhere{};
  const libdeflate_result result = libdeflate_deflate_decompress_ex(
      ThreadDecompressor(), body.data(), body.size(),
      into.empty() ? &nowhere : into.data(), into.size(), &consumed, &produced);
  if (result == LIBDEFLATE_INSUFFICIENT_SPACE) return std::nullopt;
  if (result != LIBDEFLATE_SUCCESS) {
    // The library does not say where it stopped.
    return Corrupt("gzip stream is damaged or cut short");
  }
  const BytesView trailer = body.subspan(consumed);
  if (trailer.size() < kTrailerBytes) return CutShort();
  const auto want_crc = LoadLE<uint32_t>(trailer.data());
  const auto want_size = LoadLE<uint32_t>(trailer.data() + sizeof(uint32_t));
  const uint32_t crc = libdeflate_crc32(0, into.data(), produced);
  if (crc != want_crc) {
    return Corrupt(fmt::format(
        "gzip checksum does not match: {:08x}, the trailer says {:08x}", crc, want_crc));
  }
  if (static_cast<uint32_t>(produced) != want_size) {
    return Corrupt(
        fmt::format("gzip length does not match: {} bytes, the trailer says {}", produced,
                    want_size));
  }
  return Member{header + consumed + kTrailerBytes, produced};
}

// Whether a further member may begin at `at`; not all who append know that only those
// may.
Result<void> CheckFollower(BytesView stored, size_t at) {
  if (at == 0 || StartsLikeGzip(stored.subspan(at))) return {};
  return Corrupt(fmt::format("{} bytes that are not gzip follow the gzip stream at {}",
                             stored.size() - at, at));
}

// What the input could hold at most. A hint or a claim beyond it is a lie.
uint64_t PossibleSize(BytesView stored, uint64_t limit) {
  const auto product = CheckedMul(stored.size(), kMaxRatio);
  const auto possible = product ? CheckedAdd(*product, kRatioSlack) : std::nullopt;
  return possible ? std::min(limit, *possible) : limit;
}

// What the last trailer says: exact for the usual single member, a guess for several.
uint64_t SizeInTrailer(BytesView stored) {
  if (stored.size() < kTrailerBytes) return 0;
  return LoadLE<uint32_t>(stored.data() + stored.size() - sizeof(uint32_t));
}

// A larger claim is not believed before some of it has come true.
uint64_t BelievableSize(BytesView stored) {
  const auto likely = CheckedMul(stored.size(), kUsualRatio).value_or(UINT64_MAX);
  return std::max(kTrustedHint, likely);
}

}  // namespace

Result<ByteVector> GzipDecode(BytesView stored, uint64_t limit) {
  if (stored.empty()) return Corrupt("not a gzip stream: no bytes");
  if (!StartsLikeGzip(stored)) return Corrupt("not a gzip stream");
  Output output(PossibleSize(stored, limit),
                std::min(SizeInTrailer(stored), BelievableSize(stored)));
  for (size_t at = 0; at < stored.size();) {
    DOLIUM_TRY_VOID(CheckFollower(stored, at));
    DOLIUM_TRY(const auto member, DecodeMember(stored.subspan(at), output.free()));
    if (member) {
      output.Use(member->decoded);
      at += member->stored;
    } else if (!output.Grow()) {
      return OverLimit(limit);
    }
  }
  return std::move(output).Take();
}

std::optional<uint64_t> GzipClaimedSize(BytesView stored) {
  if (stored.empty() || !StartsLikeGzip(stored)) return std::nullopt;
  const uint64_t claimed = SizeInTrailer(stored);
  if (claimed > std::min(BelievableSize(stored), PossibleSize(stored, UINT64_MAX))) {
    return std::nullopt;
  }
  return claimed;
}

Result<bool> GzipDecodeInto(BytesView stored, MutableBytes into) {
  if (stored.empty()) return Corrupt("not a gzip stream: no bytes");
  size_t filled = 0;
  for (size_t at = 0; at < stored.size();) {
    DOLIUM_TRY_VOID(CheckFollower(stored, at));
    DOLIUM_TRY(const auto member, DecodeMember(stored.subspan(at), into.subspan(filled)));
    if (!member) return false;
    filled += member->decoded;
    at += member->stored;
  }
  return filled == into.size();
}

Result<bool> GzipDecodeMemberInto(BytesView stored, MutableBytes into) {
  DOLIUM_TRY(const auto member, DecodeMember(stored, into));
  if (!member) return false;
  if (member->stored != stored.size()) {
    return Corrupt(fmt::format("{} bytes follow the gzip member of {}",
                               stored.size() - member->stored, member->stored));
  }
  return member->decoded == into.size();
}

ByteVector GzipEncode(BytesView value, int level) {
  libdeflate_compressor* compressor =
      ThreadCompressor(std::clamp(level, kMinLevel, kMaxLevel));
  ByteVector out(libdeflate_gzip_compress_bound(compressor, value.size()));
  const size_t size = libdeflate_gzip_compress(compressor, value.data(), value.size(),
                                               out.data(), out.size());
  out.resize(size);
  return out;
}

}  // namespace dolium
