// How libtiff is opened: its messages go to us and not to stderr.
#pragma once

#include <tiffio.h>

#include <memory>
#include <string>

#include "dolium/base/result.h"

namespace dolium::volume {

// What libtiff had to say about one file. One thread at a time.
class TiffMessages {
 public:
  void Clear() { first_.clear(); }
  bool empty() const { return first_.empty(); }

  // `code`, `action`, and libtiff's first message since the last Clear(): those after it
  // report its consequences.
  Error ToError(ErrorCode code, std::string action) const;

  void Add(std::string message) {
    if (first_.empty()) first_ = std::move(message);
  }

 private:
  std::string first_;
};

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using TiffHandle = std::unique_ptr<TIFF, CloseTiff>;

// Opens libtiff on a duplicate of `fd`, whose position moves with it. nullptr on failure,
// with the reason in `messages`, which must live as long as the handle.
TiffHandle OpenTiffHandle(int fd, const char* mode, TiffMessages& messages);

}  // namespace dolium::volume
