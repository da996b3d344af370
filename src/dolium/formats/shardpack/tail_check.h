// TailCheck: what the sections of a shard say, against what its records are.
//
// Records are compared one by one as they are read, and not kept: memory does not grow
// with their number, but for sections that are compressed, and for eight bytes of each
// where STAT says that keys are unique and neither their order nor KEYX shows it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/formats/shardpack/encode.h"
#include "dolium/formats/shardpack/key_index.h"
#include "dolium/formats/shardpack/sections.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/formats/shardpack/stat_builder.h"

namespace dolium::shardpack {

class TailCheck {
 public:
  // Precondition: the directory of the shard, which must outlive it, is good. Fails only
  // if sections cannot be read for another reason than damage.
  static Result<std::unique_ptr<TailCheck>> Make(const Shard& shard);

  // Of every record, in any order and from many threads.
  void Compare(uint64_t number, const EncodedRecord& record);
  // Of every record, in order, one thread at a time.
  void Add(const EncodedRecord& record);

  // Calls `report` for each section that is damaged, or, where `are_all_compared`, wrong
  // about the records.
  using Reporter = std::function<void(const Section& section, const Error& error)>;
  Result<void> Report(bool are_all_compared, const Reporter& report);

 private:
  explicit TailCheck(const Shard& shard) : shard_(shard) {}

  Result<void> Load();
  // What is wrong with a section; nullopt if nothing is.
  std::optional<Error> Check(const Section& section, const Bytes& body,
                             bool are_all_compared);
  std::optional<Error> CheckStat(const Bytes& body, bool are_all_compared);
  std::optional<Error> CheckDictionaries(const Bytes& body, bool are_all_compared) const;

  const Shard& shard_;
  std::optional<KeyIndexCheck> key_index_;
  std::optional<EntryIndex> entry_index_;
  bool keeps_hashes_ = false;
  std::vector<uint64_t> hashes_;
  StatBuilder stat_;
  std::vector<EntrySummary> first_record_;
  std::atomic<uint64_t> wrong_keys_ = 0;
  std::atomic<uint64_t> wrong_places_ = 0;
};

}  // namespace dolium::shardpack
