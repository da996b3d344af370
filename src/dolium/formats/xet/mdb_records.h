// MDB shards: the records they are made of.
//
// A shard lists files, as runs of chunks of xorbs, and xorbs, as chunks. Up to the end of
// the second section, everything is records of 48 bytes:
//
//   header | files .. bookend | xorbs .. bookend | look-up tables | footer
//
// The tables and the footer may be absent. A FileBlock or XorbBlock is a header record
// with all that belong to it, looked at where they lie.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/endian.h"
#include "dolium/base/result.h"
#include "dolium/formats/xet/hash.h"

namespace dolium::xet {

inline constexpr uint64_t kRecordSize = 48;
inline constexpr uint64_t kShardFooterSize = 200;
inline constexpr uint64_t kShardHeaderVersion = 2;
inline constexpr uint64_t kShardFooterVersion = 1;
inline constexpr uint64_t kNeverExpires = ~uint64_t{0};

// The look-up tables: a truncated hash, then one or two numbers of 32 bits.
inline constexpr uint64_t kBlockRowSize = 12;  // of files and of xorbs
inline constexpr uint64_t kChunkRowSize = 16;

// What a shard is made to hold at most, tables included.
inline constexpr uint64_t kMaxShard = uint64_t{64} << 20;
// What a shard that is read whole may have: other writers have other limits.
inline constexpr uint64_t kMaxShardObject = 16 * kMaxShard;

inline constexpr uint32_t kWithVerification = uint32_t{1} << 31;  // flags of files
inline constexpr uint32_t kWithMetadata = uint32_t{1} << 30;
inline constexpr uint32_t kGloballyEligible = uint32_t{1} << 31;  // flag of chunks

// Whether a shard begins here. Precondition: kRecordSize bytes.
bool HasShardTag(BytesView bytes);

struct ShardHeader {
  // kShardFooterSize, or 0: no footer. Clients of 2025 (hf_xet 1.1.7 to 1.2.0) wrote the
  // former into uploads, which have none: the bytes that are there decide.
  uint64_t footer_size = 0;
};
// Refuses another tag, another version, and footers of another size. Precondition:
// kRecordSize bytes.
Result<ShardHeader> ParseShardHeader(BytesView bytes);
void AppendShardHeader(const ShardHeader& header, ByteVector& out);

struct Table {
  uint64_t offset = 0;
  uint64_t count = 0;
  friend bool operator==(const Table&, const Table&) = default;
};

struct ShardFooter {
  uint64_t file_info = 0;  // offsets in the shard
  uint64_t xorb_info = 0;
  Table files;
  Table xorbs;
  Table chunks;
  Hash key;  // zero: hashes of chunks are not keyed
  uint64_t created = 0;
  uint64_t expiry = kNeverExpires;  // 0 means the same, in answers of servers
  uint64_t stored_on_disk = 0;
  uint64_t materialized = 0;
  uint64_t stored = 0;
  uint64_t footer_offset = 0;

  // Whether the six fields of the tables are zero, as in shards whose writer knows of
  // none: the sections end at the footer then.
  bool lacks_tables() const {
    return files == Table() && xorbs == Table() && chunks == Table();
  }
  bool expires() const { return expiry != 0 && expiry != kNeverExpires; }
  // Where the section of xorbs ends.
  uint64_t xorbs_end() const { return lacks_tables() ? footer_offset : files.offset; }

  friend bool operator==(const ShardFooter&, const ShardFooter&) = default;
};
// Refuses another version, and offsets or counts that lie beyond each other or beyond a
// shard of `shard_size` bytes; kCorrupt if the bytes are no footer of it at all.
// Precondition: kShardFooterSize bytes.
Result<ShardFooter> ParseShardFooter(BytesView bytes, uint64_t shard_size);
void AppendShardFooter(const ShardFooter& footer, ByteVector& out);

// A run of chunks of one xorb.
struct Term {
  Hash xorb;
  uint32_t raw_bytes = 0;
  uint32_t first = 0;  // chunks [first, end)
  uint32_t end = 0;
  friend bool operator==(const Term&, const Term&) = default;
};

struct ChunkEntry {
  Hash hash;            // keyed if the shard is
  uint32_t offset = 0;  // in the raw data of the xorb
  uint32_t raw_bytes = 0;
  uint32_t flags = 0;
  friend bool operator==(const ChunkEntry&, const ChunkEntry&) = default;
};

// A file in place. Precondition of making one: FileBlockSize() bytes.
class FileBlock {
 public:
  explicit FileBlock(BytesView bytes) : bytes_(bytes) {}

