#include "dolium/formats/xet/compression.h"

#include <lz4.h>
#include <lz4frame.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/formats/xet/bg4.h"

namespace dolium::xet {

namespace {

constexpr uint32_t kFrameMagic = 0x184D2204;
constexpr std::byte kFlags{0x60};  // version 1, blocks independent, nothing optional
constexpr size_t kHeaderSize = 7;
constexpr size_t kBlockHeaderSize = 4;
constexpr size_t kEndSize = 4;
constexpr size_t kFrameOverhead = kHeaderSize + kBlockHeaderSize + kEndSize;

// The largest block that a frame says it has, with the checksum of such a header.
struct BlockSize {
  size_t limit;
  std::byte descriptor;
  std::byte checksum;
};
constexpr BlockSize k64KiB = {65536, std::byte{0x40}, std::byte{0x82}};
constexpr BlockSize k256KiB = {262144, std::byte{0x50}, std::byte{0xFB}};

constexpr double kSpreadForBg4 = 0.02;
constexpr unsigned kRun = 32;  // chunks that one of them decides for
constexpr size_t kBins = 9;    // a byte has none to eight bits

const char* AsChars(const std::byte* bytes) {
  return reinterpret_cast<const char*>(bytes);
}
char* AsChars(std::byte* bytes) { return reinterpret_cast<char*>(bytes); }

// The size of the block of a frame as ChunkCompressor makes it; 0 for any other frame.
size_t BlockOfPlainFrame(BytesView frame) {
  if (frame.size() <= kFrameOverhead || LoadLE<uint32_t>(frame.data()) != kFrameMagic ||
      frame[4] != kFlags) {
    return 0;
  }
  const bool known = (frame[5] == k64KiB.descriptor && frame[6] == k64KiB.checksum) ||
                     (frame[5] == k256KiB.descriptor && frame[6] == k256KiB.checksum);
  const auto block = LoadLE<uint32_t>(frame.data() + kHeaderSize);
  if (!known || block != frame.size() - kFrameOverhead) return 0;
  const bool ends = LoadLE<uint32_t>(frame.data() + frame.size() - kEndSize) == 0;
  return ends ? block : 0;
}

size_t LimitOf(BytesView frame) {
  return frame[5] == k64KiB.descriptor ? k64KiB.limit : k256KiB.limit;
}

}  // namespace

std::string_view SchemeName(Scheme scheme) {
  switch (scheme) {
    case Scheme::kNone:
      return "none";
    case Scheme::kLz4:
      return "lz4";
    case Scheme::kBg4Lz4:
      return "bg4-lz4";
  }
  return "unknown";
}

std::optional<Scheme> SchemeOf(uint8_t number) {
  if (number > static_cast<uint8_t>(Scheme::kBg4Lz4)) return std::nullopt;
  return static_cast<Scheme>(number);
}

std::array<double, 4> BitSpread(BytesView chunk) {
  // Bytes first, then bits: many bins are counted faster than few.
  std::array<std::array<uint64_t, 256>, 4> bytes{};
  size_t i = 0;
  for (; i + 4 <= chunk.size(); i += 4) {
    const auto four = LoadLE<uint32_t>(chunk.data() + i);
    ++bytes[0][four & 0xff];
    ++bytes[1][four >> 8 & 0xff];
    ++bytes[2][four >> 16 & 0xff];
    ++bytes[3][four >> 24];
  }
  for (; i < chunk.size(); ++i) ++bytes[i % 4][std::to_integer<size_t>(chunk[i])];
  std::array<std::array<uint64_t, kBins>, 4> counts{};
  for (size_t position = 0; position < 4; ++position) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      counts[position][static_cast<size_t>(std::popcount(byte))] += bytes[position][byte];
    }
  }
  std::array<double, kBins> all{};
  for (size_t bin = 0; bin < kBins; ++bin) {
    uint64_t sum = 1;
    for (const auto& one : counts) sum += one[bin];
    all[bin] = static_cast<double>(sum) / static_cast<double>(chunk.size());
  }
  std::array<double, 4> spread{};
  for (size_t position = 0; position < 4; ++position) {
    uint64_t of_position = 0;
    for (const uint64_t count : counts[position]) of_position += count;
    for (size_t bin = 0; bin < kBins; ++bin) {
      // An empty bin has a share of 0, and 0 times the logarithm of 0 is NaN: wanted.
      const double share =
          static_cast<double>(counts[position][bin]) / static_cast<double>(of_position);
      spread[position] += share * std::log(share / all[bin]);
    }
  }
  return spread;
}

Scheme ChooseScheme(BytesView chunk) {
  if (chunk.empty()) return Scheme::kLz4;
  const auto spread = BitSpread(chunk);
  // A NaN compares false.
  const bool is_spread = std::any_of(spread.begin(), spread.end(),
                                     [](double value) { return value > kSpreadForBg4; });
  return is_spread ? Scheme::kBg4Lz4 : Scheme::kLz4;
}

Scheme SchemeChooser::Next(BytesView chunk) {
  if (left_ == 0) {
    scheme_ = ChooseScheme(chunk);
    left_ = kRun;
  }
  --left_;
  return scheme_;
}

