#include "dolium/domain/volume/encodings/encoding.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <initializer_list>

#include <fmt/format.h>

#include "dolium/domain/volume/encodings/compressed_segmentation.h"
#include "dolium/domain/volume/encodings/compresso.h"
#include "dolium/domain/volume/encodings/jpeg.h"
#include "dolium/domain/volume/encodings/jxl.h"
#include "dolium/domain/volume/encodings/png.h"

namespace dolium::volume {
namespace {

// What a block of compressed_segmentation may have; real ones have 512 or so.
constexpr uint64_t kMaxBlockVoxels = uint64_t{1} << 31;

constexpr std::array kAllEncodings = {
    Encoding::kRaw,
    Encoding::kJpeg,
    Encoding::kPng,
    Encoding::kJxl,
    Encoding::kCompressedSegmentation,
    Encoding::kCompresso,
};

bool OneOf(DataType type, std::initializer_list<DataType> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

Result<void> DecodeRaw(BytesView stored, MutableBytes voxels) {
  if (stored.size() != voxels.size()) {
    return Corrupt(
        fmt::format("raw chunk of {} bytes; expected {}", stored.size(), voxels.size()));
  }
  if (!voxels.empty()) std::memcpy(voxels.data(), stored.data(), voxels.size());
  return {};
}

}  // namespace

std::string_view ToString(Encoding encoding) {
  switch (encoding) {
    case Encoding::kRaw:
      return "raw";
    case Encoding::kJpeg:
      return "jpeg";
    case Encoding::kPng:
      return "png";
    case Encoding::kJxl:
      return "jxl";
    case Encoding::kCompressedSegmentation:
      return "compressed_segmentation";
    case Encoding::kCompresso:
      return "compresso";
  }
  return "unknown";
}

std::optional<Encoding> ParseEncoding(std::string_view name) {
  for (const Encoding encoding : kAllEncodings) {
    if (EqualIgnoringCase(name, ToString(encoding))) return encoding;
  }
  return std::nullopt;
}

Result<void> CheckSettings(const EncodingSpec& spec) {
  const struct {
    std::string_view name;
    int value;
    int min;
    int max;
  } settings[] = {{"jpeg_quality", spec.jpeg_quality, 0, 100},
                  {"png_level", spec.png_level, 0, 9},
                  {"jxl_quality", spec.jxl_quality, 0, 100},
                  {"jxl_effort", spec.jxl_effort, 1, 9},
                  {"jxl_decodingspeed", spec.jxl_decoding_speed, 0, 4}};
  for (const auto& setting : settings) {
    if (setting.value >= setting.min && setting.value <= setting.max) continue;
    return InvalidArgument(fmt::format("{}: found {}, expected an integer from {} to {}",
                                       setting.name, setting.value, setting.min,
                                       setting.max));
  }
  const auto voxels = ArrayShape{.size = spec.block_size}.voxels();
  if (std::ranges::min(spec.block_size) < 1 || !voxels || *voxels > kMaxBlockVoxels) {
    return InvalidArgument(fmt::format(
        "compressed_segmentation_block_size: found {}, expected sizes from 1, "
        "and at most {} voxels",
        ToString(spec.block_size), kMaxBlockVoxels));
  }
  return {};
}

Result<void> CheckEncodable(const EncodingSpec& spec, DataType type, int64_t channels) {
  DOLIUM_TRY_VOID(CheckSettings(spec));
  using enum DataType;
  bool fits = false;
  std::string_view held;
  switch (spec.encoding) {
    case Encoding::kRaw:
      return {};
    case Encoding::kJpeg:
      fits = type == kUint8 && (channels == 1 || channels == 3);
      held = "uint8 with 1 or 3 channels";
      break;
    case Encoding::kPng:
      fits = OneOf(type, {kUint8, kUint16}) && channels >= 1 && channels <= 4;
      held = "uint8 or uint16 with 1 to 4 channels";
      break;
    case Encoding::kJxl:
      fits = type == kUint8 && (channels == 1 || channels == 3 || channels == 4);
      held = "uint8 with 1, 3 or 4 channels";
      break;
    case Encoding::kCompressedSegmentation:
      fits = OneOf(type, {kUint32, kUint64});
      held = "uint32 or uint64";
      break;
    case Encoding::kCompresso:
      fits = OneOf(type, {kUint8, kUint16, kUint32, kUint64}) && channels == 1;
      held = "uint8, uint16, uint32 or uint64 with 1 channel";
      break;
  }
  if (fits) return {};
  return Unsupported(fmt::format("encoding {} holds {}, not {} with {} channel{}",
                                 ToString(spec.encoding), held, ToString(type), channels,
                                 channels == 1 ? "" : "s"));
}

bool IsLossless(const EncodingSpec& spec) {
  if (spec.encoding == Encoding::kJxl) return spec.jxl_quality >= 100;
  return spec.encoding != Encoding::kJpeg;
}

bool IsCompressed(Encoding encoding) {
  return encoding == Encoding::kJpeg || encoding == Encoding::kPng ||
         encoding == Encoding::kJxl;
}

Result<void> DecodeVoxels(const EncodingSpec& spec, const ArrayShape& shape,
                          BytesView stored, MutableBytes voxels) {
  switch (spec.encoding) {
    case Encoding::kRaw:
      return DecodeRaw(stored, voxels);
    case Encoding::kJpeg:
      return DecodeJpeg(shape, stored, voxels);
    case Encoding::kPng:
      return DecodePng(shape, stored, voxels);
    case Encoding::kJxl:
      return DecodeJxl(shape, stored, voxels);
    case Encoding::kCompressedSegmentation:
      return DecodeCompressedSegmentation(shape, spec.block_size, stored, voxels);
    case Encoding::kCompresso:
      return DecodeCompresso(shape, stored, voxels);
  }
  return Unsupported("unknown encoding");
}

Result<ByteVector> EncodeVoxels(const EncodingSpec& spec, const ArrayShape& shape,
                                BytesView voxels) {
  switch (spec.encoding) {
    case Encoding::kRaw:
      return ByteVector(voxels.begin(), voxels.end());
    case Encoding::kJpeg:
      return EncodeJpeg(shape, spec.jpeg_quality, voxels);
    case Encoding::kPng:
      return EncodePng(shape, spec.png_level, voxels);
    case Encoding::kJxl:
      return EncodeJxl(
          shape, {spec.jxl_quality, spec.jxl_effort, spec.jxl_decoding_speed}, voxels);
    case Encoding::kCompressedSegmentation:
      return EncodeCompressedSegmentation(shape, spec.block_size, voxels);
    case Encoding::kCompresso:
      return EncodeCompresso(shape, voxels);
  }
  return Unsupported("unknown encoding");
}

}  // namespace dolium::volume
