// GunzipStream: undoes gzip segment by segment: one member, or several.
#pragma once

#include <memory>

#include "dolium/bytes/stream_decoder.h"

namespace dolium {

class GunzipStream final : public StreamDecoder {
 public:
  GunzipStream();
  ~GunzipStream() override;

  std::string_view name() const override { return "gzip"; }
  // A checksum that fails is damage, too.
  Result<void> Write(BytesView segment, ByteVector& out, uint64_t limit) override;
  bool finished() const override { return finished_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool finished_ = false;
};

}  // namespace dolium
