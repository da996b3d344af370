// XorbIndex: where the chunks of a xorb lie; and the footer that holds it.
#pragma once

#include <cstdint>
#include <vector>

#include "dolium/base/byte_range.h"
#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/xet/hash.h"
#include "dolium/formats/xet/xorb_record.h"

namespace dolium::xet {

// A value.
struct XorbIndex {
  Hash hash;  // zero if nothing says it
  // Of each chunk, or nothing: a xorb without footer does not say.
  std::vector<Hash> chunks;
  std::vector<uint32_t> record_ends;
  // Or nothing: a footer of version 0 does not say.
  std::vector<uint32_t> raw_ends;

  size_t size() const { return record_ends.size(); }
  // The records of chunks [first, end). Precondition: first <= end <= size().
  ByteRange records(size_t first, size_t end) const;
  // Raw bytes before chunk `i`. Precondition: i <= size(), and they are known.
  uint64_t raw_offset(size_t i) const { return i == 0 ? 0 : raw_ends[i - 1]; }
  uint64_t raw_size(size_t i) const { return raw_ends[i] - raw_offset(i); }
  // The chunk that holds this byte of the raw data. Precondition: there is one.
  size_t ChunkAt(uint64_t raw_position) const;

  friend bool operator==(const XorbIndex&, const XorbIndex&) = default;
};

inline constexpr uint64_t kXorbFooterLengthSize = 4;

// Bytes of a footer of version 1 for `chunks` chunks, with the length behind it.
constexpr uint64_t XorbFooterBytes(uint64_t chunks) {
  return 92 + 40 * chunks + kXorbFooterLengthSize;
}

// What the object of a xorb may have at most, with headers and a footer.
inline constexpr uint64_t kMaxXorbObject =
    kMaxXorbRaw + kMaxXorbChunks * kChunkHeaderSize + XorbFooterBytes(kMaxXorbChunks);

// Whether a footer begins here, and not a chunk: the seven bytes "XETBLOB".
bool IsXorbFooter(BytesView bytes);

// How many bytes of the end of a xorb of `object_size` bytes its footer takes, with the
// length behind it, as the last bytes (at least four) say. The object need not have a
// footer at all: whoever asks has to look whether one is there.
Result<uint64_t> FooterBytesOf(BytesView last, uint64_t object_size);

// Reads a footer of version 0 or 1. `bytes` is the footer with the length behind it,
// `begin` where it begins. Refused: counts, lengths and distances that disagree, no
// chunks or more than 8192, ends that do not ascend or lie beyond what chunks may have, a
// last record that does not end at `begin`. That hashes are those of the chunks, and the
// name the one of the hashes, is not looked at.
Result<XorbIndex> ParseXorbFooter(BytesView bytes, uint64_t begin);

// Appends a footer of version 1 and its length. Precondition: all of `index` is known.
void AppendXorbFooter(const XorbIndex& index, ByteVector& out);

// kCorrupt unless the chunks give the name `expected`. Precondition: chunks and raw ends
// are known.
Result<void> CheckXorbHash(const XorbIndex& index, const Hash& expected);

}  // namespace dolium::xet
