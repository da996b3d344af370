// The sharded format as a Container: a folder of shards, or a single shard.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/container/container.h"
#include "dolium/container/format.h"
#include "dolium/container/index_cache.h"
#include "dolium/formats/neuroglancer/info.h"
#include "dolium/formats/neuroglancer/shard_reader.h"
#include "dolium/formats/neuroglancer/unindexed_bytes.h"

namespace dolium::neuroglancer {

class ShardedContainer : public Container, public IndexCache {
 public:
  // `only_shard` names the object if the location is one shard rather than a folder.
  ShardedContainer(Location location, Location folder, ShardingInfo info,
                   std::optional<std::string> only_shard, uint64_t cache_bytes);

  const Location& location() const override { return location_; }
  const Location& folder() const override { return folder_; }
  std::string_view format_name() const override { return "neuroglancer"; }
  Properties properties() const override;
  Result<std::optional<Entry>> Find(std::string_view key) const override;
  Result<std::vector<std::string>> Objects() const override;
  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override;
  Result<void> CheckObject(std::string_view object,
                           const FindingVisitor& visitor) const override;
  Result<void> Apply(std::span<const Change> changes,
                     const ChangeOptions& options = {}) override;
  void Forget(std::string_view key) const override;

  // For hot paths.
  const ShardReader& reader() const { return reader_; }
  // As ShardReader::Locate(), in the only shard if the container is one.
  Result<std::optional<ChunkRef>> Locate(uint64_t id) const;
  const ShardingInfo& info() const { return info_; }

 private:
  // The shard that an object of Objects() is, and where its bytes are.
  struct NamedShard {
    std::optional<uint64_t> number;  // nullopt: no shard of this spec has that name
    ShardObjects objects;
  };
  NamedShard ShardOfObject(std::string_view object) const;

  Result<std::vector<std::string>> ListShards() const;
  Result<std::vector<std::string>> ProbeShards() const;
  bool VisitMinishard(const Minishard& minishard, const UnindexedBytes& unindexed,
                      const ScanVisitor& visitor, Result<void>& result) const;

  const Location location_;
  const Location folder_;
  const ShardingInfo info_;
  const std::optional<std::string> only_shard_;
  const CodecChain codecs_;
  const ShardReader reader_;
};

// Checks one shard's index; what CheckObject does.
Result<void> CheckShard(const ShardReader& reader, const ShardObjects& objects,
                        std::optional<uint64_t> shard, Kind kind,
                        const FindingVisitor& visitor);

// Rewrites the shards that `changes` touch; what Apply does.
Result<void> ApplyChanges(const ShardReader& reader, Store& store, Kind kind,
                          std::span<const Change> changes, const ChangeOptions& options);

}  // namespace dolium::neuroglancer
