#include "dolium/bytes/zstd_stream.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <array>
#include <new>

#include <fmt/format.h>

namespace dolium {

struct ZstdStream::State {
  State() : context(ZSTD_createDCtx()) {
    if (context == nullptr) throw std::bad_alloc();
  }
  ~State() { ZSTD_freeDCtx(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ZSTD_DCtx* context;
  std::array<std::byte, 64 << 10> decoded;
};

ZstdStream::ZstdStream() : state_(std::make_unique<State>()) {}

ZstdStream::~ZstdStream() = default;

Result<void> ZstdStream::Write(BytesView segment, ByteVector& out, uint64_t limit) {
  ZSTD_inBuffer in = {segment.data(), segment.size(), 0};
  bool is_full = false;  // The library may hold back what the buffer had no room for.
  while (in.pos < in.size || is_full) {
    ZSTD_outBuffer made = {state_->decoded.data(), state_->decoded.size(), 0};
    const size_t left = ZSTD_decompressStream(state_->context, &made, &in);
    if (made.pos > limit - out.size()) {
      return Corrupt(
          fmt::format("zstd stream decodes to more than the limit of {} bytes", limit));
    }
    Append(out, BytesView(state_->decoded).first(made.pos));
    if (ZSTD_isError(left) != 0) {
      const ZSTD_ErrorCode code = ZSTD_getErrorCode(left);
      if (code == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (code == ZSTD_error_frameParameter_windowTooLarge) {
        return Unsupported("zstd stream needs a window of more than 128 MiB");
      }
      return Corrupt(fmt::format("zstd stream is damaged after {} decoded bytes: {}",
                                 out.size(), ZSTD_getErrorName(left)));
    }
    finished_ = left == 0;  // A frame ends here.
    is_full = !finished_ && made.pos == made.size;
  }
  return {};
}

}  // namespace dolium
