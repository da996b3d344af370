#include "dolium/domain/volume/arrays/tiff_library.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <new>
#include <utility>

#include <fmt/format.h>

namespace dolium::volume {
namespace {

// libtiff allocates nothing larger by itself: tables of strips, packed strips.
constexpr tmsize_t kMaxAllocation = tmsize_t{2} << 30;

// Returns 1: nobody else is to be notified.
int OnError(TIFF*, void* messages, const char* module, const char* format,
            va_list arguments) {
  char text[400];
  std::vsnprintf(text, sizeof text, format, arguments);
  static_cast<TiffMessages*>(messages)->Add(
      module == nullptr ? text : fmt::format("{}: {}", module, text));
  return 1;
}

int OnWarning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

}  // namespace

Error TiffMessages::ToError(ErrorCode code, std::string action) const {
  if (!first_.empty()) action += fmt::format(": {}", first_);
  return {code, std::move(action)};
}

TiffHandle OpenTiffHandle(int fd, const char* mode, TiffMessages& messages) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(
      TIFFOpenOptionsAlloc(), &TIFFOpenOptionsFree);
  if (!options) throw std::bad_alloc();
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMaxAllocation);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), &OnError, &messages);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), &OnWarning, &messages);
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) {
    messages.Add(SystemError(errno, "cannot open again").message);
    return nullptr;
  }
  TiffHandle handle(TIFFFdOpenExt(own, "TIFF", mode, options.get()));
  if (!handle) close(own);
  return handle;
}

}  // namespace dolium::volume
