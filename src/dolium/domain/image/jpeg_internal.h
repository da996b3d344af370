// libjpeg with errors that return, for reading.
//
// How libjpeg's errors reach us: it calls a function of ours, which must not return and
// jumps to where setjmp() was called. Functions that call setjmp(), and those between
// them and libjpeg, have no locals with destructors.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <string>

// After <cstdio>, which it wants and does not include.
#include <jpeglib.h>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium::image {

// Which warnings of libjpeg are errors.
enum class JpegWarnings : uint8_t {
  kAll,
  kMadeUp,  // those that mean that it made up what it could not read
};

struct JpegFailure {
  jpeg_error_mgr manager;  // First, so that libjpeg's pointer to it is one to this.
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
  JpegWarnings warnings;
};

// What a compressor or decompressor takes as its `err`. `failure` outlives it.
jpeg_error_mgr* InstallJpegErrors(JpegFailure& failure, JpegWarnings warnings);

// The message of the error that libjpeg jumped out with. Throws std::bad_alloc if it was
// for want of memory.
std::string DescribeJpeg(const JpegFailure& failure);

// One image that is read front to back. For one thread at a time.
class JpegDecompressor {
 public:
  // So many rows are read in one call, at most.
  static constexpr JDIMENSION kRowsAtOnce = 16;

  explicit JpegDecompressor(JpegWarnings warnings);
  ~JpegDecompressor() {
    jpeg_destroy_decompress(&info_);
  }  // Also if it was never created.
  JpegDecompressor(const JpegDecompressor&) = delete;
  JpegDecompressor& operator=(const JpegDecompressor&) = delete;

  // False, here and below: see error(). `stored` outlives this object.
  bool ReadHeader(BytesView stored);
  // Between the header and Start(): the colors to give, where libjpeg's choice is not it.
  void SetColors(J_COLOR_SPACE colors) { info_.out_color_space = colors; }
  bool Start();
  // Reads the next `count` rows, at most kRowsAtOnce, to `rows`.
  bool ReadRows(MutableBytes rows, JDIMENSION count);
  bool Finish();

  const jpeg_decompress_struct& info() const { return info_; }
  Error error() const;

 private:
  jpeg_decompress_struct info_{};
  jpeg_progress_mgr progress_{};
  JpegFailure failure_{};
};

}  // namespace dolium::image
