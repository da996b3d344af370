// Work lists: which entries make up which part of a set that is to be written.
//
// A plan scans an index in the order of the source and needs it in the order of the
// target. It gathers records in memory and, whenever they fill its budget, sorts them by
// part and writes one work list. A task reads just the share of its part from each list.
// A list is an object of three parts, all numbers little-endian:
//
//   records   the shares of the parts, one behind the other, in order of part
//   table     one row of 40 bytes per part, in order of part: part, offset, length of the
//             share, entries, bytes of payload
//   trailer   64 bytes: magic, version, sizes of records and table, sums
//
// A share stands alone, and is read front to back in bounded memory: an object is spelled
// out where the share first names it, as the difference to the one before, and is a
// number while it is remembered. Lists are read as untrusted input. They belong to one
// plan and die with it, so only one version is ever understood.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/entry.h"
#include "dolium/ops/job/work_record.h"

namespace dolium {

// The share that one part has in one list: a row of its table.
struct PartShare {
  uint64_t part = 0;
  ByteRange range;       // within the list
  uint64_t entries = 0;  // at least 1
  uint64_t bytes =
      0;  // of payload: stored, with what precedes it; 2^64-1: that many or more

  friend bool operator==(const PartShare&, const PartShare&) = default;
};

// The bytes that an entry takes in its source, as `bytes` counts them.
uint64_t PayloadBytes(const Entry& entry);

// a + b, or 2^64-1 if that is less.
uint64_t SaturatingAdd(uint64_t a, uint64_t b);

// Writes lists `<folder>/work-0`, `work-1`, ... Holds about `memory` bytes, 64 KiB at
// least. All methods may be called from many threads, save that Finish comes last.
class WorkListWriter {
 public:
  WorkListWriter(Location folder, uint64_t memory);

  Result<void> Add(uint64_t part, const Entry& entry);

  struct Summary {
    uint64_t lists = 0;
    uint64_t entries = 0;
    uint64_t bytes = 0;
  };
  Result<Summary> Finish();

 private:
  // Where a record lies until it is written.
  struct Pending {
    uint64_t part = 0;
    uint32_t block = 0;
    uint32_t offset = 0;
  };

  uint64_t MemoryUsed() const;
  uint32_t ObjectIndex(const std::shared_ptr<const ObjectVersion>& object);
  Result<void> Spill();

  const Location folder_;
  const uint64_t memory_;
  std::mutex mutex_;  // guards all below
  std::vector<ByteVector> blocks_;
  std::vector<Pending> pending_;
  std::vector<std::shared_ptr<const ObjectVersion>> objects_;
  std::unordered_map<const ObjectVersion*, uint32_t> object_indexes_;
  uint64_t block_bytes_ = 0;
  uint64_t object_bytes_ = 0;
  Summary summary_;
};

// One list, open for reading at one generation. Const methods may be called from many
// threads. Errors name the list; a list that contradicts itself is kCorrupt.
class WorkList {
 public:
  static Result<WorkList> Open(const Location& object);

  // The object of the n-th list in `folder`.
  static Location ObjectOf(const Location& folder, uint64_t number);

  uint64_t parts() const { return parts_; }
  uint64_t entries() const { return entries_; }

  // Reads the whole table, 40 bytes for each part, so that Find() need not read.
  Result<void> KeepTable();

  // The share of `part`, or nullopt if it has none here. Reads little of a large table.
  Result<std::optional<PartShare>> Find(uint64_t part) const;

  // Visits all shares, in order of part.
  Result<void> ForEachShare(const std::function<void(const PartShare&)>& visit) const;

 private:
  friend class ShareReader;

  WorkList() = default;
  Result<std::vector<PartShare>> ReadRows(uint64_t first, uint64_t count) const;
  Result<Bytes> ReadBytes(ByteRange range) const;

  Location object_;
  Generation generation_;
  uint64_t records_size_ = 0;
  uint64_t parts_ = 0;
  uint64_t entries_ = 0;
  std::shared_ptr<const std::vector<PartShare>> table_;  // if kept
};

// Reads the entries of one share, a few at a time.
class ShareReader {
 public:
  // The list must outlive it; the share is one that its Find() or ForEachShare() gave.
  ShareReader(const WorkList& list, const PartShare& share);

  // Puts up to `count` more entries in the place of what `to` holds; none after the last.
  Result<void> Read(size_t count, std::vector<Entry>& to);

 private:
  Result<Entry> ReadEntry();
  // The next bytes of the share: `length` of them, or more, or all that are left.
  Result<BytesView> Peek(uint64_t length);

  const WorkList& list_;
  const PartShare share_;
  uint64_t entries_ = 0;   // read so far
  uint64_t position_ = 0;  // of the next record in the share
  Bytes buffer_;
  uint64_t buffer_begin_ = 0;  // in the share
  ObjectReader objects_;
};

}  // namespace dolium
