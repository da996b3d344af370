// Finding files, xorbs and runs of chunks in a shard, by its tables and in place: a
// look-up in a memory map touches a few pages. Without tables, the sections are gone
// through.
//
// The functions may be called from many threads. Tables are not trusted: what they point
// at is compared with what is wanted, and kCorrupt if it cannot be there at all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/xet/mdb_reader.h"

namespace dolium::xet {

Result<std::optional<FileBlock>> FindFile(const ShardView& shard, const Hash& hash);
Result<std::optional<XorbBlock>> FindXorb(const ShardView& shard, const Hash& hash);

// Chunks [first, first + count) of a xorb.
struct ChunkRun {
  XorbBlock xorb;
  size_t first = 0;
  size_t count = 0;
};

// The longest run found that begins with the first of `chunks` and goes on with the next
// of them. `chunks` are plain hashes: those of a keyed shard are compared under its key.
// nullopt if the first is not there, and always if the shard has expired at `now`
// (seconds since 1970). Of xorbs that hold the same chunk, the first few are looked at.
Result<std::optional<ChunkRun>> FindRun(const ShardView& shard,
                                        std::span<const Hash> chunks, uint64_t now);

// The first row whose number is not below `key`, in a table of rows of `row` bytes that
// begin with an ascending number; the number of rows if there is none.
size_t FirstRow(BytesView table, uint64_t row, uint64_t key);

}  // namespace dolium::xet
