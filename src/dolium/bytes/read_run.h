// ReadRun: bytes that follow each other in a file, bound for one or more places.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace dolium {

// The part that is still to be read. Owns nothing; `places` is consumed along the way.
struct ReadRun {
  uint64_t offset = 0;
  iovec* places = nullptr;
  int place_count = 0;

  bool done() const { return place_count == 0; }

  void Advance(size_t bytes) {
    offset += bytes;
    while (place_count > 0 && bytes >= places->iov_len) {
      bytes -= places->iov_len;
      ++places;
      --place_count;
    }
    if (bytes > 0) {
      places->iov_base = static_cast<std::byte*>(places->iov_base) + bytes;
      places->iov_len -= bytes;
    }
  }
};

}  // namespace dolium
