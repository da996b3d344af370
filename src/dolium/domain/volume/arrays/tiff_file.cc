#include "dolium/domain/volume/arrays/tiff_file.h"

#include <tiffio.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/bytes.h"
#include "dolium/base/checked_math.h"
#include "dolium/domain/volume/arrays/strided.h"

namespace dolium::volume {
namespace {

// Strips and tiles that unpack to more than this must be stored in a fair part of it.
constexpr uint64_t kAlwaysAllowed = uint64_t{64} << 20;
constexpr uint64_t kMaxRatio = 65536;
constexpr uint64_t kMaxStrile = uint64_t{4} << 30;
constexpr std::string_view kImageJ = "ImageJ=";

// A tag's value, or what the specification says it is if absent; 0 if it says nothing.
template <typename T>
T Tag(TIFF* tiff, uint32_t tag) {
  T value = 0;
  if (TIFFGetFieldDefaulted(tiff, tag, &value) == 0) return 0;
  return value;
}

std::optional<NumberType> TypeOf(uint16_t format, uint16_t bits) {
  if (format == SAMPLEFORMAT_IEEEFP) {
    if (bits == 32) return NumberType::kFloat32;
    if (bits == 64) return NumberType::kFloat64;
    return std::nullopt;
  }
  const bool is_signed = format == SAMPLEFORMAT_INT;
  if (!is_signed && format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_VOID) {
    return std::nullopt;
  }
  switch (bits) {
    case 8:
      return is_signed ? NumberType::kInt8 : NumberType::kUint8;
    case 16:
      return is_signed ? NumberType::kInt16 : NumberType::kUint16;
    case 32:
      return is_signed ? NumberType::kInt32 : NumberType::kUint32;
    case 64:
      return is_signed ? NumberType::kInt64 : NumberType::kUint64;
    default:
      return std::nullopt;
  }
}

// How a strip or tile lies in memory or in the file: interleaved, or one for each
// channel.
struct StrileLayout {
  int64_t planes = 1;    // striles for the same location
  int64_t channels = 1;  // in each
  int64_t channel_stride = 0;
  int64_t x_stride = 0;
  int64_t row_stride = 0;

  StrileLayout(TIFF* tiff, const PageShape& shape, int64_t width) {
    const int64_t size = static_cast<int64_t>(SizeOf(shape.type));
    const bool separate =
        Tag<uint16_t>(tiff, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
    (separate ? planes : channels) = shape.channels;
    channel_stride = size;
    x_stride = size * channels;
    row_stride = x_stride * width;
  }
};

// Where the window and a strip or tile of the page meet.
struct Overlap {
  int64_t x = 0;
  int64_t y = 0;
  int64_t width = 0;
  int64_t height = 0;

  Overlap(const PageWindow& window, int64_t left, int64_t top, int64_t strile_width,
          int64_t strile_height)
      : x(std::max(window.x, left)),
        y(std::max(window.y, top)),
        width(std::min(window.x + window.width, left + strile_width) - x),
        height(std::min(window.y + window.height, top + strile_height) - y) {}

