// TailBuilder: learns of records as they are written, and gives the tail of their shard.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dolium/base/bytes.h"
#include "dolium/formats/shardpack/encode.h"
#include "dolium/formats/shardpack/key_index.h"
#include "dolium/formats/shardpack/sections.h"
#include "dolium/formats/shardpack/stat_builder.h"

namespace dolium::shardpack {

enum class Wanted : uint8_t { kNo, kYes, kAuto };

struct TailOptions {
  bool stat = true;
  bool key_index = true;
  bool keys = false;
  Wanted entry_index = Wanted::kAuto;  // where the mean record exceeds 64 KiB
  bool metadata = true;
};

// Holds some 24 bytes for each record, and 24 more for each entry while an entry index
// may be wanted.
class TailBuilder {
 public:
  explicit TailBuilder(TailOptions options) : options_(options) {}

  // The next record, which begins where the one before ended.
  void Add(const EncodedRecord& record);

  uint64_t record_count() const { return offsets_.size(); }
  uint64_t index_offset() const { return end_; }
  // Whether keys are unique is known once the tail was built.
  Stat stat() const;
  // The names and types of the first record, if all have the same.
  const std::vector<EntryColumn>& columns() const { return columns_; }

  // All behind the last record. `metadata` is the text of META.
  ByteVector Build(unsigned align_log2, const std::string& metadata);

 private:
  void AddEntries(const EncodedRecord& record, uint64_t offset);
  bool WantsEntryIndex() const;

  TailOptions options_;
  std::vector<uint64_t> offsets_;
  std::vector<KeyHash> hashes_;
  ByteVector keys_;
  uint64_t end_ = 0;
  StatBuilder stat_;
  bool are_hashes_unique_ = false;

  // For the entry index.
  std::vector<EntryColumn> columns_;
  std::map<std::pair<std::string, std::string>, uint32_t> column_numbers_;
  std::vector<uint64_t> first_entries_{0};
  std::vector<EntryLocation> places_;
  bool keeps_places_ = true;

  std::vector<DictionaryLocation> dictionaries_;
};

}  // namespace dolium::shardpack
