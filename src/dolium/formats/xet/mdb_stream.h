// ShardStream: reads a shard front to back, from a pipe if need be.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/xet/mdb_records.h"

namespace dolium::xet {

// Who gets the blocks, in the order of the shard. Blocks are there during the call
// only. An error ends the reading; functions may be empty.
struct ShardVisitor {
  std::function<Result<void>(const FileBlock&)> file = {};
  std::function<Result<void>(const XorbBlock&)> xorb = {};
};

// Holds at most one block, and no more of it than has come. One thread at a time.
class ShardStream {
 public:
  // A block may have at most `block_limit` bytes.
  explicit ShardStream(ShardVisitor visitor, uint64_t block_limit = uint64_t{1} << 30)
      : visitor_(std::move(visitor)), block_limit_(block_limit) {}

  // Takes the next bytes. After an error, nothing more may be written.
  Result<void> Write(BytesView segment);

  // The shard ends here. Gives its footer, if it has one, which must say what was read:
  // the offsets of sections, and sizes of tables that fit what lies between. Without
  // footer it is an upload, whatever its header says (see ShardHeader).
  Result<std::optional<ShardFooter>> Finish();

 private:
  enum class Part : uint8_t { kHeader, kFiles, kXorbs, kRest };
  // The bytes that the block at the beginning of `from` has, as far as it shows.
  Result<uint64_t> WantedSize(BytesView from) const;
  Result<void> Take(BytesView block);

  ShardVisitor visitor_;
  uint64_t block_limit_;
  Part part_ = Part::kHeader;
  ByteVector pending_;  // the beginning of a block; in the end, the last bytes
  ShardHeader header_;
  std::optional<bool> is_verified_;  // of the files so far
  Result<void> is_upload_;           // if it has no footer and its header says it has
  Result<void> is_uniform_;          // kCorrupt for files with and without verification
  uint64_t position_ = 0;            // behind the last block
  uint64_t xorbs_begin_ = 0;
  uint64_t xorbs_end_ = 0;
};

// kCorrupt if `file` is verified and files before it are not, or the other way round.
Result<void> CheckSameVerification(std::optional<bool>& so_far, const FileBlock& file);

}  // namespace dolium::xet
