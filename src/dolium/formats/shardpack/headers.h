// The headers of records and of their entries: parsed, checked, written.
//
// Views point into the bytes that were parsed; those must outlive them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/shardpack/sample.h"

namespace dolium::shardpack {

// How much of what is read is proved right.
enum class Check : uint8_t {
  kNone,     // sizes only, which everything rests on
  kHeaders,  // the checksums of headers too
  kFull,     // and those of contents
};

struct RecordHeader {
  uint64_t record_size = 0;  // of the whole block
  unsigned align_log2 = 3;
  uint8_t flags = 0;
  MetadataFormat metadata_format = MetadataFormat::kNone;
  uint32_t entry_count = 0;
  std::string_view key;
  BytesView extensions;
  BytesView metadata;
  uint64_t first_entry_at = 0;  // from the start of the block
};

// A part of a sample that was too large for one record.
struct PartNumber {
  uint32_t index = 0;
  uint32_t count = 0;
};

struct EntryHeader {
  uint64_t stored_size = 0;
  uint64_t raw_size = 0;
  uint32_t crc32c = 0;  // of the stored bytes; chunked: of the chunk table
  uint8_t codec = 0;    // a Compression, or a number that we do not know
  uint8_t flags = 0;
  std::string_view name = {};
  std::string_view content_type = {};  // empty: not known
  BytesView extensions = {};
  uint64_t content_at = 0;                  // from the start of the block
  std::optional<FileSegment> segment = {};  // the file is cut; ends within it

  bool is_chunked() const;
  bool is_aux() const;
  uint64_t content_end() const { return content_at + stored_size; }
  // Whether the entry is not a whole file, but a segment of one.
  bool is_partial() const { return segment && segment->whole_size != raw_size; }
};

// The size that a record claims by its first 16 bytes; nullopt if they do not begin one
// (no magic), so that what is there must be the index. kCorrupt for an impossible size.
Result<std::optional<uint64_t>> ClaimedRecordSize(BytesView first16);

// `block` is a whole record, or at least its header. kCorrupt (kind "record") if it is
// not.
Result<RecordHeader> ParseRecordHeader(BytesView block, Check check);

// The part number that the header's extensions give. Does not fail for a header that
// ParseRecordHeader gave.
Result<std::optional<PartNumber>> ParsePart(const RecordHeader& header);

// The entry whose header begins at `at` of `block`; the content lies within, if
// `whole` (else only the header has to). kCorrupt (kind "entry") if it does not.
Result<EntryHeader> ParseEntryHeader(BytesView block, uint64_t at, unsigned align_log2,
                                     Check check, bool whole = true);

// The extensions of a file, wherever it is cut: all but that of a segment.
ByteVector ExtensionsOfFile(const EntryHeader& header);

// What an entry's extensions say of it.
struct EntryExtras {
  Metadata metadata;  // its bytes are a view without an owner
  std::optional<int64_t> modified;
  std::optional<uint32_t> mode;
  std::optional<ArrayShape> array;

  // Copies them.
  void GiveTo(File& file) const;
};
Result<EntryExtras> ParseExtras(const EntryHeader& header);

}  // namespace dolium::shardpack
