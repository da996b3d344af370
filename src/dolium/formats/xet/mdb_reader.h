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
  // `section` begins at a block and ends with the bookend. With `allow_mixed`, some files
  // may have a verification and others none.
  explicit BlockCursor(BytesView section, bool allow_mixed = true)
      : rest_(section), allow_mixed_(allow_mixed) {}

  // The next block; nullopt at the bookend, which must be the last record.
  Result<std::optional<Block>> Next();

 private:
  BytesView rest_;
  bool allow_mixed_;
  std::optional<bool> is_verified_;
};
using FileCursor = BlockCursor<FileBlock>;
using XorbCursor = BlockCursor<XorbBlock>;

// Looks at bytes that the caller keeps. Const methods may be called from many threads.
class ShardView {
 public:
  // Checks header and footer, and that the sections end with bookends; without footer,
  // walks through the sections to find their ends. A shard whose header announces a
  // footer and that ends right behind its sections is an upload (see ShardHeader).
  static Result<ShardView> Open(BytesView shard);

  // nullopt if there is none: an upload.
  const std::optional<ShardFooter>& footer() const { return footer_; }
  // Zero: hashes of chunks are not keyed.
  Hash key() const { return footer_ ? footer_->key : Hash(); }
  // Whether it may no longer be used to find chunks by. `now` in seconds since 1970.
  bool IsExpired(uint64_t now) const {
    return footer_ && footer_->expires() && now > footer_->expiry;
  }

  // Of an upload, either all files have a verification or none; else that is an error on
  // the way. Unions of shards may have both.
  FileCursor files() const { return FileCursor(file_section_, footer_.has_value()); }
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
  // Finds the sections without a footer. What follows them is the rest.
  static Result<BytesView> WalkSections(BytesView shard, ShardView& view);
  static Result<ShardView> OpenUpload(BytesView shard);

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
