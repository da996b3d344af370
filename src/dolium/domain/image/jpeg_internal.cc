#include "dolium/domain/image/jpeg_internal.h"

#include <jerror.h>

#include <new>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace dolium::image {
namespace {

// A hostile progressive JPEG can have a scan over the whole image in a few bytes.
constexpr int kMaxScans = 500;

[[noreturn]] void OnJpegError(j_common_ptr info) {
  auto* failure = reinterpret_cast<JpegFailure*>(info->err);
  failure->manager.format_message(info, failure->message);
  std::longjmp(failure->escape, 1);
}

// Whether all pixels are from the file in spite of this warning.
bool IsHarmless(int warning) {
  return warning == JWRN_EXTRANEOUS_DATA || warning == JWRN_ADOBE_XFORM ||
         warning == JWRN_JFIF_MAJOR || warning == JWRN_BOGUS_PROGRESSION;
}

void OnMessage(j_common_ptr info, int level) {
  if (level >= 0) return;
  const auto* failure = reinterpret_cast<const JpegFailure*>(info->err);
  if (failure->warnings == JpegWarnings::kMadeUp && IsHarmless(info->err->msg_code)) {
    return;
  }
  OnJpegError(info);
}

void OnProgress(j_common_ptr info) {
  const auto* decompress = reinterpret_cast<j_decompress_ptr>(info);
  if (decompress->input_scan_number <= kMaxScans) return;
  auto* failure = reinterpret_cast<JpegFailure*>(info->err);
  constexpr std::string_view kMessage = "more scans than an honest JPEG has";
  failure->message[kMessage.copy(failure->message, sizeof failure->message - 1)] = '\0';
  std::longjmp(failure->escape, 1);
}

}  // namespace

jpeg_error_mgr* InstallJpegErrors(JpegFailure& failure, JpegWarnings warnings) {
  jpeg_std_error(&failure.manager);
  failure.manager.error_exit = &OnJpegError;
  failure.manager.emit_message = &OnMessage;
  failure.message[0] = '\0';
  failure.warnings = warnings;
  return &failure.manager;
}

std::string DescribeJpeg(const JpegFailure& failure) {
  if (failure.manager.msg_code == JERR_OUT_OF_MEMORY) throw std::bad_alloc();
  return failure.message;
}

JpegDecompressor::JpegDecompressor(JpegWarnings warnings) {
  info_.err = InstallJpegErrors(failure_, warnings);
  progress_.progress_monitor = &OnProgress;
}

bool JpegDecompressor::ReadHeader(BytesView stored) {
  if (setjmp(failure_.escape) != 0) return false;  // NOLINT
  jpeg_create_decompress(&info_);
  info_.progress = &progress_;
  jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(stored.data()),
               static_cast<unsigned long>(stored.size()));
  jpeg_read_header(&info_, TRUE);
  return true;
}

bool JpegDecompressor::Start() {
  if (setjmp(failure_.escape) != 0) return false;  // NOLINT
  jpeg_start_decompress(&info_);
  return true;
}

bool JpegDecompressor::ReadRows(MutableBytes rows, JDIMENSION count) {
  if (setjmp(failure_.escape) != 0) return false;  // NOLINT
  const size_t row_bytes = rows.size() / count;
  JSAMPROW pointers[kRowsAtOnce];
  for (JDIMENSION i = 0; i < count; ++i) {
    pointers[i] = reinterpret_cast<JSAMPROW>(rows.data() + i * row_bytes);
  }
  for (JDIMENSION done = 0; done < count;) {
    done += jpeg_read_scanlines(&info_, pointers + done, count - done);
  }
  return true;
}

bool JpegDecompressor::Finish() {
  if (setjmp(failure_.escape) != 0) return false;  // NOLINT
  jpeg_finish_decompress(&info_);
  return true;
}

Error JpegDecompressor::error() const {
  return Corrupt(fmt::format("JPEG: {}", DescribeJpeg(failure_)));
}

}  // namespace dolium::image