  StridedBox Copy(const StrileLayout& strile, const PageWindow& window,
                  size_t number_size) const {
    return {{{width, strile.x_stride, static_cast<int64_t>(number_size)},
             {height, strile.row_stride, window.row_stride},
             {1, 0, 0},
             {strile.channels, strile.channel_stride, window.channel_stride}}};
  }
  int64_t From(const StrileLayout& strile, int64_t left, int64_t top) const {
    return (x - left) * strile.x_stride + (y - top) * strile.row_stride;
  }
  std::byte* To(const PageWindow& window, size_t number_size, int64_t plane) const {
    return window.to + (x - window.x) * static_cast<int64_t>(number_size) +
           (y - window.y) * window.row_stride + plane * window.channel_stride;
  }
};

// A number in ImageJ's description, which has one of them in each line; 1 if absent.
int64_t ImageJNumber(std::string_view description, std::string_view name) {
  const std::string key = fmt::format("\n{}=", name);
  const size_t at = description.find(key);
  if (at == std::string_view::npos) return 1;
  int64_t number = 1;
  std::from_chars(description.data() + at + key.size(),
                  description.data() + description.size(), number);
  return number;
}

int64_t RowsPerStrip(TIFF* tiff, const PageShape& shape) {
  return std::clamp<int64_t>(Tag<uint32_t>(tiff, TIFFTAG_ROWSPERSTRIP), 1, shape.height);
}

}  // namespace

Result<std::unique_ptr<TiffFile>> TiffFile::Open(const std::string& path) {
  DOLIUM_TRY(InputFile input, InputFile::Open(path));
  std::unique_ptr<TiffFile> file(new TiffFile(std::move(input)));
  // m: no memory map. D: tables of strips only when needed.
  file->handle_ = OpenTiffHandle(file->file_.fd(), "rmD", file->messages_);
  file->tiff_ = file->handle_.get();
  if (!file->handle_)
    return file->messages_.ToError(ErrorCode::kCorrupt, "not a TIFF file");
  file->directory_offset_ = TIFFCurrentDirOffset(file->tiff_);
  return file;
}

Result<bool> TiffFile::Next() {
  if (TIFFLastDirectory(tiff_) != 0) return false;
  messages_.Clear();
  if (TIFFReadDirectory(tiff_) == 0) {
    return messages_.ToError(ErrorCode::kCorrupt, "its directory is damaged");
  }
  directory_offset_ = TIFFCurrentDirOffset(tiff_);
  return true;
}

Result<void> TiffFile::GoTo(uint64_t offset) {
  if (offset == directory_offset_) return {};
  messages_.Clear();
  directory_offset_ = 0;
  if (TIFFSetSubDirectory(tiff_, offset) == 0) {
    return messages_.ToError(ErrorCode::kCorrupt, "its directory is damaged");
  }
  directory_offset_ = offset;
  return {};
}

bool TiffFile::IsReducedImage() const {
  return (Tag<uint32_t>(tiff_, TIFFTAG_SUBFILETYPE) & FILETYPE_REDUCEDIMAGE) != 0;
}

Result<PageShape> TiffFile::Describe() {
  const uint32_t width = Tag<uint32_t>(tiff_, TIFFTAG_IMAGEWIDTH);
  const uint32_t height = Tag<uint32_t>(tiff_, TIFFTAG_IMAGELENGTH);
  const uint16_t channels = Tag<uint16_t>(tiff_, TIFFTAG_SAMPLESPERPIXEL);
  const uint16_t bits = Tag<uint16_t>(tiff_, TIFFTAG_BITSPERSAMPLE);
  const uint16_t format = Tag<uint16_t>(tiff_, TIFFTAG_SAMPLEFORMAT);
  const uint16_t compression = Tag<uint16_t>(tiff_, TIFFTAG_COMPRESSION);
  const uint16_t photometric = Tag<uint16_t>(tiff_, TIFFTAG_PHOTOMETRIC);
  if (width == 0 || height == 0 || channels == 0) {
    return Corrupt(fmt::format("{}x{} pixels of {} samples", width, height, channels));
  }
  const auto type = TypeOf(format, bits);
  if (!type) {
    return Unsupported(fmt::format(
        "samples of {} bits and sample format {}; read are integers of 8, 16, 32 and 64 "
        "bits and floats of 32 and 64",
        bits, format));
  }
  if (TIFFIsCODECConfigured(compression) == 0) {
    return Unsupported(fmt::format("compression {} is not known here", compression));
  }
  if (photometric == PHOTOMETRIC_YCBCR && compression == COMPRESSION_JPEG) {
    TIFFSetField(tiff_, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  } else if (photometric == PHOTOMETRIC_YCBCR || photometric == PHOTOMETRIC_LOGL ||
             photometric == PHOTOMETRIC_LOGLUV) {
    return Unsupported(fmt::format("photometric interpretation {} with compression {}",
                                   photometric, compression));
  }
  if (photometric == PHOTOMETRIC_PALETTE) {
    return Unsupported(
        "colours by a palette, whose numbers are no intensities; convert it to "
        "grey or RGB first");
  }
  const PageShape shape = {width, height, channels, *type};
  DOLIUM_TRY_VOID(CheckPageSize(shape, file_.size(), kMaxRatio));
  return shape;
}

bool TiffFile::IsPlainStrips() const {
  return TIFFIsTiled(tiff_) == 0 &&
         Tag<uint16_t>(tiff_, TIFFTAG_COMPRESSION) == COMPRESSION_NONE &&
         Tag<uint16_t>(tiff_, TIFFTAG_FILLORDER) == FILLORDER_MSB2LSB;
}

bool TiffFile::reads_whole_pages() const {
  return TIFFIsTiled(tiff_) == 0 && !IsPlainStrips();
}

Result<void> TiffFile::CheckStrile(uint32_t strile, uint64_t unpacked) {
  int failed = 0;
  const uint64_t stored = TIFFGetStrileByteCountWithErr(tiff_, strile, &failed);
  if (failed != 0)
    return messages_.ToError(ErrorCode::kCorrupt, "no sizes of strips or tiles");
  if (unpacked > kMaxStrile) {
    return Unsupported(
        fmt::format("strips or tiles of {} bytes, more than {}", unpacked, kMaxStrile));
  }
  if (unpacked == 0 || (unpacked > kAlwaysAllowed && unpacked / kMaxRatio > stored)) {
    return Corrupt(fmt::format("strip or tile {} of {} bytes is stored in {}", strile,
                               unpacked, stored));
  }
  return {};
}

Result<void> TiffFile::Read(const PageShape& shape, const PageWindow& window) {
  messages_.Clear();
  if (IsPlainStrips()) return ReadPlainStrips(shape, window);
  if (TIFFIsTiled(tiff_) != 0) return ReadTiles(shape, window);
  return ReadStrips(shape, window);
}

Result<void> TiffFile::ReadPlainStrips(const PageShape& shape, const PageWindow& window) {
  const StrileLayout layout(tiff_, shape, shape.width);
  const size_t number_size = SizeOf(shape.type);
  const int64_t rows = RowsPerStrip(tiff_, shape);
  for (int64_t plane = 0; plane < layout.planes; ++plane) {
    for (int64_t top = window.y / rows * rows; top < window.y + window.height;
         top += rows) {
      const uint32_t strip = TIFFComputeStrip(tiff_, static_cast<uint32_t>(top),
                                              static_cast<uint16_t>(plane));
      int failed = 0;
      const uint64_t offset = TIFFGetStrileOffsetWithErr(tiff_, strip, &failed);
      if (failed != 0)
        return messages_.ToError(ErrorCode::kCorrupt, "no places of strips");
      const uint64_t stored = TIFFGetStrileByteCountWithErr(tiff_, strip, &failed);
      if (failed != 0)
        return messages_.ToError(ErrorCode::kCorrupt, "no sizes of strips");
      const int64_t height = std::min(rows, shape.height - top);
      if (stored < static_cast<uint64_t>(height * layout.row_stride)) {
        return Corrupt(fmt::format("strip {} is {} bytes and not {}", strip, stored,
                                   height * layout.row_stride));
      }
      const Overlap part(window, 0, top, shape.width, height);
      const auto begin =
          CheckedAdd(offset, static_cast<uint64_t>(part.From(layout, /*left=*/0, top)));
      DOLIUM_TRY_VOID(ReadStrided(
          file_, begin.value_or(UINT64_MAX), {number_size, TIFFIsByteSwapped(tiff_) != 0},
          part.To(window, number_size, plane), part.Copy(layout, window, number_size)));
    }
  }
  return {};
}

Result<void> TiffFile::ReadStrips(const PageShape& shape, const PageWindow& window) {
  const StrileLayout layout(tiff_, shape, shape.width);
  const size_t number_size = SizeOf(shape.type);
  const int64_t rows = RowsPerStrip(tiff_, shape);
  std::optional<Buffer> buffer;
  for (int64_t plane = 0; plane < layout.planes; ++plane) {
    for (int64_t top = window.y / rows * rows; top < window.y + window.height;
         top += rows) {
      const uint32_t strip = TIFFComputeStrip(tiff_, static_cast<uint32_t>(top),
                                              static_cast<uint16_t>(plane));
      const int64_t height = std::min(rows, shape.height - top);
      const tmsize_t bytes = height * layout.row_stride;
      DOLIUM_TRY_VOID(CheckStrile(strip, static_cast<uint64_t>(bytes)));
      if (!buffer) buffer.emplace(static_cast<size_t>(rows * layout.row_stride));
      std::byte* const unpacked = buffer->view().data();
      if (TIFFReadEncodedStrip(tiff_, strip, unpacked, bytes) != bytes) {
        return messages_.ToError(ErrorCode::kCorrupt,
                                 fmt::format("strip {} is damaged", strip));
      }
      const Overlap part(window, 0, top, shape.width, height);
      CopyStrided({number_size, false}, unpacked + part.From(layout, /*left=*/0, top),
                  part.To(window, number_size, plane),
                  part.Copy(layout, window, number_size));
    }
  }
  return {};
}

Result<void> TiffFile::ReadTiles(const PageShape& shape, const PageWindow& window) {
  const int64_t width = Tag<uint32_t>(tiff_, TIFFTAG_TILEWIDTH);
  const int64_t height = Tag<uint32_t>(tiff_, TIFFTAG_TILELENGTH);
  const StrileLayout layout(tiff_, shape, width);
  const size_t number_size = SizeOf(shape.type);
  const uint64_t bytes = TIFFTileSize64(tiff_);
  if (width == 0 || height == 0 ||
      bytes != static_cast<uint64_t>(layout.row_stride) * static_cast<uint64_t>(height)) {
    return Corrupt(
        fmt::format("tiles of {}x{} pixels and {} bytes", width, height, bytes));
  }
  std::optional<Buffer> buffer;
  for (int64_t plane = 0; plane < layout.planes; ++plane) {
    for (int64_t top = window.y / height * height; top < window.y + window.height;
         top += height) {
      for (int64_t left = window.x / width * width; left < window.x + window.width;
           left += width) {
        const uint32_t tile =
            TIFFComputeTile(tiff_, static_cast<uint32_t>(left),
                            static_cast<uint32_t>(top), 0, static_cast<uint16_t>(plane));
        DOLIUM_TRY_VOID(CheckStrile(tile, bytes));
        if (!buffer) buffer.emplace(static_cast<size_t>(bytes));
        std::byte* const unpacked = buffer->view().data();
        if (TIFFReadEncodedTile(tiff_, tile, unpacked, static_cast<tmsize_t>(bytes)) !=
            static_cast<tmsize_t>(bytes)) {
          return messages_.ToError(ErrorCode::kCorrupt,
                                   fmt::format("tile {} is damaged", tile));
        }
        const Overlap part(window, left, top, width, height);
        CopyStrided({number_size, false}, unpacked + part.From(layout, left, top),
                    part.To(window, number_size, plane),
                    part.Copy(layout, window, number_size));
      }
    }
  }
  return {};
}

std::string_view TiffFile::ImageJDescription() const {
  const char* text = nullptr;
  if (TIFFGetField(tiff_, TIFFTAG_IMAGEDESCRIPTION, &text) == 0 || text == nullptr) {
    return {};
  }
  const std::string_view description(text);
  return description.starts_with(kImageJ) ? description : std::string_view();
}

TiffFile::ImageJPages TiffFile::DescribeImageJPages() const {
  const std::string_view description = ImageJDescription();
  return {ImageJNumber(description, "channels"), ImageJNumber(description, "slices"),
          ImageJNumber(description, "frames")};
}

TiffFile::Hyperstack TiffFile::DescribeHyperstack(const PageShape& shape) {
  Hyperstack stack;
  if (!IsPlainStrips() || StrileLayout(tiff_, shape, shape.width).planes != 1) {
    return stack;
  }
  const int64_t pages = ImageJNumber(ImageJDescription(), "images");
  if (pages < 2) return stack;

  // The strips of the first page must be one run, or it is not that kind of file.
  const int64_t rows = RowsPerStrip(tiff_, shape);
  const uint64_t first = TIFFGetStrileOffset(tiff_, 0);
  const uint64_t strip_bytes =
      static_cast<uint64_t>(StrileLayout(tiff_, shape, shape.width).row_stride * rows);
  const uint32_t strips = TIFFNumberOfStrips(tiff_);
  for (uint32_t strip = 1; strip < strips; ++strip) {
    if (TIFFGetStrileOffset(tiff_, strip) != first + strip * strip_bytes) return stack;
  }
  return {pages, first, TIFFIsByteSwapped(tiff_) != 0};
}

}  // namespace dolium::volume
