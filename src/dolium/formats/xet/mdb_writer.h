// MdbShardWriter: writes a shard front to back.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/xet/mdb_reader.h"
#include "dolium/formats/xet/mdb_records.h"

namespace dolium::xet {

// Takes the bytes of an object, one segment after another.
using ByteSink = std::function<Result<void>(BytesView)>;

struct ShardWriteOptions {
  bool with_footer = true;        // without: an upload, which has no tables either
  bool with_block_tables = true;  // of files and xorbs
  bool with_chunk_table = true;
  // Of WriteShard(): mark the chunks that files begin with as eligible for global
  // deduplication, as stock clients do in uploads. Marks that are there stay in any case.
  bool mark_file_starts = false;
  // What the footer says. The writer does not key: hashes of chunks that it is given are
  // keyed already.
  Hash key = {};
  uint64_t created = 0;
  uint64_t expiry = kNeverExpires;
};

// Equal blocks give equal bytes. Holds the tables: 12 bytes for each block and 16 for
// each chunk. One thread at a time.
class MdbShardWriter {
 public:
  MdbShardWriter(ByteSink sink, ShardWriteOptions options);

  // All files, then all xorbs, each in ascending order of their hashes, none twice; else
  // kInvalidArgument. Without footer either all files have a verification or none:
  // servers refuse other uploads.
  Result<void> AddFile(const FileBlock& file);
  Result<void> AddXorb(const XorbBlock& xorb);

  // Bytes of the whole shard if it were finished now, or with one of these more.
  uint64_t size() const;
  uint64_t SizeWith(const FileBlock& file) const;
  uint64_t SizeWith(const XorbBlock& xorb) const;
  bool empty() const { return !last_file_ && !last_xorb_; }

  // Writes what is left, and gives the footer: where everything went, and the sums.
  Result<ShardFooter> Finish();

 private:
  struct ChunkRow {
    uint64_t key;
    uint32_t xorb;
    uint32_t chunk;
  };
  Result<void> Put(BytesView bytes);
  Result<void> Flush();
  Result<uint32_t> IndexOfNext(uint64_t section) const;
  void EndFiles();
  void AppendTables();

  ByteSink sink_;
  ShardWriteOptions options_;
  ByteVector buffer_;
  uint64_t position_ = 0;
  std::optional<Hash> last_file_;
  std::optional<Hash> last_xorb_;
  std::optional<bool> is_verified_;
  bool in_xorbs_ = false;
  ShardFooter footer_;
  ByteVector file_rows_;
  ByteVector xorb_rows_;
  std::vector<ChunkRow> chunk_rows_;
};

// A shard of these, in order of their hashes; of those with the same hash, the first.
Result<ByteVector> WriteShard(std::vector<FileInfo> files, std::vector<XorbInfo> xorbs,
                              const ShardWriteOptions& options);

// The answer to a query for chunks: the xorbs of `shard` with hashes under `key`, no
// files. `options` are those of the answer, but for the key. kInvalidArgument if `shard`
// is keyed.
Result<void> WriteKeyed(const ShardView& shard, const Hash& key,
                        ShardWriteOptions options, ByteSink sink);

}  // namespace dolium::xet
