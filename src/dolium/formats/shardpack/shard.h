// Shard: one finished ShardPack file, open for reading.
//
// A local file is mapped: records are views into it. Elsewhere, the end is read once (one
// request, two if the index is large), and records by ranges of exactly their bytes.
// Const methods may be called from many threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dolium/base/byte_range.h"
#include "dolium/base/bytes.h"
#include "dolium/base/once.h"
#include "dolium/base/result.h"
#include "dolium/bytes/guarded_map.h"
#include "dolium/bytes/location.h"
#include "dolium/formats/shardpack/content.h"
#include "dolium/formats/shardpack/key_index.h"
#include "dolium/formats/shardpack/record.h"
#include "dolium/formats/shardpack/sections.h"
#include "dolium/formats/shardpack/tail.h"

namespace dolium::shardpack {

struct ShardOptions {
  Check check = Check::kFull;
  // Local files are mapped. Of a file that somebody cuts short meanwhile, reads are
  // kConflict; views into it that were handed out before show zeros (see CheckMap).
  // False: read as others are.
  bool map = true;
  // How much of the end of a remote object is read at first.
  uint64_t tail_bytes = uint64_t{64} << 10;
  // Up to this size the key index of a remote object is read whole; of a larger one,
  // windows.
  uint64_t key_index_bytes = uint64_t{8} << 20;
  uint64_t raw_limit = kDefaultRawLimit;
  uint64_t ratio_limit = kDefaultRatioLimit;
};

class Shard {
 public:
  // Kinds of errors: those of ParseFooter and CheckIndex, and kNotShardPack.
  static Result<std::shared_ptr<const Shard>> Open(const Location& location,
                                                   const ShardOptions& options = {});

  // A shard of which just the end is at hand, from its index on, because it came from a
  // pipe: its records cannot be read. `name` stands for it in messages.
  static Result<std::shared_ptr<const Shard>> OpenTail(const std::string& name,
                                                       uint64_t file_size, Bytes tail);

  const Location& location() const { return location_; }
  std::string Describe() const { return location_.Describe(); }
  const Generation& generation() const { return generation_; }
  const ShardOptions& options() const { return options_; }
  // The whole file; empty unless it is mapped.
  BytesView mapped() const { return map_; }
  const Footer& footer() const { return footer_; }

  // How many records there are.
  uint64_t size() const { return footer_.record_count; }
  // Precondition: number < size().
  uint64_t offset(uint64_t number) const;
  ByteRange range(uint64_t number) const;
  // The record that begins at `offset`; nullopt if none does.
  std::optional<uint64_t> NumberAt(uint64_t offset) const;

  // kInvalidArgument if there is no such record. Errors name shard, number and key.
  Result<Record> Read(uint64_t number) const;
  // Several at once, with as few requests as the store can make of them. Each has its own
  // result.
  std::vector<Result<Record>> ReadMany(std::span<const uint64_t> numbers) const;
  // The same for files of these names alone: of a remote record with an entry index, no
  // more is read than they and its header take, where that spares much. Such a Record has
  // no other entries, and its block() is not the whole.
  std::vector<Result<Record>> ReadManyOf(std::span<const uint64_t> numbers,
                                         std::span<const std::string> names) const;
  // The block as it is, unparsed; or several that follow one another, in one read.
  Result<Bytes> ReadBlock(uint64_t number) const { return ReadBlocks(number, 1); }
  Result<Bytes> ReadBlocks(uint64_t first, uint64_t count) const;
  // Blocks [begin, end) one by one, with large reads, until `visit` fails.
  Result<void> VisitBlocks(
      uint64_t begin, uint64_t end,
      const std::function<Result<void>(uint64_t number, const Bytes& block)>& visit)
      const;
  // Whether reads cost no more than the memory they touch.
  bool is_mapped() const { return !map_.empty(); }
  // kConflict if the file has become shorter, or could not be read, since it was mapped:
  // what views into it showed since may be zeros. Whoever looked at blocks, keys or
  // stored contents asks before anything is made of it; what is copied out by a method of
  // this class is checked already.
  Result<void> CheckMap() const {
    if (HasLostBytes(map_)) return LostError();
    return {};
  }
  // Bytes of the file. Precondition: they lie within.
  Result<Bytes> ReadBytes(ByteRange range) const;

