// ExportScale: one scale of an export, a folder of shards, found by block.
//
// A shard's name is the corner of its blocks in voxels, and all corners are multiples of
// one side, so that the shard of a block is told by names alone: no index is read before
// it is needed, and only as many are kept as memory is given. They share a cache of
// batches. Shards with other names are all asked. Const methods may be called from many
// threads.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/formats/dvid/shard.h"

namespace dolium::dvid {

inline constexpr uint64_t kDefaultIndexBytes = uint64_t{64} << 20;

class ExportScale {
 public:
  // A folder with shards in it, or one shard. kNotFound if there are none; kUnsupported
  // if the store cannot list, unless it is a shard.
  static Result<std::shared_ptr<const ExportScale>> Open(
      const Location& location, const ShardOptions& options,
      uint64_t index_bytes = kDefaultIndexBytes);

  const Location& location() const { return location_; }
  const ShardOptions& options() const { return options_; }
  // Objects, in order of name.
  const std::vector<std::string>& objects() const { return objects_; }
  // Of those, in voxels. Nullopt if names do not tell.
  std::optional<int64_t> shard_side() const { return side_; }

  Result<std::shared_ptr<const Shard>> OpenShard(const std::string& object) const;

  struct Found {
    std::shared_ptr<const Shard> shard;
    size_t number = 0;
  };
  // By coordinates in blocks, or by the key as it is stored. Nullopt if it is not there.
  Result<std::optional<Found>> FindBlock(const Key& block) const;
  Result<std::optional<Found>> FindKey(const Key& key) const;

  // One behind the greatest block coordinate along each axis. Looks into those shards
  // that can have it.
  Result<Key> BlockEnd() const;

 private:
  ExportScale(Location location, const ShardOptions& options, uint64_t index_bytes)
      : location_(std::move(location)), options_(options), index_bytes_(index_bytes) {}

  void LearnNames();
  // The object that can have a block; nullptr if none can.
  const std::string* ObjectOf(const Key& block) const;

  const Location location_;
  const ShardOptions options_;
  const uint64_t index_bytes_;
  std::vector<std::string> objects_;
  std::map<Key, size_t> corners_;  // in voxels; numbers of objects
  std::optional<int64_t> side_;
  const std::shared_ptr<BatchCache> batches_ = std::make_shared<BatchCache>();

  struct Kept {
    std::string object;
    std::shared_ptr<const Shard> shard;
  };
  mutable std::mutex mutex_;
  mutable std::list<Kept>
      open_;  // the last used first. Guarded, like the next, by mutex_
  mutable std::map<std::string, std::list<Kept>::iterator, std::less<>> by_object_;
  mutable uint64_t open_bytes_ = 0;
};

// The scales of an export: `s0`, `s1`, ... in a folder, or that folder itself. By number;
// empty if it is no export. Touches only the listings.
struct ScaleFolder {
  size_t scale = 0;
  Location location;
  std::string prefix;  // of its keys: "s0/", or "" where there is just the one
};
Result<std::vector<ScaleFolder>> ListScales(const Location& location);

}  // namespace dolium::dvid
