// BrotliStream: undoes brotli (RFC 7932) segment by segment. Windows of up to 16 MiB, as
// the RFC has them; those of the extension for large windows are refused.
#pragma once

#include <memory>

#include "dolium/bytes/stream_decoder.h"

namespace dolium {

class BrotliStream final : public StreamDecoder {
 public:
  BrotliStream();
  ~BrotliStream() override;

  std::string_view name() const override { return "brotli"; }
  // Bytes behind the end of the stream are damage, too.
  Result<void> Write(BytesView segment, ByteVector& out, uint64_t limit) override;
  bool finished() const override { return finished_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool finished_ = false;
};

}  // namespace dolium
