// XorbStream: reads a xorb front to back, from a pipe or an upload if need be, with or
// without footer, and checks all of it.
#pragma once

#include <cstdint>
#include <functional>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/xet/merkle.h"
#include "dolium/formats/xet/xorb_footer.h"
#include "dolium/formats/xet/xorb_record.h"

namespace dolium::xet {

// A chunk as it comes. Its bytes are there during the call only.
struct StreamedChunk {
  size_t index = 0;
  ChunkHeader header;
  Hash hash;
  BytesView raw;
};
// An error ends the reading.
using ChunkVisitor = std::function<Result<void>(const StreamedChunk&)>;

// Holds at most one record and the index. One thread at a time.
class XorbStream {
 public:
  explicit XorbStream(ChunkVisitor visit = {}) : visit_(std::move(visit)) {}

  // Takes the next bytes. Each chunk is decompressed and hashed, and handed to the
  // visitor; records that lie whole in `segment` are not copied. Errors name the chunk.
  // After one, nothing more may be written.
  Result<void> Write(BytesView segment);

  // The object ends here. Gives its index, made from what came; kCorrupt if it ends
  // within a record, has no chunk, or has a footer that says anything else.
  Result<XorbIndex> Finish();

 private:
  // Takes one record, or begins the footer; false if more bytes are needed.
  Result<bool> TakeOne(BytesView& from);
  Result<void> TakeRecord(const ChunkHeader& header, BytesView stored);
  Result<void> CheckFooter() const;

  ChunkVisitor visit_;
  ChunkDecompressor decompressor_;
  ByteVector raw_;
  ByteVector pending_;  // the beginning of a record, or of the footer
  bool in_footer_ = false;
  XorbIndex index_;
  MerkleBuilder tree_;
  uint64_t position_ = 0;  // behind the last record
};

// Reads all of `object`; with `name`, kCorrupt if that is not its hash.
Result<XorbIndex> VerifyXorb(BytesView object, const Hash* name = nullptr);

}  // namespace dolium::xet
