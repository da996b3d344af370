#include "dolium/domain/volume/arrays/page.h"

#include <array>
#include <concepts>
#include <optional>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/base/bytes.h"
#include "dolium/base/checked_math.h"
#include "dolium/base/endian.h"
#include "dolium/domain/volume/arrays/input_file.h"
#include "dolium/domain/volume/arrays/strided.h"
#include "dolium/domain/volume/encodings/jpeg.h"
#include "dolium/domain/volume/encodings/png.h"

namespace dolium::volume {
namespace {

constexpr uint64_t kAlwaysAllowedPage = uint64_t{64} << 20;
constexpr uint64_t kMaxFileBytes = uint64_t{4} << 30;
// Deflate gives at most 1032 bytes for one.
constexpr uint64_t kPngRatio = 1100;
// An empty block of 64 pixels takes a bit or more in the first scan; colours are a few.
constexpr uint64_t kJpegRatio = 4096;

using DecodePage = Result<void> (*)(const ArrayShape&, BytesView, MutableBytes);

// Decodes the whole page, straight to the window if it is just that.
Result<void> ReadWholePage(const std::string& path, const PageShape& shape,
                           const PageWindow& window, DecodePage decode) {
  DOLIUM_TRY(const InputFile file, InputFile::Open(path));
  if (file.size() > kMaxFileBytes) {
    return Unsupported(
        fmt::format("an image of {} bytes, more than {}", file.size(), kMaxFileBytes));
  }
  Buffer stored(static_cast<size_t>(file.size()));
  DOLIUM_TRY_VOID(file.ReadAt(0, stored.view()));

  const DataType type =
      shape.type == NumberType::kUint16 ? DataType::kUint16 : DataType::kUint8;
  const ArrayShape array = {{shape.width, shape.height, 1}, shape.channels, type};
  const size_t bytes = static_cast<size_t>(shape.bytes());
  const auto strides = DenseBoxStrides(SizeOf(type), array.size);
  const bool whole = window.width == shape.width && window.height == shape.height &&
                     window.row_stride == strides[1] &&
                     (shape.channels == 1 || window.channel_stride == strides[2]);
  if (whole) return decode(array, stored.view(), {window.to, bytes});

  Buffer page(bytes);
  DOLIUM_TRY_VOID(decode(array, stored.view(), page.view()));
  CopyStrided({SizeOf(type), false},
              page.view().data() + window.x * strides[0] + window.y * strides[1],
              window.to,
              {{{window.width, strides[0], strides[0]},
                {window.height, strides[1], window.row_stride},
                {1, 0, 0},
                {shape.channels, strides[2], window.channel_stride}}});
  return {};
}

template <std::unsigned_integral T>
Result<T> ReadBE(ByteReader& reader, std::string_view what) {
  DOLIUM_TRY(const T value, reader.Read<T>(what));
  return SwapBytes(value);
}

Result<PageShape> DescribePng(const std::string& path) {
  constexpr std::string_view kStart("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", 16);
  constexpr size_t kHeaderBytes = kStart.size() + 10;
  constexpr uint8_t kPalette = 3;
  constexpr std::array<int64_t, 7> kChannels = {1, 0, 3, 3, 2, 0, 4};  // by colour type
  DOLIUM_TRY(const InputFile file, InputFile::Open(path));
  std::array<std::byte, kHeaderBytes> head;
  if (file.size() < head.size()) return Corrupt("not a PNG file");
  DOLIUM_TRY_VOID(file.ReadAt(0, head));
  ByteReader reader(head);
  DOLIUM_TRY(const BytesView start, reader.ReadBytes(kStart.size(), "signature"));
  if (AsText(start) != kStart) return Corrupt("not a PNG file");
  DOLIUM_TRY(const uint32_t width, ReadBE<uint32_t>(reader, "width"));
  DOLIUM_TRY(const uint32_t height, ReadBE<uint32_t>(reader, "height"));
  DOLIUM_TRY(const uint8_t depth, reader.Read<uint8_t>("bit depth"));
  DOLIUM_TRY(const uint8_t colour, reader.Read<uint8_t>("colour type"));

  if (width == 0 || height == 0 || colour >= kChannels.size() || kChannels[colour] == 0) {
    return Corrupt(
        fmt::format("PNG of {}x{} pixels and colour type {}", width, height, colour));
  }
  if (depth != 8 && depth != 16 && colour != kPalette) {
    return Unsupported(fmt::format("PNG of {} bits for a sample, not 8 or 16", depth));
  }
  const NumberType type = depth == 16 ? NumberType::kUint16 : NumberType::kUint8;
  const PageShape shape = {width, height, kChannels[colour], type};
  DOLIUM_TRY_VOID(CheckPageSize(shape, file.size(), kPngRatio));
  return shape;
}

Result<void> ReadPng(const std::string& path, const PageShape& shape,
                     const PageWindow& window) {
  DOLIUM_TRY(const PageShape found, DescribePng(path));
  DOLIUM_TRY_VOID(CheckSamePage(found, shape));
  return ReadWholePage(path, shape, window, &DecodePng);
}

// Whether `marker` begins a frame: SOF0 to SOF15 without DHT, JPG and DAC between them.
bool IsFrame(uint8_t marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 &&
         marker != 0xcc;
}

Result<PageShape> DescribeFrame(BytesView frame) {
  ByteReader reader(frame);
  DOLIUM_TRY(const uint8_t bits, reader.Read<uint8_t>("precision"));
  DOLIUM_TRY(const uint16_t height, ReadBE<uint16_t>(reader, "height"));
  DOLIUM_TRY(const uint16_t width, ReadBE<uint16_t>(reader, "width"));
  DOLIUM_TRY(const uint8_t channels, reader.Read<uint8_t>("components"));
  if (bits != 8 || width == 0 || height == 0 || (channels != 1 && channels != 3)) {
    return Unsupported(
        fmt::format("JPEG of {}x{} pixels and {} components of {} bits; read are 1 or 3 "
                    "components of 8 bits",
                    width, height, channels, bits));
  }
  return PageShape{width, height, channels, NumberType::kUint8};
}

Result<PageShape> DescribeJpeg(const std::string& path) {
  constexpr uint16_t kStartOfImage = 0xffd8;
  constexpr uint16_t kStartOfScan = 0xffda;
  constexpr uint16_t kFill = 0xffff;
  constexpr size_t kFrameBytes = 6;
  DOLIUM_TRY(const InputFile file, InputFile::Open(path));
  const auto word = [&file](uint64_t at) -> Result<uint16_t> {
    std::array<std::byte, 2> bytes;
    DOLIUM_TRY_VOID(file.ReadAt(at, bytes));
    return SwapBytes(LoadLE<uint16_t>(bytes.data()));
  };
  const auto start = word(0);
  if (!start || *start != kStartOfImage) return Corrupt("not a JPEG file");
  for (uint64_t at = 2;;) {
    DOLIUM_TRY(const uint16_t marker, word(at));
    if (marker == kFill) {
      ++at;
      continue;
    }
    if (marker < 0xff00 || marker == kStartOfScan) {
      return Corrupt(fmt::format("JPEG without a frame before byte {}", at));
    }
    DOLIUM_TRY(const uint16_t length, word(at + 2));
    if (!IsFrame(static_cast<uint8_t>(marker & 0xff))) {
      at += 2 + uint64_t{length};
      continue;
    }
    std::array<std::byte, kFrameBytes> frame;
    DOLIUM_TRY_VOID(file.ReadAt(at + 4, frame));
    DOLIUM_TRY(const PageShape shape, DescribeFrame(frame));
    DOLIUM_TRY_VOID(CheckPageSize(shape, file.size(), kJpegRatio));
    return shape;
  }
}

Result<void> ReadJpeg(const std::string& path, const PageShape& shape,
                      const PageWindow& window) {
  DOLIUM_TRY(const PageShape found, DescribeJpeg(path));
  DOLIUM_TRY_VOID(CheckSamePage(found, shape));
  return ReadWholePage(path, shape, window, &DecodeJpeg);
}

Result<bool> Always(const std::string&) { return true; }

}  // namespace

std::string ToString(const PageShape& shape) {
  return fmt::format("{}x{}, {} channel{} of {}", shape.width, shape.height,
                     shape.channels, shape.channels == 1 ? "" : "s",
                     ToString(shape.type));
}

Result<void> CheckPageSize(const PageShape& shape, uint64_t stored, uint64_t ratio) {
  std::optional<uint64_t> bytes = SizeOf(shape.type);
  for (const int64_t size : {shape.width, shape.height, shape.channels}) {
    if (bytes) bytes = CheckedMul(*bytes, static_cast<uint64_t>(size));
  }
  const uint64_t most = CheckedMul(stored, ratio).value_or(INT64_MAX);
  if (!bytes || *bytes > INT64_MAX || (*bytes > kAlwaysAllowedPage && *bytes > most)) {
    return Corrupt(fmt::format("a page of {} does not come out of {} bytes",
                               ToString(shape), stored));
  }
  return {};
}

Result<void> CheckSamePage(const PageShape& found, const PageShape& first) {
  if (found == first) return {};
  return Corrupt(
      fmt::format("it is {}, and the first page {}", ToString(found), ToString(first)));
}

const PageFormat kPngPages = {"PNG", &DescribePng, &ReadPng, &Always};
const PageFormat kJpegPages = {"JPEG", &DescribeJpeg, &ReadJpeg, &Always};

}  // namespace dolium::volume
