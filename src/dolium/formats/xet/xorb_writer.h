// XorbWriter: puts chunks together to a xorb.
#pragma once

#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/formats/xet/compression.h"
#include "dolium/formats/xet/merkle.h"
#include "dolium/formats/xet/xorb_footer.h"
#include "dolium/formats/xet/xorb_record.h"

namespace dolium::xet {

// Whether a xorb of `chunks` chunks with `raw` bytes has room for one more chunk. What
// has room stays below 64 MiB as an object, footer and all, even if nothing compresses:
// where xorbs end does not depend on compression. That is a little stricter than the
// limits of raw bytes and chunks alone.
constexpr bool XorbHasRoom(uint64_t chunks, uint64_t raw, uint64_t chunk) {
  return chunks < kMaxXorbChunks &&
         raw + chunk + kChunkHeaderSize * (chunks + 1) + XorbFooterBytes(chunks + 1) <=
             kMaxXorbRaw;
}

// Holds the whole object. One thread at a time.
class XorbWriter {
 public:
  bool HasRoom(uint64_t chunk) const {
    return XorbHasRoom(index_.size(), tree_.size(), chunk);
  }

  // Adds a chunk that is compressed already. Preconditions: it has room, 1 to 131072 raw
  // bytes, and `hash` is that of its raw bytes.
  void Add(const Hash& hash, uint64_t raw, const EncodedChunk& encoded);

  size_t chunks() const { return index_.size(); }
  uint64_t raw_bytes() const { return tree_.size(); }
  uint64_t stored_bytes() const { return records_.size(); }

  // The object, and what it holds. Precondition: it has a chunk. The writer starts over.
  struct Xorb {
    XorbIndex index;
    ByteVector object;
  };
  enum class Footer : uint8_t { kNone, kVersion1 };
  Xorb Finish(Footer footer);

 private:
  XorbIndex index_;
  MerkleBuilder tree_;
  ByteVector records_;
};

}  // namespace dolium::xet
