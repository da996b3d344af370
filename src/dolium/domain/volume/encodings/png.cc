#include "dolium/domain/volume/encodings/png.h"

#include <spng.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/domain/volume/encodings/image_layout.h"

namespace dolium::volume {
namespace {

// libpng, and with it most readers, takes no larger ones unless asked to.
constexpr uint64_t kMaxPngSide = 1'000'000;
// Text and profiles, which libspng unpacks and we do not want.
constexpr size_t kMaxMetadata = size_t{1} << 20;

struct FreeContext {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
using Context = std::unique_ptr<spng_ctx, FreeContext>;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

Context NewContext(int flags) {
  Context context(spng_ctx_new(flags));
  if (!context) throw std::bad_alloc();
  return context;
}

// Why libspng failed.
std::string_view Describe(int code) {
  if (code == SPNG_EMEM) throw std::bad_alloc();
  return spng_strerror(code);
}

uint64_t ComponentsOf(const spng_ihdr& header) {
  switch (header.color_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE:
      return 1;
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA:
      return 2;
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA:
      return 4;
    default:
      return 3;  // RGB or a palette of it; libspng lets no other type through.
  }
}

uint8_t ColorTypeOf(int64_t channels) {
  switch (channels) {
    case 1:
      return SPNG_COLOR_TYPE_GRAYSCALE;
    case 2:
      return SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
    case 3:
      return SPNG_COLOR_TYPE_TRUECOLOR;
    default:
      return SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
  }
}

// From the order in files to that in arrays, and back.
void SwapSamples(MutableBytes samples) {
  for (size_t at = 0; at + sizeof(uint16_t) <= samples.size(); at += sizeof(uint16_t)) {
    std::byte* sample = samples.data() + at;
    StoreLE(sample, SwapBytes(LoadLE<uint16_t>(sample)));
  }
}

Result<void> CheckDepth(const spng_ihdr& header, DataType type) {
  const bool palette = header.color_type == SPNG_COLOR_TYPE_INDEXED;
  const size_t depth = palette ? 8 : header.bit_depth;
  if (depth == 8 * SizeOf(type)) return {};
  if (depth < 8 && type == DataType::kUint8) {
    return Unsupported(fmt::format("PNG: grey of {} bits; expected 8", depth));
  }
  return Corrupt(fmt::format("PNG: samples of {} bits for voxels of type {}", depth,
                             ToString(type)));
}

}  // namespace

Result<void> DecodePng(const ArrayShape& shape, BytesView stored, MutableBytes voxels) {
  const auto failed = [](int code) {
    return Corrupt(fmt::format("PNG: {}", Describe(code)));
  };
  const Context context = NewContext(0);
  spng_ctx* png = context.get();
  if (int code = spng_set_chunk_limits(png, kMaxMetadata, kMaxMetadata); code != 0) {
    return failed(code);
  }
  if (int code = spng_set_png_buffer(png, stored.data(), stored.size()); code != 0) {
    return failed(code);
  }
  spng_ihdr header{};
  if (int code = spng_get_ihdr(png, &header); code != 0) return failed(code);
  DOLIUM_TRY_VOID(CheckImage(shape, header.width, header.height, ComponentsOf(header)));
  DOLIUM_TRY_VOID(CheckDepth(header, shape.type));

  const int format =
      header.color_type == SPNG_COLOR_TYPE_INDEXED ? SPNG_FMT_RGB8 : SPNG_FMT_RAW;
  const bool planar = shape.channels > 1;
  Buffer buffer(planar ? voxels.size() : 0);
  const MutableBytes pixels = planar ? buffer.view() : voxels;
  if (int code = spng_decode_image(png, pixels.data(), pixels.size(), format, 0);
      code != 0) {
    return failed(code);
  }
  // The rest of the file; otherwise a cut would go unseen.
  if (int code = spng_decode_chunks(png); code != 0) return failed(code);
  if (SizeOf(shape.type) > 1) SwapSamples(pixels);
  if (planar) SplitChannels(shape, pixels, 0, voxels);
  return {};
}

Result<ByteVector> EncodePng(const ArrayShape& shape, int level, BytesView voxels) {
  const auto failed = [](int code) {
    return Unsupported(fmt::format("PNG: {}", Describe(code)));
  };
  DOLIUM_TRY(const ImageSize size, ImageSizeFor(shape, kMaxPngSide, "PNG"));
  const bool wide = SizeOf(shape.type) > 1;
  const bool as_is = shape.channels == 1 && !wide;
  Buffer buffer(as_is ? 0 : voxels.size());
  if (!as_is) JoinChannels(shape, voxels, 0, buffer.view());
  if (wide) SwapSamples(buffer.view());
  const BytesView pixels = as_is ? voxels : BytesView(buffer.view());

  const Context context = NewContext(SPNG_CTX_ENCODER);
  spng_ctx* png = context.get();
  spng_ihdr header{};
  header.width = size.width;
  header.height = size.height;
  header.bit_depth = wide ? 16 : 8;
  header.color_type = ColorTypeOf(shape.channels);
  if (int code = spng_set_option(png, SPNG_ENCODE_TO_BUFFER, 1); code != 0) {
    return failed(code);
  }
  if (int code = spng_set_option(png, SPNG_IMG_COMPRESSION_LEVEL, level); code != 0) {
    return failed(code);
  }
  if (int code = spng_set_ihdr(png, &header); code != 0) return failed(code);
  if (int code = spng_encode_image(png, pixels.data(), pixels.size(), SPNG_FMT_RAW,
                                   SPNG_ENCODE_FINALIZE);
      code != 0) {
    return failed(code);
  }
  size_t length = 0;
  int code = 0;
  const std::unique_ptr<void, Free> encoded(spng_get_png_buffer(png, &length, &code));
  if (!encoded) return failed(code);
  const auto* begin = static_cast<const std::byte*>(encoded.get());
  return ByteVector(begin, begin + length);
}

}  // namespace dolium::volume
