#include "dolium/domain/volume/encodings/jxl.h"

#include <jxl/decode.h>
#include <jxl/encode.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/domain/volume/encodings/image_layout.h"

namespace dolium::volume {
namespace {

// Level 5 of the standard, which all decoders must take.
constexpr uint64_t kMaxSide = uint64_t{1} << 18;
constexpr uint32_t kBits = 8;

struct DestroyDecoder {
  void operator()(JxlDecoder* decoder) const { JxlDecoderDestroy(decoder); }
};
struct DestroyEncoder {
  void operator()(JxlEncoder* encoder) const { JxlEncoderDestroy(encoder); }
};

JxlPixelFormat PixelFormatOf(uint64_t components) {
  return {static_cast<uint32_t>(components), JXL_TYPE_UINT8, JXL_LITTLE_ENDIAN, 0};
}

// How the frames of an image make up a chunk.
struct Frames {
  uint64_t components = 1;  // 1: they are parts of its planes, one after another
  uint64_t pixels = 0;      // of one frame
  uint64_t wanted = 0;      // pixels of all
};

Result<Frames> CheckInfo(const ArrayShape& shape, const JxlBasicInfo& info) {
  const auto channels = static_cast<uint64_t>(shape.channels);
  const uint64_t components = uint64_t{info.num_color_channels} + info.num_extra_channels;
  const bool grey = components == 1;
  const bool color = components == channels && info.num_color_channels == 3 &&
                     (components == 3 || (components == 4 && info.alpha_bits > 0));
  if (!grey && !color) {
    return Corrupt(fmt::format("image of {} components for a chunk of {} channels",
                               components, channels));
  }
  if (info.bits_per_sample != kBits || info.exponent_bits_per_sample != 0) {
    return Corrupt(fmt::format("JPEG XL: samples of {} bits; expected {}",
                               info.bits_per_sample, kBits));
  }
  const uint64_t wanted = shape.voxels().value_or(0) * (grey ? channels : 1);
  const auto pixels = CheckedMul(info.xsize, info.ysize);
  const bool fits =
      pixels && *pixels > 0 &&
      (info.have_animation != 0 ? wanted % *pixels == 0 : *pixels == wanted);
  if (!fits) {
    return Corrupt(
        fmt::format("{} of {} x {} pixels for a chunk of {} voxels, {} channels",
                    info.have_animation != 0 ? "frames" : "image", info.xsize, info.ysize,
                    ToString(shape.size), channels));
  }
  return Frames{components, *pixels, wanted};
}

}  // namespace

float JxlDistance(int quality) {
  // As libjxl maps it since version 0.9, and with it cloud-volume.
  const auto q = static_cast<float>(std::clamp(quality, 0, 100));
  if (q >= 100.0F) return 0.0F;
  if (q >= 30.0F) return 0.1F + (100.0F - q) * 0.09F;
  return 53.0F / 3000.0F * q * q - 23.0F / 20.0F * q + 25.0F;
}

Result<void> DecodeJxl(const ArrayShape& shape, BytesView stored, MutableBytes voxels) {
  const std::unique_ptr<JxlDecoder, DestroyDecoder> owner(JxlDecoderCreate(nullptr));
  JxlDecoder* jxl = owner.get();
  if (jxl == nullptr) throw std::bad_alloc();
  const auto* data = reinterpret_cast<const uint8_t*>(stored.data());
  if (JxlSignatureCheck(data, stored.size()) == JXL_SIG_INVALID) {
    return Corrupt("JPEG XL: not an image");
  }
  if (JxlDecoderSubscribeEvents(jxl, JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE) !=
          JXL_DEC_SUCCESS ||
      JxlDecoderSetInput(jxl, data, stored.size()) != JXL_DEC_SUCCESS) {
    return Corrupt("JPEG XL: no decoder");
  }

  Frames frames;
  uint64_t done = 0;  // pixels
  std::optional<Buffer> buffer;
  for (;;) {
    switch (JxlDecoderProcessInput(jxl)) {
      case JXL_DEC_BASIC_INFO: {
        JxlBasicInfo info;
        if (JxlDecoderGetBasicInfo(jxl, &info) != JXL_DEC_SUCCESS) {
          return Corrupt("JPEG XL: damaged header");
        }
        DOLIUM_TRY(frames, CheckInfo(shape, info));
        if (frames.components > 1) buffer.emplace(frames.pixels * frames.components);
        break;
      }
      case JXL_DEC_NEED_IMAGE_OUT_BUFFER: {
        if (done == frames.wanted) {
          return Corrupt(fmt::format("JPEG XL: more than the {} frames of a chunk",
                                     frames.wanted / frames.pixels));
        }
        const MutableBytes pixels =
            buffer ? buffer->view() : voxels.subspan(done, frames.pixels);
        const JxlPixelFormat format = PixelFormatOf(frames.components);
        if (JxlDecoderSetImageOutBuffer(jxl, &format, pixels.data(), pixels.size()) !=
            JXL_DEC_SUCCESS) {
          return Corrupt("JPEG XL: damaged frame");
        }
        break;
      }
      case JXL_DEC_FULL_IMAGE:
        if (buffer) SplitChannels(shape, buffer->view(), done, voxels);
        done += frames.pixels;
        break;
      case JXL_DEC_SUCCESS:
        if (done == 0 || done != frames.wanted) {
          return Corrupt(fmt::format("JPEG XL: frames of {} pixels in all; expected {}",
                                     done, frames.wanted));
        }
        return {};
      case JXL_DEC_NEED_MORE_INPUT:
        return Corrupt("JPEG XL: cut short");
      default:
        return Corrupt("JPEG XL: not an image, or damaged");
    }
  }
}

Result<ByteVector> EncodeJxl(const ArrayShape& shape, const JxlOptions& options,
                             BytesView voxels) {
  if (options.effort < 1 || options.effort > 9 || options.decoding_speed < 0 ||
      options.decoding_speed > 4) {
    return InvalidArgument(fmt::format(
        "jxl effort {} and decoding speed {}; they go from 1 to 9 and from 0 to 4",
        options.effort, options.decoding_speed));
  }
  DOLIUM_TRY(const ImageSize size, ImageSizeFor(shape, kMaxSide, "JPEG XL"));
  const bool lossless = options.quality >= 100;
  const std::unique_ptr<JxlEncoder, DestroyEncoder> owner(JxlEncoderCreate(nullptr));
  JxlEncoder* jxl = owner.get();
  if (jxl == nullptr) throw std::bad_alloc();
  JxlBasicInfo info;
  JxlEncoderInitBasicInfo(&info);
  info.xsize = size.width;
  info.ysize = size.height;
  info.bits_per_sample = kBits;
  info.num_color_channels = 1;
  // Else libjxl goes through its own colour space, which loses bits.
  info.uses_original_profile = lossless ? JXL_TRUE : JXL_FALSE;
  // Frames that last for no time would be layers of one image.
  JxlFrameHeader header;
  JxlEncoderInitFrameHeader(&header);
  if (shape.channels > 1) {
    info.have_animation = JXL_TRUE;
    info.animation.tps_numerator = 10;
    info.animation.tps_denominator = 1;
    header.duration = 1;
  }
  JxlColorEncoding color;
  JxlColorEncodingSetToSRGB(&color, /*is_gray=*/JXL_TRUE);
  const JxlPixelFormat format = PixelFormatOf(1);

  const auto ok = [](JxlEncoderStatus status) { return status == JXL_ENC_SUCCESS; };
  JxlEncoderFrameSettings* frame = JxlEncoderFrameSettingsCreate(jxl, nullptr);
  if (frame == nullptr) throw std::bad_alloc();
  bool accepted =
      ok(JxlEncoderSetBasicInfo(jxl, &info)) &&
      ok(JxlEncoderSetColorEncoding(jxl, &color)) &&
      ok(JxlEncoderFrameSettingsSetOption(frame, JXL_ENC_FRAME_SETTING_EFFORT,
                                          options.effort)) &&
      ok(JxlEncoderFrameSettingsSetOption(frame, JXL_ENC_FRAME_SETTING_DECODING_SPEED,
                                          options.decoding_speed)) &&
      ok(lossless ? JxlEncoderSetFrameLossless(frame, JXL_TRUE)
                  : JxlEncoderSetFrameDistance(frame, JxlDistance(options.quality))) &&
      (shape.channels == 1 || ok(JxlEncoderSetFrameHeader(frame, &header)));
  const size_t plane = voxels.size() / static_cast<size_t>(shape.channels);
  for (size_t at = 0; accepted && at < voxels.size(); at += plane) {
    accepted = ok(JxlEncoderAddImageFrame(frame, &format, voxels.data() + at, plane));
  }
  if (!accepted) return Unsupported("JPEG XL: libjxl does not take this image");
  JxlEncoderCloseInput(jxl);

  constexpr size_t kFirst = 1 << 16;
  ByteVector out(kFirst);
  size_t used = 0;
  for (;;) {
    auto* next = reinterpret_cast<uint8_t*>(out.data() + used);
    size_t left = out.size() - used;
    const JxlEncoderStatus status = JxlEncoderProcessOutput(jxl, &next, &left);
    used = out.size() - left;
    if (status == JXL_ENC_SUCCESS) break;
    if (status != JXL_ENC_NEED_MORE_OUTPUT) return Unsupported("JPEG XL: encoder failed");
    out.resize(2 * out.size());
  }
  out.resize(used);
  return out;
}

}  // namespace dolium::volume
