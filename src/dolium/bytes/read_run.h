// ReadRun: bytes that follow each other in a file, bound for one or more buffers.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace dolium {

// The part that is still to be read. Owns nothing; `buffers` is consumed along the way.
struct ReadRun {
  uint64_t offset = 0;
  iovec* buffers = nullptr;
  int buffer_count = 0;

  bool done() const { return buffer_count == 0; }

  void Advance(size_t bytes) {
    offset += bytes;
    while (buffer_count > 0 && bytes >= buffers->iov_len) {
      bytes -= buffers->iov_len;
      ++buffers;
      --buffer_count;
    }
    if (bytes > 0) {
      buffers->iov_base = static_cast<std::byte*>(buffers->iov_base) + bytes;
      buffers->iov_len -= bytes;
    }
  }
};

}  // namespace dolium
