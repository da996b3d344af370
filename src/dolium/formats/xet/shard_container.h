// A shard, or a folder of shards, as a container: each file is an entry, whose key is its
// hash and whose bytes lie in xorbs elsewhere.
//
// Xorbs that are not there do not hinder listing: entries that need them say their size,
// and reading them is kNotFound. Of files that are there twice, the first counts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/lru_cache.h"
#include "dolium/container/container.h"
#include "dolium/formats/xet/mdb_reader.h"
#include "dolium/formats/xet/merkle.h"
#include "dolium/formats/xet/xorb_folder.h"

namespace dolium::xet {

inline constexpr std::string_view kShardExtension = ".mdb";

// The hash that the name of a shard says it has: `<hash>.mdb`.
std::optional<Hash> ShardNameOf(std::string_view path);

class ShardContainer final : public Container {
 public:
  // `location` is a shard, or a folder with shards that are named by their hashes.
  ShardContainer(Location location, bool is_folder, std::unique_ptr<XorbFolder> xorbs);

  const Location& location() const override { return location_; }
  std::string_view format_name() const override;
  // Those of a folder are none.
  Properties properties() const override;

  Result<std::optional<Entry>> Find(std::string_view key) const override;

  // The shards.
  Result<std::vector<std::string>> Objects() const override;
  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override;
  // All that CheckShard() checks, and the name of the object if that is a hash.
  Result<void> CheckObject(std::string_view object,
                           const FindingVisitor& visitor) const override;

 private:
  // A shard in memory: in a map, its bytes could be gone at any time.
  struct Open {
    Bytes bytes;
    ShardView view;
  };
  Result<std::shared_ptr<const Open>> OpenShard(std::string_view object) const;
  Result<Entry> EntryOf(const FileBlock& file) const;
  // The part of an entry that is `term`, which `what` names; adds its chunks to `chunks`,
  // or resets that if the xorb is not there.
  Result<Extent> ExtentOfTerm(std::string_view what, const Term& term,
                              std::optional<MerkleBuilder>& chunks) const;

  const Location location_;
  const bool is_folder_;
  const std::unique_ptr<XorbFolder> xorbs_;
  // Those opened lately.
  static constexpr size_t kMaxOpen = 64;
  static constexpr uint64_t kMaxOpenBytes = uint64_t{256} << 20;
  mutable LruCache<std::string, Open> open_{kMaxOpen, kMaxOpenBytes};
};

}  // namespace dolium::xet
