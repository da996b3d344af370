#include "dolium/formats/neuroglancer/sharded_container.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/formats/neuroglancer/piece_sources.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::neuroglancer {
namespace {

// Without a listing, every shard that may be there is asked for: up to this many.
constexpr unsigned kMaxProbedShardBits = 16;
constexpr size_t kProbesAtOnce = 16;

// Minishard indexes read by one call during a scan.
constexpr size_t kMinishardsAtOnce = 256;
constexpr uint64_t kMinishardBytesAtOnce = uint64_t{8} << 20;

bool IsShardName(std::string_view name) {
  return name.ends_with(".shard") || name.ends_with(".index");
}

std::string_view Stem(std::string_view path) {
  const std::string_view name = BaseName(path);
  return name.substr(0, name.rfind('.'));
}

}  // namespace

ShardedContainer::ShardedContainer(Location location, Location folder, ShardingInfo info,
                                   std::optional<std::string> only_shard, uint64_t cache_bytes)
    : location_(std::move(location)),
      folder_(std::move(folder)),
      info_(std::move(info)),
      only_shard_(std::move(only_shard)),
      codecs_(CodecsOf(info_.spec.data_encoding)),
      reader_(folder_, info_.spec, cache_bytes) {}

Properties ShardedContainer::properties() const {
  const ShardingSpec& spec = info_.spec;
  return {{"contents", std::string(ToString(info_.kind))},
          {"spec from", info_.source},
          {"hash", std::string(ToString(spec.hash))},
          {"preshift_bits", std::to_string(spec.preshift_bits)},
          {"minishard_bits", std::to_string(spec.minishard_bits)},
          {"shard_bits", std::to_string(spec.shard_bits)},
          {"minishard_index_encoding", std::string(ToString(spec.minishard_index_encoding))},
          {"data_encoding", std::string(ToString(spec.data_encoding))}};
}

Result<std::optional<Entry>> ShardedContainer::Find(std::string_view key) const {
  DOLIUM_TRY(const uint64_t id, ParseKey(key));
  DOLIUM_TRY(auto chunk, only_shard_
                             ? reader_.LocateIn(ShardOfObject(*only_shard_).objects, id)
                             : reader_.Locate(id));
  if (!chunk) return std::nullopt;
  Entry entry;
  entry.key = std::string(key);
  if (info_.kind == Kind::kMesh) {
    const ChunkLocation location{id, chunk->range.offset, chunk->range.length};
    DOLIUM_TRY(const auto fragments,
               ReadFragmentBytes(reader_, *chunk->object, std::span(&location, 1)));
    entry.preceding = fragments.front();
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
    if (!is_folder && IsShardName(name)) objects.push_back(JoinPath(folder_.path, name));
    return true;
  }));
  std::ranges::sort(objects);
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

ShardedContainer::NamedShard ShardedContainer::ShardOfObject(std::string_view object) const {
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

// Visits the entries of one minishard; false ends the scan.
bool ShardedContainer::VisitMinishard(const Minishard& minishard, const ScanVisitor& visitor,
                                      Result<void>& result) const {
  std::vector<ChunkLocation> chunks;
  for (const ChunkLocation& chunk : minishard.chunks) {
    if (minishard.object_size == 0 || chunk.FitsIn(minishard.object_size)) {
      chunks.push_back(chunk);
      continue;
    }
    const Finding finding{
        .kind = "bounds",
        .object = store().Describe(minishard.object->name),
        .key = std::to_string(chunk.id),
        .range = ByteRange::Make(chunk.offset, chunk.length),
        .message = fmt::format("bytes at {}, {} long, do not lie within the object ({} bytes); "
                               "is the upload complete?",
                               chunk.offset, chunk.length, minishard.object_size)};
    if (!visitor.damage) {
      result = Corrupt(fmt::format("{}: chunk {}: {}", finding.object, chunk.id, finding.message));
      return false;
    }
    if (!visitor.damage(finding)) return false;
  }
  for (const ChunkLocation& chunk : chunks) {
    Entry entry;
    entry.key = std::to_string(chunk.id);
    if (info_.kind == Kind::kMesh) {
      const auto fragments =
          ReadFragmentBytes(reader_, *minishard.object, std::span(&chunk, 1));
      if (!fragments) {
        if (!visitor.damage) {
          result = fragments.error();
          return false;
        }
        if (!visitor.damage({.kind = "manifest",
                             .object = store().Describe(minishard.object->name),
                             .key = entry.key,
                             .range = chunk.range(),
                             .message = fragments.error().message})) {
          return false;
        }
        continue;
      }
      entry.preceding = fragments->front();
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
  const auto damage = [&](const Error& error) {
    return visitor.damage && visitor.damage({.kind = "index",
                                             .object = store().Describe(object),
                                             .key = "",
                                             .range = std::nullopt,
                                             .message = error.message});
  };
  std::vector<ShardReader::MinishardRow> rows;
  const auto index =
      reader_.ReadShardIndex(shard.objects, [&](uint64_t minishard, const ShardIndexRow& row) {
        if (!row.empty()) rows.push_back({minishard, row});
        return true;
      });
  if (!index) {
    if (index.error().code != ErrorCode::kCorrupt || !visitor.damage) return index.error();
    damage(index.error());
    return {};
  }
  size_t begin = 0;
  while (begin < rows.size()) {
    size_t end = begin;
    uint64_t bytes = 0;
    while (end < rows.size() && end - begin < kMinishardsAtOnce &&
           (end == begin || bytes < kMinishardBytesAtOnce)) {
      bytes += rows[end].row.end - rows[end].row.begin;
      ++end;
    }
    const auto minishards = reader_.ReadMinishards(
        shard.objects, *index, std::span(rows).subspan(begin, end - begin));
    for (const Result<Minishard>& minishard : minishards) {
      if (!minishard) {
        if (minishard.error().code != ErrorCode::kCorrupt || !visitor.damage) {
          return minishard.error();
        }
        if (!damage(minishard.error())) return {};
        continue;
      }
      Result<void> result;
      if (!VisitMinishard(*minishard, visitor, result)) return result;
    }
    begin = end;
  }
  return {};
}

Result<void> ShardedContainer::CheckObject(std::string_view object,
                                           const FindingVisitor& visitor) const {
  const NamedShard shard = ShardOfObject(object);
  return CheckShard(reader_, shard.objects, shard.number, info_.kind, visitor);
}

Result<void> ShardedContainer::Apply(std::span<const Change> changes) {
  return ApplyChanges(reader_, *folder_.store, info_.kind, changes);
}

}  // namespace dolium::neuroglancer
