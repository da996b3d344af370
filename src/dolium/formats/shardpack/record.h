// Record: one block of a shard, parsed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/shardpack/content.h"
#include "dolium/formats/shardpack/headers.h"

namespace dolium::shardpack {

// An entry that is read without those around it.
struct EntryPart {
  uint64_t at = 0;      // its header, from the start of the record
  uint64_t length = 0;  // to the end of its content
};

// Shares the bytes of its block; copies are cheap but for the list of entries. Const
// methods may be called from many threads.
class Record {
 public:
  // `block` is exactly one record (kIndex if it has another size). An error in an entry's
  // header is not one of the record: the entries before it can be read, and damage() says
  // of it.
  static Result<Record> Parse(Bytes block, Check check);

  // A record of `record_size` bytes of which only some were read: the first
  // `header_bytes` of it, which its header is within, and then each of `parts`, one after
  // another. It has no other entries, and block() is what was read. kCorrupt if that does
  // not fit together.
  static Result<Record> ParseParts(Bytes bytes, uint64_t record_size, size_t header_bytes,
                                   std::span<const EntryPart> parts, Check check);

  std::string_view key() const { return header_.key; }
  const RecordHeader& header() const { return header_; }
  const Bytes& block() const { return block_; }
  bool is_tombstone() const;
  Metadata metadata() const;

  // All that can be reached, aux entries included.
  std::span<const EntryHeader> entries() const { return entries_; }
  const std::optional<Error>& damage() const { return damage_; }

  // The entry of that name; nullptr if there is none.
  const EntryHeader* Find(std::string_view name) const;

  // As stored, unchecked.
  Bytes Stored(const EntryHeader& entry) const {
    return block_.Slice(static_cast<size_t>(entry.content_at),
                        static_cast<size_t>(entry.stored_size));
  }

  // Decoded and checked. Errors name key and entry.
  Result<Bytes> Content(const EntryHeader& entry, const ContentOptions& options) const;
  Result<void> ContentInto(const EntryHeader& entry, MutableBytes into,
                           const ContentOptions& options) const;

  // All of it, as it was given; aux entries left out. A file may be a segment of one.
  Result<Sample> Decode(const ContentOptions& options) const;

 private:
  Bytes block_;
  RecordHeader header_;
  std::vector<EntryHeader> entries_;
  std::optional<Error> damage_;
};

// The entries of these names, without the others: found[i] is that of names[i], and has
// no name if there is none. `block` is exactly one record, of which no more is looked at
// than that takes. found.size() == names.size().
Result<RecordHeader> PickEntries(BytesView block, std::span<const std::string> names,
                                 Check check, std::span<EntryHeader> found);

// The dictionaries that a record carries; one that is damaged is left out.
Dictionaries DictionariesIn(const Record& record, const ContentOptions& options);

// Of an entry that is a segment of a file, where the others are not at hand.
Error PartOfFile(const EntryHeader& entry);

// What an error about an entry begins with: `"key": entry "name"`.
std::string EntryContext(std::string_view key, std::string_view name);

}  // namespace dolium::shardpack
