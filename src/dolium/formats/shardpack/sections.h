// The sections of a shard's tail: what they say, read and written. key_index.h has KEYX.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/byte_range.h"
#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium::shardpack {

// STAT: the shard in numbers.
struct Stat {
  uint64_t entries = 0;
  uint64_t raw_bytes = 0;
  uint64_t stored_bytes = 0;
  uint64_t min_record = 0;
  uint64_t max_record = 0;
  uint64_t keys_digest = 0;  // equal for shards with the same keys in the same order
  bool keys_unique = false;  // false also where that is not known
  bool keys_ascending = false;
  bool all_plain = false;  // no entry is compressed or chunked
  // Every record has the same names and types, in order; aux entries do not count.
  bool is_regular = false;
  bool has_parts = false;  // samples that were too large for one record
  uint64_t largest_raw = 0;

  friend bool operator==(const Stat&, const Stat&) = default;
};
Result<Stat> ParseStat(BytesView body);
ByteVector WriteStat(const Stat& stat);

// KEYS: calls visit(number, key) for each record. kCorrupt unless there are `count`.
Result<void> VisitKeys(BytesView body, uint64_t count,
                       const std::function<void(uint64_t, std::string_view)>& visit);

// ENTX: where entries lie, so that some of every record can be read without the others.
struct EntryColumn {
  std::string name;
  std::string content_type;

  friend bool operator==(const EntryColumn&, const EntryColumn&) = default;
};
struct EntryLocation {
  // As the section says, and no more: whether they lie in the record is to be seen.
  uint64_t offset = 0;  // of the entry's header, in the file
  uint64_t length = 0;  // to the end of its content
  uint32_t column = 0;
};
class EntryIndex {
 public:
  static Result<EntryIndex> Parse(Bytes body, uint64_t count);

  const std::vector<EntryColumn>& columns() const { return columns_; }
  // The entries of a record, in order; aux ones are left out. Precondition: record <
  // count.
  std::vector<EntryLocation> EntriesOf(uint64_t record) const;

 private:
  static Result<EntryIndex> ParseIn(Bytes body, uint64_t count);

  Bytes body_;
  std::vector<EntryColumn> columns_;
  bool is_regular_ = false;
  BytesView first_;  // count + 1 numbers, unless regular
  BytesView rows_;
};
ByteVector WriteEntryIndex(const std::vector<EntryColumn>& columns, bool is_regular,
                           const std::vector<uint64_t>& first,
                           const std::vector<EntryLocation>& places);

// ZDIC: where the dictionaries lie.
struct DictionaryLocation {
  uint32_t id = 0;
  ByteRange range;  // from the entry's header to the end of its content, in the file
};
Result<std::vector<DictionaryLocation>> ParseDictionaryLocations(BytesView body);
ByteVector WriteDictionaryLocations(const std::vector<DictionaryLocation>& places);

}  // namespace dolium::shardpack
