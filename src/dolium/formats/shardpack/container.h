// A shard, or a folder of shards, as a container: every file of every sample is an entry
// `<key of the sample>/<name of the file>`.
//
// Tombstones and aux entries are none. Of keys that are there twice, the first counts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/base/lru_cache.h"
#include "dolium/container/container.h"
#include "dolium/formats/shardpack/shard.h"

namespace dolium::shardpack {

class PackContainer final : public Container {
 public:
  // `location` is a shard, or a folder with shards in it.
  PackContainer(Location location, bool is_folder)
      : location_(std::move(location)), is_folder_(is_folder) {}

  const Location& location() const override { return location_; }
  std::string_view format_name() const override;
  Properties properties() const override;

  // Which of the slashes ends the sample's key, the shards decide: the last is tried
  // first.
  Result<std::optional<Entry>> Find(std::string_view key) const override;

  // The shards.
  Result<std::vector<std::string>> Objects() const override;
  // Of a remote shard with large records, reads their headers alone.
  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override;
  // All that VerifyShard checks but contents.
  Result<void> CheckObject(std::string_view object,
                           const FindingVisitor& visitor) const override;

 private:
  Result<std::shared_ptr<const Shard>> OpenShard(std::string_view object) const;
  Result<std::optional<Entry>> FindIn(const Shard& shard, std::string_view sample,
                                      std::string_view name) const;

  const Location location_;
  const bool is_folder_;
  // Those opened lately.
  static constexpr size_t kMaxOpen = 256;
  mutable LruCache<std::string, Shard> open_{kMaxOpen};
};

}  // namespace dolium::shardpack