  // The first record with that key; nullopt if there is none.
  Result<std::optional<uint64_t>> Find(std::string_view key) const;
  // All of them: parts of one sample, or keys that are not unique.
  Result<std::vector<uint64_t>> FindAll(std::string_view key) const;

  // The keys of all records in order: from KEYS, or from their headers. Without KEYX,
  // Find goes through them once.
  Result<void> VisitKeys(
      const std::function<bool(uint64_t, std::string_view)>& visit) const;

  // Sections. A directory that is damaged gives its error for all of them.
  const Result<std::vector<Section>>& sections() const { return sections_; }
  // nullopt if there is none of that tag.
  Result<std::optional<Bytes>> ReadSection(std::string_view tag) const;
  // nullopt if there is none, or it is damaged.
  const std::optional<Stat>& stat() const { return stat_; }
  // The members of META; empty if there is none.
  Result<nlohmann::ordered_json> metadata() const;
  // How to read contents: limits, checks and dictionaries of this shard.
  Result<ContentOptions> content_options() const;

  // The entries of the record that have these names: found[i] for names[i], its name
  // empty if there is none. Looks at no more of the record than it takes. `block` is the
  // record. Returns its key. Errors name shard, number and key.
  Result<std::string_view> Pick(uint64_t number, BytesView block,
                                std::span<const std::string> names,
                                std::span<EntryHeader> found) const;

  // Contents, whichever way they are compressed. Errors name shard, number, key, entry.
  Result<Bytes> Content(uint64_t number, const Record& record,
                        const EntryHeader& entry) const;
  Result<void> ContentInto(uint64_t number, const Record& record,
                           const EntryHeader& entry, MutableBytes into) const;

 private:
  Shard(Location location, ShardOptions options)
      : location_(std::move(location)), options_(options) {}

  Result<void> OpenMapped();
  Result<void> OpenByRanges();
  Result<void> ParseTail(const Bytes& tail);  // the last bytes of the object
  Result<void> LoadIndex();
  Result<void> LoadSections();
  Result<const KeyIndex*> Keys() const;
  Result<KeyIndex> LoadKeys() const;
  // nullptr if there is none, or it is damaged.
  Result<const EntryIndex*> Entries() const;
  Result<Dictionaries> LoadDictionaries() const;
  // By ZDIC; nullopt if that does not say.
  Result<std::optional<Dictionaries>> LoadListedDictionaries() const;
  Result<void> VisitKeysOfRecords(
      const std::function<bool(uint64_t, std::string_view)>& visit) const;
  Result<Record> Parse(uint64_t number, Bytes block) const;
  Result<void> CheckAlignment(const RecordHeader& header) const;
  Error InRecord(Error error, uint64_t number) const;
  Error LostError() const;
  // Whether it is in the end of the object that was read first.
  bool IsKept(ByteRange range) const {
    return map_.empty() && range.offset >= footer_.file_size - kept_tail_.size();
  }

  Location location_;
  ShardOptions options_;
  Generation generation_;
  Bytes map_;        // the whole object, if mapped
  Bytes kept_tail_;  // the end of the object, otherwise
  Footer footer_;
  Bytes index_;
  Result<std::vector<Section>> sections_ = std::vector<Section>();
  std::optional<Stat> stat_;

  // The record that the last Find() of a remote shard read to compare its key: most
  // callers read it next.
  struct FoundBlock {
    uint64_t number = 0;
    Bytes block;
  };
  void KeepFound(uint64_t number, const Bytes& block) const;
  std::optional<Bytes> TakeFound(uint64_t number) const;

  mutable std::mutex found_mutex_;
  mutable std::optional<FoundBlock> found_;

  Once<KeyIndex> keys_;
  Once<std::optional<EntryIndex>> entries_;
  Once<Dictionaries> dictionaries_;
};

// Whether the bytes are wrong, and not just out of reach for now.
inline bool IsDamage(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kUnsupported;
}

// Whether the object at `location` ends or begins like a ShardPack.
Result<bool> LooksLikeShard(const Location& location);

}  // namespace dolium::shardpack
