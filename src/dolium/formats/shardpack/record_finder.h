// RecordFinder: where records lie in bytes whose index is damaged, missing, or that of
// something else.
//
// Records are walked from the front. Behind damage the next one is looked for, at every
// byte, and taken only if the index at the end knows it, or if its chain of records leads
// to where records end: to the end of the bytes, or to a tail that belongs to no
// ShardPack inside a record. Tails are passed, so that shards that were joined give the
// records of all. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "dolium/base/byte_range.h"
#include "dolium/base/bytes.h"
#include "dolium/formats/shardpack/headers.h"

namespace dolium::shardpack {

class RecordFinder {
 public:
  // `bytes` must outlive it.
  explicit RecordFinder(BytesView bytes);

  enum class Kind : uint8_t {
    kRecord,  // one whose header is sound
    kTail,    // index, sections and footer of the records before
    kCutOff,  // the begin of a record, up to the end of the bytes
    kLost,    // bytes in which no record can be found
    kEnd,     // nothing more; what is left (`range`) is what a writer left unfinished
  };
  struct Found {
    Kind kind = Kind::kEnd;
    ByteRange range;
  };
  // What comes next. Nothing behind kEnd or kCutOff.
  Found Next();

  // Whether the record that came last is followed by something that can follow one.
  bool IsFollowed() const;

  // The record that came last is damaged. Returns which of its bytes are lost: all of
  // them, or those before the next record, if it begins within (bytes are missing). The
  // search goes on behind.
  ByteRange Distrust();

  // How many records there were, by the tails that were passed.
  uint64_t indexed_records() const { return indexed_records_; }

 private:
  struct Tail {
    ByteRange range;
    uint64_t records = 0;
    int64_t base = 0;        // where its shard would begin, if nothing was lost or added
    BytesView offsets = {};  // of its index
  };

  BytesView From(uint64_t at) const { return bytes_.subspan(static_cast<size_t>(at)); }
  void FindLastTail();
  std::optional<RecordHeader> HeaderAt(uint64_t at) const;
  std::optional<RecordHeader> AffordableHeader(uint64_t at);
  // A tail, undamaged, that begins here.
  std::optional<Tail> TailAt(uint64_t at);
  // Whether it is of the shard whose records are being walked, and not of one inside.
  bool IsOwnTail(const Tail& tail);
  bool IsCutOff(uint64_t at);
  bool IsUnfinishedEnd(uint64_t at, std::optional<uint64_t> last);
  bool IsEnd(uint64_t at, std::optional<uint64_t> last);
  // Whether the index at the end has a record of this size here: as if nothing before it
  // was lost or added, or as if all that was lost or added lies before it.
  bool IsIndexed(uint64_t at, uint64_t size) const;
  bool LeadsToTheEnd(uint64_t at);
  std::optional<uint64_t> Search(uint64_t from);
  Found TakeRecord(uint64_t at, uint64_t size);
  Found PassTail(const Tail& tail);

  BytesView whole_;
  BytesView bytes_;  // those that may be records
  std::optional<Tail> last_tail_;
  uint64_t at_ = 0;
  uint64_t base_ = 0;                     // where the last tail ended
  std::optional<uint64_t> last_;          // where the last record began
  std::optional<uint64_t> first_damage_;  // since the last tail
  std::optional<unsigned> align_log2_;
  std::set<uint64_t> dead_ends_;
  uint64_t indexed_records_ = 0;
  uint64_t budget_;  // bytes that may still be looked at in searches
};

}  // namespace dolium::shardpack
