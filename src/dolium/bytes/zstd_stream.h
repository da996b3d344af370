// ZstdStream: undoes zstd (RFC 8878) segment by segment: one frame, or several. Windows
// of up to 128 MiB, the library's own limit.
#pragma once

#include <memory>

#include "dolium/bytes/stream_decoder.h"

namespace dolium {

class ZstdStream final : public StreamDecoder {
 public:
  ZstdStream();
  ~ZstdStream() override;

  std::string_view name() const override { return "zstd"; }
  Result<void> Write(BytesView segment, ByteVector& out, uint64_t limit) override;
  bool finished() const override { return finished_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool finished_ = false;
};

}  // namespace dolium
