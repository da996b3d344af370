// CachedStore: a remote store whose bytes are kept in a local folder.
//
// Reads of ranges are kept in blocks of 64 KiB, reads of whole objects as such, each
// bound to the generation it was read at. What a store gives no generation for is not
// kept. A small read fetches the one or two blocks it lies in and never more; missing
// blocks that follow each other are fetched together.
//
// How fresh it is: Stat() always asks the store. Reads ask it, by one Stat(), for what
// the generation of the object is, unless this was asked within `max_age`. Then blocks of
// that generation are taken from the folder, and only others from the store. So a read
// delivers bytes of one generation, as from any store, which was current at most
// `max_age` ago.
//
// Offline, the store is never asked: objects are what they were when they were last asked
// for, absent ones too, and reading what is not kept is kUnavailable.
//
// A server that does not answer ranges is asked for the whole object once, by a plain
// GET, and its blocks are kept.
//
// Writes, removals, locks and listings go to the store. All methods may be called from
// many threads; processes may share a folder (see cache_folder.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dolium/base/lru_cache.h"
#include "dolium/bytes/cache_folder.h"
#include "dolium/bytes/store.h"

namespace dolium {

struct CacheOptions {
  static constexpr uint64_t kDefaultLimit = 10'000'000'000;
  static constexpr uint64_t kMinLimit = uint64_t{1} << 20;

  std::string folder;
  uint64_t limit = kDefaultLimit;  // bytes, of all that the folder keeps
  bool offline = false;
  std::chrono::milliseconds max_age = std::chrono::seconds(10);

  friend bool operator==(const CacheOptions&, const CacheOptions&) = default;
};

// `DIR`, `DIR,20GB`, `DIR,20GB,offline`, `DIR,offline`. kInvalidArgument if there is no
// folder or the limit is below kMinLimit.
Result<CacheOptions> ParseCacheOptions(std::string_view text);

class CachedStore final : public Store {
 public:
  static constexpr uint64_t kBlock = uint64_t{64} << 10;

  // `scope` is what the names of `store` are relative to, secrets included: two stores
  // with one scope hold the same objects.
  static Result<std::shared_ptr<CachedStore>> Open(std::shared_ptr<Store> store,
                                                   std::string_view scope,
                                                   const CacheOptions& options);

  std::string Describe(std::string_view object) const override;
  Result<std::optional<ObjectInfo>> Stat(std::string_view object) const override;
  Result<void> List(std::string_view folder, const ListVisitor& visit) const override;
  Result<ObjectInfo> ReadInto(std::string_view object, std::span<const ReadSlice> slices,
                              const ReadOptions& options) const override;
  Result<WholeObject> ReadWhole(std::string_view object, uint64_t limit) const override;
  Result<Suffix> ReadSuffix(std::string_view object, uint64_t length) const override;
  Result<std::unique_ptr<ObjectWriter>> Begin(std::string_view object) override;
  Result<void> Remove(std::string_view object, const Precondition& precondition) override;
  Result<std::shared_ptr<void>> LockForRewrite(std::string_view object,
                                               bool wait = true) override;
  Result<size_t> RemoveStaleTemporaries(std::string_view folder) override;

 private:
  class Writer;
  struct Segment;
  struct Known {
    ObjectInfo info;
    std::chrono::steady_clock::time_point asked;
  };
  // What was last heard of an object. Kept in the folder.
  struct Record {
    std::optional<ObjectInfo> info;   // as Stat() had it
    std::optional<ObjectInfo> whole;  // as ReadWhole() had it: the size may be another

    bool Is(const Record& other) const;
  };

  CachedStore(std::shared_ptr<Store> store, std::string_view scope,
              const CacheOptions& options, std::shared_ptr<CacheFolder> folder)
      : store_(std::move(store)),
        scope_(scope),
        options_(options),
        folder_(std::move(folder)) {}

  // kUnavailable: `<object>: <what> not in the cache <folder>, ... offline`.
  Error NotKept(std::string_view object, std::string_view what) const;

  // The object as it is, or was within max_age; nullopt if there is none. `is_fresh` says
  // whether the store was asked right now.
  Result<std::optional<ObjectInfo>> LookUp(std::string_view object, bool& is_fresh) const;
  void Forget(std::string_view object) const { known_.Forget(object); }
  // After a change of our own.
  void ForgetChanged(std::string_view object) const {
    ++changes_;
    Forget(object);
  }
  // Notes what the store answered when it was asked; `changes` is from before that.
  void Note(std::string_view object, const std::optional<ObjectInfo>& info,
            uint64_t changes) const;
  std::optional<Record> ReadRecord(std::string_view object) const;
  void WriteRecord(std::string_view object, const Record& record) const;

  // Fills slices that lie within the object, from one generation: kConflict if the store
  // has another by now.
  Result<void> Fill(std::string_view object, const ObjectInfo& info,
                    std::span<const ReadSlice> slices) const;
  Result<void> Fetch(std::string_view object, const ObjectInfo& info,
                     std::span<Segment> missing) const;
  // For servers that answer no ranges: reads the whole object once and keeps its blocks.
  // `why` is the error of the ranged read, which stands if that does not help.
  Result<void> FetchWhole(std::string_view object, const Error& why) const;
  void KeepBlock(std::string_view object, const Generation& generation, uint64_t block,
                 BytesView bytes) const;

  std::string RecordKey(std::string_view object) const;
  std::string WholeKey(std::string_view object, const Generation& generation) const;
  std::string BlockKey(std::string_view object, const Generation& generation,
                       uint64_t block) const;

  const std::shared_ptr<Store> store_;
  const std::string scope_;
  const CacheOptions options_;
  const std::shared_ptr<CacheFolder> folder_;
  static constexpr size_t kMostKnown = 16384;
  mutable LruCache<std::string, Known> known_{kMostKnown};
  mutable std::atomic<uint64_t> changes_ = 0;
};

}  // namespace dolium
