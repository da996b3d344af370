#include "dolium/formats/neuroglancer/sharded_container.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/container/entry_error.h"
#include "dolium/formats/neuroglancer/chunk_sources.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::neuroglancer {
namespace {

// Without a listing, every shard that may be there is asked for: up to this many.
constexpr unsigned kMaxProbedShardBits = 16;
constexpr size_t kProbesAtOnce = 16;
// How often in a row a scan meets another generation before it has come further.
constexpr int kScanAttempts = 64;

bool IsShardName(std::string_view name) {
  return name.ends_with(".shard") || name.ends_with(".index");
}

std::string_view Stem(std::string_view path) {
  const std::string_view name = BaseName(path);
  return name.substr(0, name.rfind('.'));
}

}  // namespace

ShardedContainer::ShardedContainer(Location location, Location folder, ShardingInfo info,
                                   std::optional<std::string> only_shard,
                                   uint64_t cache_bytes)
    : location_(std::move(location)),
      folder_(std::move(folder)),
      info_(std::move(info)),
      only_shard_(std::move(only_shard)),
      codecs_(CodecsOf(info_.spec.data_encoding)),
      reader_(folder_, info_.spec, cache_bytes) {}

Properties ShardedContainer::properties() const {
  const ShardingSpec& spec = info_.spec;
  return {
      {"contents", std::string(ToString(info_.kind))},
      {"spec from", info_.source},
      {"hash", std::string(ToString(spec.hash))},
      {"preshift_bits", spec.preshift_bits},
      {"minishard_bits", spec.minishard_bits},
      {"shard_bits", spec.shard_bits},
      {"minishard_index_encoding", std::string(ToString(spec.minishard_index_encoding))},
      {"data_encoding", std::string(ToString(spec.data_encoding))}};
}

Result<std::optional<ChunkRef>> ShardedContainer::Locate(uint64_t id) const {
  if (!only_shard_) return reader_.Locate(id);
  return reader_.LocateIn(ShardOfObject(*only_shard_).objects, id);
}

Result<std::optional<Entry>> ShardedContainer::Find(std::string_view key) const {
  DOLIUM_TRY(const uint64_t id, ParseKey(key));
  DOLIUM_TRY(auto chunk, Locate(id));
  if (!chunk) return std::nullopt;
  Entry entry;
  entry.key = std::string(key);
  if (info_.kind == Kind::kMesh) {
    const ChunkLocation location{id, chunk->range.offset, chunk->range.length};
    DOLIUM_TRY(
        entry.preceding,
        ReadFragmentBytes(reader_, *chunk->object, std::span(&location, 1)).front());
  }
  if (codecs_.empty()) entry.size = chunk->range.length;
  entry.extents.push_back({std::move(chunk->object), chunk->range, codecs_});
  return entry;
}

Result<std::vector<std::string>> ShardedContainer::Objects() const {
  if (only_shard_) return std::vector<std::string>{*only_shard_};
  auto listed = ListShards();
  if (!listed && listed.error().code == ErrorCode::kUnsupported) return ProbeShards();
  return listed;
}

Result<std::vector<std::string>> ShardedContainer::ListShards() const {
  std::vector<std::string> objects;
  DOLIUM_TRY_VOID(store().List(folder_.path, [&](std::string_view name, bool is_folder) {
    if (!IsShardName(name)) return true;
    // A folder in the place of a shard is damage; others are not ours.
    if (is_folder && !info_.spec.ParseShardStem(Stem(name))) return true;
    objects.push_back(JoinPath(folder_.path, name));
    return true;
  }));
  std::ranges::sort(objects);
  // Where a shard is there in both forms, readers take the `.shard`.
  const std::vector<std::string> all = objects;
  std::erase_if(objects, [&](const std::string& object) {
    return object.ends_with(".index") &&
           std::ranges::binary_search(all,
                                      object.substr(0, object.size() - 6) + ".shard");
  });
  return objects;
}

Result<std::vector<std::string>> ShardedContainer::ProbeShards() const {
  if (info_.spec.shard_bits > kMaxProbedShardBits) {
    return Unsupported(fmt::format(
        "{}: this store cannot list, and 2^{} shards are too many to ask for one by one",
        folder_.Describe(), info_.spec.shard_bits));
  }
  const size_t count = size_t{1} << info_.spec.shard_bits;
  std::vector<std::string> objects(count);
  DOLIUM_TRY_VOID(ParallelFor(count, kProbesAtOnce, [&](size_t shard) -> Result<void> {
    DOLIUM_TRY(const auto found, reader_.FindShard(shard));
    if (found) objects[shard] = found->index;
    return {};
  }));
  std::erase(objects, "");
  return objects;
}

ShardedContainer::NamedShard ShardedContainer::ShardOfObject(
    std::string_view object) const {
  NamedShard shard;
  shard.number = info_.spec.ParseShardStem(Stem(object));
  shard.objects.index = std::string(object);
  if (object.ends_with(".index")) {
    shard.objects.body = std::string(object.substr(0, object.size() - 6)) + ".data";
  } else {
    shard.objects.body = shard.objects.index;
    shard.objects.body_base = info_.spec.shard_index_bytes();
  }
  return shard;
}

