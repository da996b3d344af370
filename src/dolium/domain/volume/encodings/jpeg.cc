#include "dolium/domain/volume/encodings/jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <new>

#include <fmt/format.h>
// After <cstdio>, which they want and do not include.
#include <jerror.h>
#include <jpeglib.h>

#include "dolium/domain/image/jpeg_internal.h"
#include "dolium/domain/volume/encodings/image_layout.h"

// How libjpeg's errors reach us: see jpeg_internal.h.

namespace dolium::volume {
namespace {

using image::JpegDecompressor;
using image::JpegFailure;
using image::JpegWarnings;

constexpr JDIMENSION kRowsAtOnce = JpegDecompressor::kRowsAtOnce;

// Where libjpeg puts its output: a vector that grows.
struct Destination {
  jpeg_destination_mgr manager;  // First, so that libjpeg's pointer to it is one to this.
  ByteVector bytes;

  static Destination& Of(j_compress_ptr info) {
    return *reinterpret_cast<Destination*>(info->dest);
  }

  static void Begin(j_compress_ptr info) {
    if (!Of(info).Grow()) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
  }
  static boolean Continue(j_compress_ptr info) {
    Begin(info);
    return TRUE;
  }
  static void End(j_compress_ptr info) {
    Destination& self = Of(info);
    self.bytes.resize(self.bytes.size() - self.manager.free_in_buffer);
  }

  // All bytes so far are taken to be in use.
  bool Grow() {
    constexpr size_t kFirst = 1 << 16;
    const size_t used = bytes.size();
    try {
      bytes.resize(std::max(kFirst, 2 * used));
    } catch (const std::bad_alloc&) {
      return false;
    }
    manager.next_output_byte = reinterpret_cast<JOCTET*>(bytes.data() + used);
    manager.free_in_buffer = bytes.size() - used;
    return true;
  }
};

class Compressor {
 public:
  Compressor() {
    info_.err = image::InstallJpegErrors(failure_, JpegWarnings::kAll);
    destination_.manager.init_destination = &Destination::Begin;
    destination_.manager.empty_output_buffer = &Destination::Continue;
    destination_.manager.term_destination = &Destination::End;
  }
  ~Compressor() { jpeg_destroy_compress(&info_); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  bool Start(ImageSize size, int components, int quality) {
    if (setjmp(failure_.escape) != 0) return false;  // NOLINT
    jpeg_create_compress(&info_);
    info_.dest = &destination_.manager;
    info_.image_width = size.width;
    info_.image_height = size.height;
    info_.input_components = components;
    info_.in_color_space = components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, /*force_baseline=*/TRUE);
    jpeg_start_compress(&info_, /*write_all_tables=*/TRUE);
    return true;
  }

  bool WriteRows(BytesView rows, JDIMENSION count) {
    if (setjmp(failure_.escape) != 0) return false;  // NOLINT
    const size_t row_bytes = rows.size() / count;
    JSAMPROW pointers[kRowsAtOnce];
    for (JDIMENSION i = 0; i < count; ++i) {
      // libjpeg lacks a const; it does not write.
      pointers[i] = reinterpret_cast<JSAMPROW>(
          const_cast<std::byte*>(rows.data() + i * row_bytes));  // NOLINT
    }
    jpeg_write_scanlines(&info_, pointers, count);
    return true;
  }

  bool Finish() {
    if (setjmp(failure_.escape) != 0) return false;  // NOLINT
    jpeg_finish_compress(&info_);
    return true;
  }

  ByteVector Take() && { return std::move(destination_.bytes); }
  Error error() const {
    return Unsupported(fmt::format("JPEG: {}", image::DescribeJpeg(failure_)));
  }

 private:
  jpeg_compress_struct info_{};
  Destination destination_{};
  JpegFailure failure_{};
};

}  // namespace

Result<void> DecodeJpeg(const ArrayShape& shape, BytesView stored, MutableBytes voxels) {
  JpegDecompressor jpeg(JpegWarnings::kAll);
  if (!jpeg.ReadHeader(stored)) return jpeg.error();
  const jpeg_decompress_struct& info = jpeg.info();
  DOLIUM_TRY_VOID(CheckImage(shape, info.image_width, info.image_height,
                             static_cast<uint64_t>(info.num_components)));
  if (!jpeg.Start()) return jpeg.error();
  if (info.output_components != info.num_components) {
    return Corrupt(fmt::format("JPEG: {} components that decode to {}",
                               info.num_components, info.output_components));
  }

  const JDIMENSION height = info.output_height;
  const auto width = static_cast<uint64_t>(info.output_width);
  const size_t row_bytes = width * static_cast<size_t>(shape.channels);
  // Off the alignment: libjpeg-turbo writes aligned rows past the cache, and we read them
  // at once.
  Buffer buffer(shape.channels == 1 ? 1 : 1 + std::min(height, kRowsAtOnce) * row_bytes);
  const MutableBytes unaligned = buffer.view().subspan(1);
  for (JDIMENSION row = 0; row < height; row += kRowsAtOnce) {
    const JDIMENSION count = std::min(height - row, kRowsAtOnce);
    const MutableBytes rows = shape.channels == 1
                                  ? voxels.subspan(row * row_bytes, count * row_bytes)
                                  : unaligned.first(count * row_bytes);
    if (!jpeg.ReadRows(rows, count)) return jpeg.error();
    if (shape.channels > 1) SplitChannels(shape, rows, row * width, voxels);
  }
  if (!jpeg.Finish()) return jpeg.error();
  return {};
}

Result<ByteVector> EncodeJpeg(const ArrayShape& shape, int quality, BytesView voxels) {
  DOLIUM_TRY(const ImageSize size, ImageSizeFor(shape, JPEG_MAX_DIMENSION, "JPEG"));
  Compressor jpeg;
  if (!jpeg.Start(size, static_cast<int>(shape.channels), quality)) return jpeg.error();

  const size_t row_bytes = size.width * static_cast<size_t>(shape.channels);
  Buffer buffer(shape.channels == 1 ? 0 : std::min(size.height, kRowsAtOnce) * row_bytes);
  for (JDIMENSION row = 0; row < size.height; row += kRowsAtOnce) {
    const JDIMENSION count = std::min(size.height - row, kRowsAtOnce);
    BytesView rows = voxels;
    if (shape.channels == 1) {
      rows = voxels.subspan(row * row_bytes, count * row_bytes);
    } else {
      const MutableBytes pixels = buffer.view().first(count * row_bytes);
      JoinChannels(shape, voxels, uint64_t{row} * size.width, pixels);
      rows = pixels;
    }
    if (!jpeg.WriteRows(rows, count)) return jpeg.error();
  }
  if (!jpeg.Finish()) return jpeg.error();
  return std::move(jpeg).Take();
}

}  // namespace dolium::volume
