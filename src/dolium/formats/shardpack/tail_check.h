// TailCheck: what the sections of a shard say, against what its records are.
//
// Records are added one by one as they are read, and not kept: digests of what they are
// must be those of the sections. So memory does not grow with their number, but for eight
// bytes of each where the caller wants it, and the sections may come before the records
// or, from a pipe, after them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/base/xxh64.h"
#include "dolium/formats/shardpack/encode.h"
#include "dolium/formats/shardpack/key_index.h"
#include "dolium/formats/shardpack/sections.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/formats/shardpack/stat_builder.h"

namespace dolium::shardpack {

// Where the entries of records lie and which they are, of one record after another, as a
// digest.
class EntryDigest {
 public:
  void Add(const EntryLocation& location, const EntryColumn& column);
  // All entries of a record were added.
  void EndRecord();
  uint64_t value() const { return digest_.value(); }

 private:
  Xxh64Stream digest_;
  ByteVector record_;
};

// One thread at a time.
class TailCheck {
 public:
  // `keeps_hashes`: eight bytes of each record, which are needed where STAT says that
  // keys are unique and neither their order nor KEYX shows it.
  explicit TailCheck(bool keeps_hashes) : keeps_hashes_(keeps_hashes) {}
  // Whether that will be needed for this shard.
  static Result<bool> NeedsHashes(const Shard& shard);

  // Every record, in order.
  void Add(const EncodedRecord& record);

  // Calls `report` for each section of the shard that is damaged, or, where
  // `are_all_added`, wrong about the records. Precondition: the directory is good. Fails
  // only if sections cannot be read for another reason than damage.
  using Reporter = std::function<void(const Section& section, const Error& error)>;
  Result<void> Report(const Shard& shard, bool are_all_added, const Reporter& report);

 private:
  // What is wrong with a section; nullopt if nothing is.
  std::optional<Error> Check(const Shard& shard, const Section& section,
                             const Bytes& body) const;
  std::optional<Error> CheckStat(const Bytes& body) const;
  std::optional<Error> CheckKeyIndex(const Shard& shard, const Bytes& body) const;
  std::optional<Error> CheckEntryIndex(const Shard& shard, const Bytes& body) const;
  std::optional<Error> CheckDictionaries(const Shard& shard, const Bytes& body) const;

  const bool keeps_hashes_;
  bool are_all_added_ = false;
  std::vector<uint64_t> hashes_;
  KeyHashSum key_sum_;
  EntryDigest entries_;
  uint64_t end_ = 0;  // of the last record
  StatBuilder stat_;
  std::vector<EntrySummary> first_record_;
  // Of the shard that is reported on: whether its KEYX shows that keys are unique, or is
  // wrong and shows nothing.
  std::optional<bool> key_index_allows_unique_;
};

}  // namespace dolium::shardpack
