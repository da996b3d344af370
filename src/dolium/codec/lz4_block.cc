#include "dolium/codec/lz4_block.h"

#include <lz4.h>
#include <lz4hc.h>

#include <algorithm>

#include <fmt/format.h>

namespace dolium {

namespace {

const char* AsChars(BytesView bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

}  // namespace

Result<void> Lz4BlockDecodeInto(BytesView stored, MutableBytes into) {
  if (stored.size() > INT32_MAX || into.size() > INT32_MAX) {
    return Corrupt(fmt::format("an lz4 block of {} bytes for {}: more than it can be",
                               stored.size(), into.size()));
  }
  // The library wants a place even for nothing.
  char nowhere = 0;
  char* to = into.empty() ? &nowhere : reinterpret_cast<char*>(into.data());
  const int got =
      LZ4_decompress_safe(AsChars(stored), to, static_cast<int>(stored.size()),
                          static_cast<int>(into.size()));
  if (got < 0) return Corrupt("lz4 block is damaged, cut short or too long");
  if (static_cast<size_t>(got) != into.size()) {
    return Corrupt(
        fmt::format("lz4 block decodes to {} bytes, {} expected", got, into.size()));
  }
  return {};
}

std::optional<ByteVector> Lz4BlockEncode(BytesView value, size_t capacity, int level) {
  const auto size = static_cast<int>(value.size());
  capacity = std::min(capacity, static_cast<size_t>(LZ4_compressBound(size)));
  ByteVector out(capacity);
  auto* to = reinterpret_cast<char*>(out.data());
  const auto room = static_cast<int>(capacity);
  const int got = level <= 0 ? LZ4_compress_default(AsChars(value), to, size, room)
                             : LZ4_compress_HC(AsChars(value), to, size, room, level);
  if (got <= 0) return std::nullopt;
  out.resize(static_cast<size_t>(got));
  return out;
}

}  // namespace dolium
