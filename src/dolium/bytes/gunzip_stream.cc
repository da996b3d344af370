#include "dolium/bytes/gunzip_stream.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include <fmt/format.h>
#include <zlib.h>

namespace dolium {

namespace {
constexpr int kGzipOnly = 15 + 16;  // The largest window; 16 asks for the gzip wrapper.
}  // namespace

struct GunzipStream::State {
  z_stream stream{};
  std::array<std::byte, 64 << 10> decoded;
};

GunzipStream::GunzipStream() : state_(std::make_unique<State>()) {
  if (inflateInit2(&state_->stream, kGzipOnly) != Z_OK) throw std::bad_alloc();
}

GunzipStream::~GunzipStream() { inflateEnd(&state_->stream); }

Result<void> GunzipStream::Write(BytesView segment, ByteVector& out, uint64_t limit) {
  z_stream& stream = state_->stream;
  while (!segment.empty()) {
    const size_t taken =
        std::min<size_t>(segment.size(), std::numeric_limits<uInt>::max());
    // zlib does not write to its input; only its type is old.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(segment.data()));
    stream.avail_in = static_cast<uInt>(taken);
    segment = segment.subspan(taken);
    bool more_output = false;
    while (stream.avail_in > 0 || more_output) {
      if (finished_ && stream.avail_in > 0) {  // Another member follows.
        inflateReset(&stream);
        finished_ = false;
      }
      stream.next_out = reinterpret_cast<Bytef*>(state_->decoded.data());
      stream.avail_out = static_cast<uInt>(state_->decoded.size());
      const int status = inflate(&stream, Z_NO_FLUSH);
      const size_t made = state_->decoded.size() - stream.avail_out;
      if (made > limit - out.size()) {
        return Corrupt(
            fmt::format("gzip stream decodes to more than the limit of {} bytes", limit));
      }
      Append(out, BytesView(state_->decoded).first(made));
      if (status == Z_STREAM_END) {
        finished_ = true;
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return Corrupt(
            fmt::format("gzip stream is damaged after {} decoded bytes: {}", out.size(),
                        stream.msg != nullptr ? stream.msg : "no reason given"));
      }
      more_output = !finished_ && stream.avail_out == 0;
    }
  }
  return {};
}

}  // namespace dolium
