// ShardView: a shard that lies in memory or in a memory map, read in place.
#pragma once

#include <cstdint>
#include <optional>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/xet/mdb_records.h"
#include "dolium/formats/xet/mdb_stream.h"

namespace dolium::xet {

// Goes through one section, block by block. One thread at a time.
template <typename Block>
class BlockCursor {
 public:
  // `section` begins at a block and ends with the bookend.
  explicit BlockCursor(BytesView section) : rest_(section) {}

  // The next block; nullopt at the bookend, which must be the last record.
  Result<std::optional<Block>> Next();

 private:
  BytesView rest_;
  std::optional<bool> is_verified_;
};
using FileCursor = BlockCursor<FileBlock>;
using XorbCursor = BlockCursor<XorbBlock>;

// Looks at bytes that the caller keeps. Const methods may be called from many threads.
class ShardView {
 public:
  // Checks header and footer, and that the sections end with bookends; without footer,
  // walks through the sections to find their ends.
  static Result<ShardView> Open(BytesView shard);

  // nullopt if there is none: an upload.
  const std::optional<ShardFooter>& footer() const { return footer_; }
  // Zero: hashes of chunks are not keyed.
  Hash key() const { return footer_ ? footer_->key : Hash(); }
  // Whether it may no longer be used to find chunks by. `now` in seconds since 1970.
  bool IsExpired(uint64_t now) const { return footer_ && now > footer_->expiry; }

  FileCursor files() const { return FileCursor(file_section_); }
  XorbCursor xorbs() const { return XorbCursor(xorb_section_); }
  // Visits all blocks, as ShardStream does.
  Result<void> Scan(const ShardVisitor& visitor) const;

  // What look-ups need. A table is empty if there is none.
  BytesView file_section() const { return file_section_; }
  BytesView xorb_section() const { return xorb_section_; }
  BytesView file_table() const { return file_table_; }
  BytesView xorb_table() const { return xorb_table_; }
  BytesView chunk_table() const { return chunk_table_; }

 private:
  std::optional<ShardFooter> footer_;
  BytesView file_section_;  // with their bookends
  BytesView xorb_section_;
  BytesView file_table_;
  BytesView xorb_table_;
  BytesView chunk_table_;
};

// The block that begins `at` records into a section; kCorrupt if none can.
template <typename Block>
Result<Block> BlockAt(BytesView section, uint64_t at);

}  // namespace dolium::xet