EncodedChunk ChunkCompressor::Encode(BytesView chunk, Scheme scheme) {
  const EncodedChunk stored = {.scheme = Scheme::kNone, .bytes = chunk};
  if (scheme == Scheme::kNone || chunk.size() <= kFrameOverhead) return stored;
  BytesView from = chunk;
  if (scheme == Scheme::kBg4Lz4) {
    grouped_.resize(chunk.size());
    Bg4Split(chunk, grouped_);
    from = grouped_;
  }
  // Only a smaller frame is of use, so no more room is given.
  frame_.resize(chunk.size() - 1);
  const int block = LZ4_compress_default(
      AsChars(from.data()), AsChars(frame_.data()) + kHeaderSize + kBlockHeaderSize,
      static_cast<int>(from.size()),
      static_cast<int>(frame_.size()) - static_cast<int>(kFrameOverhead));
  if (block <= 0) return stored;
  const BlockSize& size = chunk.size() <= k64KiB.limit ? k64KiB : k256KiB;
  StoreLE(frame_.data(), kFrameMagic);
  frame_[4] = kFlags;
  frame_[5] = size.descriptor;
  frame_[6] = size.checksum;
  StoreLE(frame_.data() + kHeaderSize, static_cast<uint32_t>(block));
  const size_t end = kHeaderSize + kBlockHeaderSize + static_cast<size_t>(block);
  StoreLE(frame_.data() + end, uint32_t{0});
  return {.scheme = scheme, .bytes = BytesView(frame_).first(end + kEndSize)};
}

ChunkDecompressor::~ChunkDecompressor() {
  LZ4F_freeDecompressionContext(static_cast<LZ4F_dctx*>(context_));
}

Result<void> ChunkDecompressor::Decode(Scheme scheme, BytesView stored,
                                       MutableBytes into) {
  switch (scheme) {
    case Scheme::kNone:
      if (stored.size() != into.size()) {
        return Corrupt(fmt::format("{} stored bytes are said to be {} raw ones",
                                   stored.size(), into.size()));
      }
      std::copy(stored.begin(), stored.end(), into.begin());
      return {};
    case Scheme::kLz4:
      return DecodeFrame(stored, into);
    case Scheme::kBg4Lz4:
      grouped_.resize(into.size());
      DOLIUM_TRY_VOID(DecodeFrame(stored, grouped_));
      Bg4Join(grouped_, into);
      return {};
  }
  return Unsupported(
      fmt::format("compression scheme {} is not known", static_cast<unsigned>(scheme)));
}

Result<void> ChunkDecompressor::DecodeFrame(BytesView frame, MutableBytes into) {
  const size_t block = BlockOfPlainFrame(frame);
  if (block == 0 || into.size() > LimitOf(frame)) return DecodeAnyFrame(frame, into);
  const int got = LZ4_decompress_safe(
      AsChars(frame.data()) + kHeaderSize + kBlockHeaderSize, AsChars(into.data()),
      static_cast<int>(block), static_cast<int>(into.size()));
  if (got < 0) return Corrupt("LZ4 block is damaged, or longer than its chunk");
  if (static_cast<size_t>(got) != into.size()) {
    return Corrupt(
        fmt::format("LZ4 frame holds {} bytes, {} expected", got, into.size()));
  }
  return {};
}

Result<void> ChunkDecompressor::DecodeAnyFrame(BytesView frame, MutableBytes into) {
  if (frame.size() < kHeaderSize || LoadLE<uint32_t>(frame.data()) != kFrameMagic) {
    return Corrupt("compressed chunk does not begin like an LZ4 frame");
  }
  if (context_ == nullptr) {
    LZ4F_dctx* context = nullptr;
    const size_t made = LZ4F_createDecompressionContext(&context, LZ4F_VERSION);
    if (LZ4F_isError(made)) {
      return IoError(fmt::format("LZ4: {}", LZ4F_getErrorName(made)));
    }
    context_ = context;
  }
  auto* context = static_cast<LZ4F_dctx*>(context_);
  LZ4F_resetDecompressionContext(context);

  LZ4F_frameInfo_t info{};
  size_t at = frame.size();
  size_t hint = LZ4F_getFrameInfo(context, &info, frame.data(), &at);
  if (!LZ4F_isError(hint) && info.dictID != 0) {
    return Unsupported(fmt::format("LZ4 frame needs dictionary {}", info.dictID));
  }
  size_t filled = 0;
  while (!LZ4F_isError(hint) && hint != 0) {
    // A place beyond the chunk shows frames that are too long.
    std::byte beyond{};
    const bool full = filled == into.size();
    size_t out = full ? 1 : into.size() - filled;
    size_t in = frame.size() - at;
    const LZ4F_decompressOptions_t options{};
    hint = LZ4F_decompress(context, full ? &beyond : into.data() + filled, &out,
                           frame.data() + at, &in, &options);
    if (LZ4F_isError(hint)) break;
    if (full && out != 0) {
      return Corrupt(fmt::format("LZ4 frame holds more than {} bytes", into.size()));
    }
    at += in;
    filled += full ? 0 : out;
    if (hint != 0 && in == 0 && out == 0) {
      return Corrupt(fmt::format("LZ4 frame is cut short at {} bytes", frame.size()));
    }
  }
  if (LZ4F_isError(hint)) {
    return Corrupt(fmt::format("LZ4 frame is damaged: {}", LZ4F_getErrorName(hint)));
  }
  if (at != frame.size()) {
    return Corrupt(
        fmt::format("{} bytes follow the LZ4 frame of a chunk", frame.size() - at));
  }
  if (filled != into.size()) {
    return Corrupt(
        fmt::format("LZ4 frame holds {} bytes, {} expected", filled, into.size()));
  }
  return {};
}

}  // namespace dolium::xet