// Visits the entries of one minishard; false ends the scan. Nothing is visited if the
// result is kConflict.
bool ShardedContainer::VisitMinishard(const Minishard& minishard,
                                      const UnindexedBytes& unindexed,
                                      const ScanVisitor& visitor,
                                      Result<void>& result) const {
  std::vector<ChunkLocation> chunks;
  std::vector<ChunkLocation> outside;
  for (const ChunkLocation& chunk : minishard.chunks) {
    const bool fits = minishard.object_size == 0 || chunk.FitsIn(minishard.object_size);
    (fits ? chunks : outside).push_back(chunk);
  }
  std::vector<Result<uint64_t>> fragments;
  if (info_.kind == Kind::kMesh)
    fragments = ReadFragmentBytes(reader_, *minishard.object, chunks);
  for (const Result<uint64_t>& bytes : fragments) {
    if (bytes || bytes.error().code != ErrorCode::kConflict) continue;
    result = bytes.error();
    return false;
  }
  for (const ChunkLocation& chunk : outside) {
    const Finding finding{
        .kind = "bounds",
        .object = store().Describe(minishard.object->name),
        .key = std::to_string(chunk.id),
        .range = ByteRange::Make(chunk.offset, chunk.length),
        .message =
            fmt::format("bytes at {}, {} long, do not lie within the object ({} bytes); "
                        "is the upload complete?",
                        chunk.offset, chunk.length, minishard.object_size)};
    if (!visitor.damage) {
      result = Corrupt(
          fmt::format("{}: chunk {}: {}", finding.object, chunk.id, finding.message));
      return false;
    }
    if (!visitor.damage(finding)) return false;
  }
  for (size_t i = 0; i < chunks.size(); ++i) {
    const ChunkLocation& chunk = chunks[i];
    Entry entry;
    entry.key = std::to_string(chunk.id);
    if (info_.kind == Kind::kUnknown && chunk.length != 0) {
      entry.preceding = unindexed.Before(chunk.offset);
    }
    if (!fragments.empty()) {
      if (!fragments[i]) {
        if (!visitor.damage) {
          result = fragments[i].error();
          return false;
        }
        if (!visitor.damage(
                ErrorFinding("manifest", store().Describe(minishard.object->name),
                             entry.key, chunk.range(), fragments[i].error()))) {
          return false;
        }
        continue;
      }
      entry.preceding = *fragments[i];
    }
    if (codecs_.empty()) entry.size = chunk.length;
    entry.extents.push_back({minishard.object, chunk.range(), codecs_});
    if (!visitor.entry(entry)) return false;
  }
  return true;
}

Result<void> ShardedContainer::ScanObject(std::string_view object,
                                          const ScanVisitor& visitor) const {
  const NamedShard shard = ShardOfObject(object);
  const auto report = [&](const Error& error, std::optional<ByteRange> range) {
    return visitor.damage(
        ErrorFinding("index", store().Describe(object), "", range, error));
  };
  const auto is_damage = [&](const Error& error) {
    return error.code == ErrorCode::kCorrupt && visitor.damage;
  };
  uint64_t next = 0;  // the first minishard that has not been visited
  const auto scan = [&]() -> Result<void> {
    Result<UnindexedBytes> unindexed = UnindexedBytes();
    std::optional<Generation> generation;
    if (info_.kind == Kind::kUnknown) {
      unindexed = UnindexedBytes::Find(reader_, shard.objects);
      if (unindexed) generation = unindexed->generation();
    }
    Result<void> result;
    const auto visit = [&](const ShardReader::MinishardRow& row,
                           Result<Minishard> minishard) {
      bool go_on = false;
      if (minishard) {
        go_on = VisitMinishard(*minishard, *unindexed, visitor, result);
      } else if (is_damage(minishard.error())) {
        go_on = report(minishard.error(), shard.objects.RangeOf(row.row));
      } else {
        result = minishard.error();
      }
      if (result) next = row.minishard + 1;
      return go_on;
    };
    const auto scanned =
        !unindexed ? Result<ObjectInfo>(unindexed.error())
                   : ScanMinishards(reader_, shard.objects, generation, visit, next);
    if (!scanned) {
      if (!is_damage(scanned.error())) return scanned.error();
      report(scanned.error(), ByteRange{0, info_.spec.shard_index_bytes()});
    }
    return result;
  };
  // Keys stay in their minishards: of a shard that is replaced meanwhile, those that have
  // not been visited yet are read from the new one.
  int attempts = 0;
  while (true) {
    const uint64_t before = next;
    auto scanned = scan();
    if (scanned) return scanned;
    if (scanned.error().code == ErrorCode::kNotFound) {
      // A shard that loses its last chunk is removed.
      const auto now = store().Stat(object);
      if (now && !*now && !only_shard_) return {};
    }
    if (scanned.error().code != ErrorCode::kConflict) return scanned;
    attempts = next > before ? 0 : attempts + 1;
    if (attempts == kScanAttempts) return scanned;
  }
}

Result<void> ShardedContainer::CheckObject(std::string_view object,
                                           const FindingVisitor& visitor) const {
  const NamedShard shard = ShardOfObject(object);
  return CheckShard(reader_, shard.objects, shard.number, info_.kind, visitor);
}

Result<void> ShardedContainer::Apply(std::span<const Change> changes,
                                     const ChangeOptions& options) {
  if (only_shard_) {
    const NamedShard only = ShardOfObject(*only_shard_);
    if (!only.number) {
      return Unsupported(fmt::format(
          "{}: no shard of this spec has this name, so it cannot be changed by key",
          store().Describe(*only_shard_)));
    }
    for (const Change& change : changes) {
      DOLIUM_TRY(const uint64_t id, ParseKey(change.key));
      const uint64_t shard = info_.spec.LocationOf(id).shard;
      if (shard == *only.number) continue;
      return InvalidArgument(fmt::format("{}: chunk {} belongs into {}.shard",
                                         store().Describe(*only_shard_), id,
                                         info_.spec.ShardStem(shard)));
    }
  }
  return ApplyChanges(reader_, *folder_.store, info_.kind, changes, options);
}

void ShardedContainer::Forget(std::string_view key) const {
  if (const auto id = ParseKey(key)) reader_.Forget(*id);
}

}  // namespace dolium::neuroglancer
