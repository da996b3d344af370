// ExportScale: one scale of an export, a folder of shards, found by block.
//
// A shard's name is the corner of its blocks in voxels, and all corners are multiples of
// one side, so that the shard of a block follows from names alone: no index is read
// before it is needed, and only as many are kept as memory is given. They share a cache
// of batches. Shards with other names are all asked. For a volume, a shard with blocks
// that belong into another by its name is refused, for they would be missed; `salvage`
// goes through all shards once and finds them. Const methods may be called from many
// threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/base/lru_cache.h"
#include "dolium/base/once.h"
#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/formats/dvid/shard.h"

namespace dolium::dvid {

inline constexpr uint64_t kDefaultIndexBytes = uint64_t{64} << 20;

// The object of an export that has its spec.
inline constexpr std::string_view kSpecName = "spec.json";
inline constexpr uint64_t kMaxSpecBytes = uint64_t{64} << 20;

class ExportScale {
 public:
  // A folder with shards in it, or one shard. kNotFound if there are none; kUnsupported
  // if the store cannot list, unless it is a shard, or `objects` says which there are.
  // With `volume_end`, it is a volume of the blocks before that; DVID puts others into
  // any shard.
  static Result<std::shared_ptr<const ExportScale>> Open(
      const Location& location, const ShardOptions& options,
      uint64_t index_bytes = kDefaultIndexBytes,
      const std::optional<Key>& volume_end = std::nullopt,
      std::optional<std::vector<std::string>> objects = std::nullopt);

  const Location& location() const { return location_; }
  const ShardOptions& options() const { return options_; }
  // Objects, in order of name.
  const std::vector<std::string>& objects() const { return objects_; }
  // Of those, in voxels. Nullopt if names do not say it.
  std::optional<int64_t> shard_side() const { return side_; }

  // kCorrupt, of kind "misplaced", if it is a volume and blocks of it belong into another
  // shard, unless `salvage`.
  Result<std::shared_ptr<const Shard>> OpenShard(const std::string& object) const;

  // What belongs into other shards, by the names of these. Of a volume, its blocks only.
  struct Misplaced {
    uint64_t count = 0;
    uint64_t of = 0;        // that are in the shard
    Key first = {0, 0, 0};  // as stored
    std::string Explain() const;
  };
  Misplaced MisplacedIn(const Shard& shard) const;

  struct Found {
    std::shared_ptr<const Shard> shard;
    size_t number = 0;
  };
  // By coordinates in blocks, or by the key as it is stored. Nullopt if it is not there.
  Result<std::optional<Found>> FindBlock(const Key& block) const;
  Result<std::optional<Found>> FindKey(const Key& key) const;

  // Half-open.
  struct BlockBox {
    Key begin = {0, 0, 0};
    Key end = {0, 0, 0};

    bool Contains(const Key& block) const;
  };
  // Boxes outside of which there is no block: those that names give, as long as that is a
  // close fit, else each block. Touches no index of the former.
  Result<void> VisitOccupied(
      const std::function<Result<void>(const BlockBox&)>& visit) const;
  // The blocks within a box, each once.
  Result<std::vector<Key>> BlocksWithin(const BlockBox& box) const;

  // One behind the greatest block coordinate along each axis. Looks into those shards
  // that can have it.
  Result<Key> BlockEnd() const;

 private:
  ExportScale(Location location, const ShardOptions& options, uint64_t index_bytes,
              const std::optional<Key>& volume_end)
      : location_(std::move(location)),
        options_(options),
        volume_end_(volume_end),
        open_(kMaxOpen, index_bytes) {}

  void LoadNames();
  bool IsInVolume(const Key& block) const;
  // The corner of the shard that a block belongs into; nullopt if there can be none.
  // Precondition of this and the next: names say it.
  std::optional<Key> CornerFor(const Key& block) const;
  // The object that can have a block; nullptr if none can.
  const std::string* ObjectOf(const Key& block) const;
  // The numbers of all objects that can have a block of the box where it belongs.
  std::vector<size_t> ObjectsTouching(const BlockBox& box) const;
  // The objects of blocks that are in none where they belong.
  Result<std::map<Key, size_t>> FindOrphans() const;

  const Location location_;
  const ShardOptions options_;
  const std::optional<Key> volume_end_;
  std::vector<std::string> objects_;
  std::map<Key, size_t> corners_;  // in voxels; numbers of objects
  std::optional<int64_t> side_;
  const std::shared_ptr<BatchCache> batches_ = std::make_shared<BatchCache>();
  Once<std::map<Key, size_t>> orphans_;  // numbers of objects, by block

  // However small their indexes are.
  static constexpr size_t kMaxOpen = 512;
  // Those read last, by object; they cost the bytes of their indexes.
  mutable LruCache<std::string, Shard> open_;
};

// n of `s<n>`, the name of a scale's folder; nullopt if it is none.
std::optional<size_t> ParseScaleName(std::string_view name);

// The scales of an export: `s0`, `s1`, ... in a folder, or one of these alone, or a shard
// of it; any other folder of shards is scale 0. By number; empty if it is no export.
// Touches only the listings. Where the store cannot list, the spec says which shards
// there can be, and all of them are asked for; kUnsupported without one.
struct ScaleFolder {
  size_t scale = 0;
  Location location;
  std::string prefix;  // of its keys: "s0/", or "" where there is just the one
  std::optional<std::vector<std::string>> objects = std::nullopt;  // where not listed
};
// The folder of an export that is named by its spec; any other location as it is.
Location ExportFolder(const Location& location);
Result<std::vector<ScaleFolder>> ListScales(const Location& location);

}  // namespace dolium::dvid
