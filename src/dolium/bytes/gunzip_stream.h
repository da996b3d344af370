// GunzipStream: undoes gzip segment by segment, within a limit.
//
// For bodies that arrive as a stream and must not be gathered first; whole buffers are
// the business of codec/gzip.h. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium {

class GunzipStream {
 public:
  GunzipStream();
  ~GunzipStream();
  GunzipStream(const GunzipStream&) = delete;
  GunzipStream& operator=(const GunzipStream&) = delete;

  // Decodes the next segment and appends to `out`, which never grows past `limit` bytes:
  // kCorrupt beyond it, or if the bytes are not gzip or fail their checksum.
  Result<void> Write(BytesView segment, ByteVector& out, uint64_t limit);

  // True at the end of a member: the stream may end here.
  bool finished() const { return finished_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool finished_ = false;
};

}  // namespace dolium
