#include "dolium/bytes/brotli_stream.h"

#include <brotli/decode.h>

#include <array>
#include <new>

#include <fmt/format.h>

namespace dolium {

struct BrotliStream::State {
  State() : decoder(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {
    if (decoder == nullptr) throw std::bad_alloc();
  }
  ~State() { BrotliDecoderDestroyInstance(decoder); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  BrotliDecoderState* decoder;
  std::array<std::byte, 64 << 10> decoded;
};

BrotliStream::BrotliStream() : state_(std::make_unique<State>()) {}

BrotliStream::~BrotliStream() = default;

Result<void> BrotliStream::Write(BytesView segment, ByteVector& out, uint64_t limit) {
  const auto* next_in = reinterpret_cast<const uint8_t*>(segment.data());
  size_t left_in = segment.size();
  while (!finished_) {
    auto* next_out = reinterpret_cast<uint8_t*>(state_->decoded.data());
    size_t left_out = state_->decoded.size();
    const BrotliDecoderResult result = BrotliDecoderDecompressStream(
        state_->decoder, &left_in, &next_in, &left_out, &next_out, nullptr);
    const size_t made = state_->decoded.size() - left_out;
    if (made > limit - out.size()) {
      return Corrupt(
          fmt::format("brotli stream decodes to more than the limit of {} bytes", limit));
    }
    Append(out, BytesView(state_->decoded).first(made));
    if (result == BROTLI_DECODER_RESULT_ERROR) {
      const BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(state_->decoder);
      // Those of allocations are next to each other, below those of the format.
      if (code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
          code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES) {
        throw std::bad_alloc();
      }
      return Corrupt(fmt::format("brotli stream is damaged after {} decoded bytes: {}",
                                 out.size(), BrotliDecoderErrorString(code)));
    }
    if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) return {};
    finished_ = result == BROTLI_DECODER_RESULT_SUCCESS;
  }
  if (left_in == 0) return {};
  return Corrupt(fmt::format("{} bytes follow the end of the brotli stream", left_in));
}

}  // namespace dolium
