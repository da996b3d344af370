// ByteReader: a bounded cursor. Every parser of untrusted bytes reads through it.
#pragma once

#include <concepts>
#include <cstdint>

#include <fmt/format.h>

#include "dolium/base/bytes.h"
#include "dolium/base/endian.h"
#include "dolium/base/result.h"

namespace dolium {

class ByteReader {
 public:
  explicit ByteReader(BytesView bytes) : bytes_(bytes) {}

  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  // The next number. `what` names it in the error: "num_lods needs 4 bytes at 24, 2
  // remain".
  template <std::unsigned_integral T>
  Result<T> Read(std::string_view what) {
    DOLIUM_TRY(const BytesView raw, ReadBytes(sizeof(T), what));
    return LoadLE<T>(raw.data());
  }

  Result<BytesView> ReadBytes(uint64_t length, std::string_view what) {
    if (length > remaining()) {
      return Corrupt(fmt::format("{} needs {} bytes at {}, {} remain", what, length,
                                 position_, remaining()));
    }
    const BytesView out = bytes_.subspan(position_, static_cast<size_t>(length));
    position_ += static_cast<size_t>(length);
    return out;
  }

 private:
  BytesView bytes_;
  size_t position_ = 0;
};

}  // namespace dolium
