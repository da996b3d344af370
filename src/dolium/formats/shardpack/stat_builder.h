// StatBuilder: what STAT says of records, from one after another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dolium/base/xxh64.h"
#include "dolium/formats/shardpack/encode.h"
#include "dolium/formats/shardpack/sections.h"

namespace dolium::shardpack {

// Holds nothing of the records but the last key and the columns of the first.
class StatBuilder {
 public:
  // The next record.
  void Add(const EncodedRecord& record);

  uint64_t records() const { return records_; }
  // So far. Keys are said to be unique if their order shows it.
  Stat stat() const;

 private:
  void AddEntries(const EncodedRecord& record);

  uint64_t records_ = 0;
  Xxh64Stream keys_digest_;
  std::string last_key_;
  std::vector<EntryColumn> columns_;  // of the first record
  Stat stat_{.keys_ascending = true, .all_plain = true, .is_regular = true};
};

}  // namespace dolium::shardpack