  BytesView bytes() const { return bytes_; }
  Hash hash() const { return Hash::Load(bytes_.data()); }
  uint32_t flags() const { return LoadLE<uint32_t>(bytes_.data() + 32); }
  size_t size() const { return LoadLE<uint32_t>(bytes_.data() + 36); }  // terms
  bool has_verification() const { return (flags() & kWithVerification) != 0; }
  bool has_metadata() const { return (flags() & kWithMetadata) != 0; }

  // Precondition of both: i < size(), and of the second: has_verification().
  Term term(size_t i) const;
  Hash verification(size_t i) const;
  // As it stands: see Sha256Digest(). nullopt if there is none, or only zeros.
  std::optional<Hash> sha256() const;
  uint64_t raw_bytes() const;  // of all terms

 private:
  const std::byte* record(size_t i) const { return bytes_.data() + i * kRecordSize; }
  BytesView bytes_;
};

// A xorb in place. Precondition of making one: XorbBlockSize() bytes.
class XorbBlock {
 public:
  explicit XorbBlock(BytesView bytes) : bytes_(bytes) {}

  BytesView bytes() const { return bytes_; }
  Hash hash() const { return Hash::Load(bytes_.data()); }
  size_t size() const { return LoadLE<uint32_t>(bytes_.data() + 36); }  // chunks
  uint32_t raw_bytes() const { return LoadLE<uint32_t>(bytes_.data() + 40); }
  // As the shard says; stock clients leave it 0.
  uint32_t stored_bytes() const { return LoadLE<uint32_t>(bytes_.data() + 44); }

  // Precondition of both: i < size().
  ChunkEntry chunk(size_t i) const;
  Hash chunk_hash(size_t i) const { return Hash::Load(record(i + 1)); }

 private:
  const std::byte* record(size_t i) const { return bytes_.data() + i * kRecordSize; }
  BytesView bytes_;
};

// Whether a record ends a section. Its last 16 bytes are not looked at.
bool IsBookend(BytesView record);
// Whether they are zero, too, as writers make them.
bool IsPlainBookend(BytesView record);

// The bytes of the block whose header record this is. Refuses flags that are not known:
// records might follow that we do not know of.
Result<uint64_t> FileBlockSize(BytesView record);
uint64_t XorbBlockSize(BytesView record);

// What a block cannot say unless it is wrong: terms without chunks, chunks that do not
// follow each other or do not add up, or are more than a xorb may have. The reader does
// not look at this; verify does.
Result<void> CheckFileBlock(const FileBlock& file);
Result<void> CheckXorbBlock(const XorbBlock& xorb);

// A file and a xorb as values, to be written.
struct FileInfo {
  Hash hash;
  std::vector<Term> terms;
  std::vector<Hash> verification;  // one for each term, or none
  bool is_verified = false;        // an empty file may be verified, too
  std::optional<Hash> sha256;
};
struct XorbInfo {
  Hash hash;
  uint32_t stored_bytes = 0;
  std::vector<ChunkEntry> chunks;
};
// All that a block says.
FileInfo InfoOf(const FileBlock& file);
XorbInfo InfoOf(const XorbBlock& xorb);
// Precondition of the first: `verification` has a hash for each term if it is verified.
void AppendFile(const FileInfo& file, ByteVector& out);
void AppendXorb(const XorbInfo& xorb, ByteVector& out);
void AppendBookend(ByteVector& out);

}  // namespace dolium::xet
