#include "dolium/formats/neuroglancer/shard_reader.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/bytes/folder_check.h"

namespace dolium::neuroglancer {
namespace {

// Rows of the shard index that are read and cached together: 64 KiB.
constexpr uint64_t kRowsPerBlock = 4096;

// The most that is allocated on a shard's word, whatever size its object claims to have.
constexpr uint64_t kMaxMinishardBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxChunkBytes = uint64_t{4} << 30;

// How often a read is begun again because the shard was replaced under it.
constexpr int kAttempts = 64;

// Minishard indexes read by one call during a scan.
constexpr size_t kMinishardsAtOnce = 256;
constexpr uint64_t kMinishardBytesAtOnce = uint64_t{8} << 20;

// Batches below this are not worth a thread.
constexpr uint64_t kBytesPerThread = uint64_t{1} << 20;

bool IsConflict(const Error& error) { return error.code == ErrorCode::kConflict; }

Error PastTheEnd(ByteRange range, uint64_t size) {
  return Corrupt(
      fmt::format("bytes {} end past the object ({} bytes); is the upload complete?",
                  ToString(range), size));
}

}  // namespace

const ChunkLocation* Minishard::Find(uint64_t id) const {
  const auto found = std::ranges::lower_bound(chunks, id, {}, &ChunkLocation::id);
  return found != chunks.end() && found->id == id ? &*found : nullptr;
}

ShardReader::ShardReader(Location folder, const ShardingSpec& spec, uint64_t cache_bytes)
    : folder_(std::move(folder)),
      spec_(spec),
      local_(IsLocal(folder_)),
      index_blocks_(cache_bytes / 4),
      minishards_(cache_bytes - cache_bytes / 4) {}

ShardObjects ShardReader::ObjectsOf(uint64_t shard, bool pair) const {
  std::string stem = JoinPath(folder_.path, spec_.ShardStem(shard));
  if (pair) return {stem + ".index", stem + ".data", 0};
  stem += ".shard";
  return {stem, stem, spec_.shard_index_bytes()};
}

Result<std::optional<ShardObjects>> ShardReader::FindShard(uint64_t shard) const {
  for (const bool pair : {false, true}) {
    ShardObjects objects = ObjectsOf(shard, pair);
    DOLIUM_TRY(const auto info, store().Stat(objects.index));
    if (info) return objects;
    DOLIUM_TRY_VOID(CheckNoFolder(store(), objects.index));
  }
  return std::nullopt;
}

Result<ReadRangesResult> ShardReader::ReadIndex(const ShardObjects& objects,
                                                ByteRange range,
                                                const ReadOptions& options) const {
  auto read = store().ReadRanges(objects.index, std::span(&range, 1), options);
  if (!read && read.error().code == ErrorCode::kNotFound) {
    DOLIUM_TRY_VOID(CheckNoFolder(store(), objects.index));
  }
  return read;
}

Result<std::shared_ptr<const ShardReader::IndexBlock>> ShardReader::CachedIndexBlock(
    const ShardObjects& objects, uint64_t block) const {
  if (auto hit = index_blocks_.GetAny(objects.index, block)) return hit;
  const uint64_t first = block * kRowsPerBlock;
  const uint64_t count = std::min(kRowsPerBlock, spec_.minishard_count() - first);
  const ByteRange range{first * kShardIndexRowBytes, count * kShardIndexRowBytes};
  auto loaded = std::make_shared<IndexBlock>();
  DOLIUM_TRY(auto read, ReadIndex(objects, range));
  loaded->info = std::move(read.info);
  loaded->rows = DecodeShardIndex(read.parts.front());
  index_blocks_.Put(objects.index, block, loaded->info.generation, loaded,
                    range.length + sizeof(IndexBlock));
  return loaded;
}

Result<Minishard> ShardReader::DecodeMinishard(
    std::shared_ptr<const ObjectVersion> object, uint64_t object_size, uint64_t minishard,
    const ShardObjects& objects, ByteRange range, const Bytes& stored) const {
  const auto context = [&] {
    return fmt::format("{}: minishard {} index, bytes {}", store().Describe(objects.body),
                       minishard, ToString(range));
  };
  auto raw = Decode(CodecsOf(spec_.minishard_index_encoding), stored, kMaxMinishardBytes);
  if (!raw) return std::move(raw).error().Within(context());
  auto chunks = DecodeMinishardIndex(*raw, objects.body_base);
  if (!chunks) return std::move(chunks).error().Within(context());
  return Minishard{std::move(object), object_size, *std::move(chunks)};
}

Result<Minishard> ShardReader::ReadMinishard(const ShardObjects& objects,
                                             const ObjectInfo& index, uint64_t minishard,
                                             const ShardIndexRow& row) const {
  const MinishardRow wanted{minishard, row};
  Result<Minishard> result = Minishard{};
  ReadMinishards(objects, index, std::span(&wanted, 1),
                 [&](const MinishardRow&, Result<Minishard> read) {
                   result = std::move(read);
                   return true;
                 });
  return result;
}

Result<uint64_t> ShardReader::BodySize(const ShardObjects& objects,
                                       const ObjectInfo& index) const {
  if (!objects.is_pair()) return index.size;
  DOLIUM_TRY(const auto body, store().Stat(objects.body));
  return body ? body->size : 0;
}

// What is wrong with where a row says that its minishard index lies; empty if nothing is.
std::string ShardReader::RowProblem(const ShardObjects& objects, const ShardIndexRow& row,
                                    uint64_t body_size) {
  if (row.end < row.begin) {
    return fmt::format("index ends at {}, before it begins at {}", row.end, row.begin);
  }
  const auto range = objects.RangeOf(row);
  if (!range) return fmt::format("index ends at {}, past 2^64", row.end);
  if (body_size != 0 && range->end() > body_size) {
    return "index " + PastTheEnd(*range, body_size).message;
  }
  if (range->length > kMaxMinishardBytes) {
    return fmt::format("index takes {} bytes, more than the limit of {}", range->length,
                       kMaxMinishardBytes);
  }
  return "";
}

bool ShardReader::ReadMinishards(const ShardObjects& objects, const ObjectInfo& index,
                                 std::span<const MinishardRow> rows,
                                 const MinishardVisitor& visit) const {
  // Of a pair, only the reads of the body return its size and generation.
  const uint64_t known_size = objects.is_pair() ? 0 : index.size;
  ReadOptions options;
  if (!objects.is_pair()) options.if_generation = index.generation;

  std::vector<std::string> problems;
  std::vector<ByteRange> ranges;  // of the rows without one
  for (const MinishardRow& wanted : rows) {
    problems.push_back(RowProblem(objects, wanted.row, known_size));
    if (problems.back().empty()) ranges.push_back(*objects.RangeOf(wanted.row));
  }
  Result<ReadRangesResult> read = ReadRangesResult{};
  if (!ranges.empty()) read = store().ReadRanges(objects.body, ranges, options);
  // One bad range spoils a batch: find out which it is.
  const bool one_by_one =
      !read && rows.size() > 1 &&
      (read.error().code == ErrorCode::kCorrupt || read.error().code == ErrorCode::kIo);
  std::shared_ptr<const ObjectVersion> object;
  if (read) object = std::make_shared<ObjectVersion>(objects.body, read->info.generation);

  // Decoded one at a time: small ones may grow large.
  size_t next = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const MinishardRow& wanted = rows[i];
    Result<Minishard> minishard = Minishard{};
    if (!problems[i].empty()) {
      minishard =
          Corrupt(fmt::format("{}: minishard {}: {}", store().Describe(objects.index),
                              wanted.minishard, problems[i]));
    } else if (one_by_one) {
      minishard = ReadMinishard(objects, index, wanted.minishard, wanted.row);
    } else if (!read) {
      minishard = read.error();
    } else {
      minishard = DecodeMinishard(object, read->info.size, wanted.minishard, objects,
                                  ranges[next], read->parts[next]);
      ++next;
    }
    if (!visit(wanted, std::move(minishard))) return false;
  }
  return true;
}

Result<std::shared_ptr<const Minishard>> ShardReader::CachedMinishard(
    const ShardObjects& objects, uint64_t minishard) const {
  if (auto hit = minishards_.GetAny(objects.body, minishard)) return hit;
  for (int attempt = 0;; ++attempt) {
    DOLIUM_TRY(const auto block, CachedIndexBlock(objects, minishard / kRowsPerBlock));
    const ShardIndexRow& row = block->rows[minishard % kRowsPerBlock];
    DOLIUM_TRY(const uint64_t body_size, BodySize(objects, block->info));
    Result<Minishard> loaded = Minishard{};
    if (!objects.IsVoid(row, body_size)) {
      loaded = ReadMinishard(objects, block->info, minishard, row);
    } else if (!objects.is_pair()) {
      loaded->object =
          std::make_shared<ObjectVersion>(objects.body, block->info.generation);
      loaded->object_size = block->info.size;
    }
    if (loaded) {
      if (!std::ranges::is_sorted(loaded->chunks, {}, &ChunkLocation::id)) {
        std::ranges::stable_sort(loaded->chunks, {}, &ChunkLocation::id);
      }
      auto shared = std::make_shared<const Minishard>(*std::move(loaded));
      const uint64_t cost =
          sizeof(Minishard) + shared->chunks.size() * sizeof(ChunkLocation);
      if (shared->object != nullptr) {
        minishards_.Put(objects.body, minishard, shared->object->generation, shared,
                        cost);
      }
      return shared;
    }
    if (!IsConflict(loaded.error()) || attempt == kAttempts)
      return std::move(loaded).error();
    ForgetBlocks(objects, minishard);
  }
}

void ShardReader::ForgetBlocks(const ShardObjects& objects, uint64_t minishard) const {
  index_blocks_.Forget(objects.index, minishard / kRowsPerBlock);
  minishards_.Forget(objects.body, minishard);
}

void ShardReader::Forget(uint64_t id) const {
  const MinishardLocation place = spec_.LocationOf(id);
  for (const bool pair : {false, true}) {
    ForgetBlocks(ObjectsOf(place.shard, pair), place.minishard);
  }
}

Result<std::optional<ChunkRef>> ShardReader::Locate(uint64_t id) const {
  const MinishardLocation place = spec_.LocationOf(id);
  for (const bool pair : {false, true}) {
    if (pair && !MayHavePairs()) break;
    const ShardObjects objects = ObjectsOf(place.shard, pair);
    auto chunk = LocateIn(objects, id);
    if (chunk || chunk.error().code != ErrorCode::kNotFound) return chunk;
    ForgetBlocks(objects, place.minishard);
  }
  return std::nullopt;
}

bool ShardReader::MayHavePairs() const {
  // Nobody writes pairs any more, so an answer once found stays true.
  if (no_pairs_.load(std::memory_order_relaxed)) return false;
  bool met = false;
  const auto listed = store().List(folder_.path, [&](std::string_view name, bool) {
    met = name.ends_with(".index");
    return !met;
  });
  if (!listed || met) return true;
  no_pairs_.store(true, std::memory_order_relaxed);
  return false;
}

Result<std::optional<ChunkRef>> ShardReader::LocateIn(const ShardObjects& objects,
                                                      uint64_t id) const {
  const uint64_t number = spec_.LocationOf(id).minishard;
  for (int attempt = 0;; ++attempt) {
    DOLIUM_TRY(const auto minishard, CachedMinishard(objects, number));
    if (const ChunkLocation* chunk = minishard->Find(id)) {
      const uint64_t size = minishard->object_size;
      if (size != 0 && !chunk->FitsIn(size)) {
        return Corrupt(fmt::format(
            "{}: chunk {}: bytes at {}, {} long, do not lie within the "
            "object ({} bytes); is the upload complete?",
            store().Describe(objects.body), id, chunk->offset, chunk->length, size));
      }
      if (chunk->length > kMaxChunkBytes) {
        return Unsupported(fmt::format(
            "{}: chunk {}: {} bytes, more than the limit of {}",
            store().Describe(objects.body), id, chunk->length, kMaxChunkBytes));
      }
      return ChunkRef{minishard->object, chunk->range()};
    }
    // Not listed; but is the list still true?
    if (minishard->object == nullptr || attempt == kAttempts) return std::nullopt;
    DOLIUM_TRY(const auto now, store().Stat(minishard->object->name));
    if (now && now->generation == minishard->object->generation) return std::nullopt;
    ForgetBlocks(objects, number);
  }
}

Result<void> ShardReader::ReadChunk(const ChunkRef& chunk, MutableBytes into) const {
  const ReadSlice slice{chunk.range.offset, into};
  DOLIUM_TRY_VOID(store().ReadInto(chunk.object->name, std::span(&slice, 1),
                                   {.if_generation = chunk.object->generation}));
  return {};
}

Result<void> ShardReader::ReadChunks(std::span<const ChunkRef> chunks,
                                     std::span<const MutableBytes> into) const {
  // Many chunks share few versions, which cost string comparisons to distinguish.
  struct Wanted {
    size_t version = 0;
    uint64_t offset = 0;
    size_t chunk = 0;
  };
  std::unordered_map<const ObjectVersion*, size_t> known;
  std::map<std::pair<std::string_view, std::string_view>, size_t> versions;
  std::vector<Wanted> order(chunks.size());
  for (size_t i = 0; i < chunks.size(); ++i) {
    const ObjectVersion* const object = chunks[i].object.get();
    const auto [at, is_new] = known.try_emplace(object);
    if (is_new) {
      at->second =
          versions.try_emplace({object->name, object->generation.token}, versions.size())
              .first->second;
    }
    order[i] = {at->second, chunks[i].range.offset, i};
  }
  std::ranges::sort(order, {}, [](const Wanted& wanted) {
    return std::pair(wanted.version, wanted.offset);
  });

  struct Group {
    size_t begin = 0;
    size_t end = 0;
  };
  std::vector<Group> groups;
  std::vector<ReadSlice> slices(order.size());
  uint64_t group_bytes = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const ChunkRef& chunk = chunks[order[i].chunk];
    slices[i] = {chunk.range.offset, into[order[i].chunk]};
    if (groups.empty() || group_bytes >= kBytesPerThread ||
        order[groups.back().begin].version != order[i].version) {
      groups.push_back({i, i});
      group_bytes = 0;
    }
    groups.back().end = i + 1;
    group_bytes += chunk.range.length;
    bytes += chunk.range.length;
  }
  const size_t jobs = bytes < kBytesPerThread && local_ ? 1 : 0;
  return ParallelFor(groups.size(), jobs, [&](size_t g) -> Result<void> {
    const Group& group = groups[g];
    const ObjectVersion& object = *chunks[order[group.begin].chunk].object;
    DOLIUM_TRY_VOID(store().ReadInto(
        object.name, std::span(slices).subspan(group.begin, group.end - group.begin),
        {.if_generation = object.generation}));
    return {};
  });
}

Result<Bytes> ShardReader::DecodeChunk(uint64_t id, const ChunkRef& chunk,
                                       const Bytes& stored, uint64_t limit) const {
  auto value = Decode(CodecsOf(spec_.data_encoding), stored, limit);
  if (!value) {
    return std::move(value).error().Within(
        fmt::format("{}: chunk {}, bytes {}", store().Describe(chunk.object->name), id,
                    ToString(chunk.range)));
  }
  return value;
}

Result<std::optional<ChunkRef>> ShardReader::LocateWithin(uint64_t id,
                                                          uint64_t limit) const {
  DOLIUM_TRY(auto chunk, Locate(id));
  if (chunk && chunk->range.length > limit) {
    return Corrupt(fmt::format("{}: chunk {}: {} bytes, more than the limit of {} bytes",
                               store().Describe(chunk->object->name), id,
                               chunk->range.length, limit));
  }
  return chunk;
}

Result<std::optional<ShardReader::ReadResult>> ShardReader::LocateAndRead(
    uint64_t id, uint64_t limit) const {
  for (int attempt = 0;; ++attempt) {
    DOLIUM_TRY(auto chunk, LocateWithin(id, limit));
    if (!chunk) return std::nullopt;
    Buffer stored(static_cast<size_t>(chunk->range.length));
    auto read = ReadChunk(*chunk, stored.view());
    if (read) return ReadResult{*std::move(chunk), std::move(stored).Share()};
    if (!IsConflict(read.error()) || attempt == kAttempts) return std::move(read).error();
    Forget(id);
  }
}

Result<std::optional<Bytes>> ShardReader::Get(uint64_t id, uint64_t limit) const {
  DOLIUM_TRY(const auto read, LocateAndRead(id, limit));
  if (!read) return std::nullopt;
  DOLIUM_TRY(Bytes value, DecodeChunk(id, read->chunk, read->stored, limit));
  return value;
}

Result<std::optional<Bytes>> ShardReader::GetStored(uint64_t id, uint64_t limit) const {
  DOLIUM_TRY(auto read, LocateAndRead(id, limit));
  if (!read) return std::nullopt;
  return std::move(read->stored);
}

Result<std::vector<std::optional<Bytes>>> ShardReader::GetMany(
    std::span<const uint64_t> ids, uint64_t limit) const {
  for (int attempt = 0;; ++attempt) {
    std::vector<std::optional<Bytes>> values(ids.size());
    std::vector<size_t> found;
    std::vector<ChunkRef> chunks;
    std::vector<Buffer> buffers;
    std::vector<MutableBytes> places;
    for (size_t i = 0; i < ids.size(); ++i) {
      DOLIUM_TRY(auto chunk, LocateWithin(ids[i], limit));
      if (!chunk) continue;
      found.push_back(i);
      buffers.emplace_back(chunk->range.length);
      places.push_back(buffers.back().view());
      chunks.push_back(*std::move(chunk));
    }
    const auto read = ReadChunks(chunks, places);
    if (!read) {
      if (!IsConflict(read.error()) || attempt == kAttempts) return read.error();
      for (const size_t i : found) Forget(ids[i]);
      continue;
    }
    const auto decode = [&](size_t n) -> Result<void> {
      DOLIUM_TRY(values[found[n]], DecodeChunk(ids[found[n]], chunks[n],
                                               std::move(buffers[n]).Share(), limit));
      return {};
    };
    const bool is_raw = spec_.data_encoding == Encoding::kRaw;
    const size_t jobs = is_raw || found.size() < 2 ? 1 : 0;
    DOLIUM_TRY_VOID(ParallelFor(found.size(), jobs, decode));
    return values;
  }
}

Result<ObjectInfo> ShardReader::ReadShardIndex(const ShardObjects& objects,
                                               const RowVisitor& visit) const {
  ObjectInfo info;
  for (uint64_t first = 0; first < spec_.minishard_count(); first += kRowsPerBlock) {
    const uint64_t count = std::min(kRowsPerBlock, spec_.minishard_count() - first);
    const ByteRange range{first * kShardIndexRowBytes, count * kShardIndexRowBytes};
    ReadOptions options;
    if (first != 0) options.if_generation = info.generation;
    DOLIUM_TRY(auto read, ReadIndex(objects, range, options));
    info = std::move(read.info);
    const std::vector<ShardIndexRow> rows = DecodeShardIndex(read.parts.front());
    for (uint64_t i = 0; i < rows.size(); ++i) {
      if (!visit(first + i, rows[i])) return info;
    }
  }
  return info;
}

Result<ObjectInfo> ScanMinishards(const ShardReader& reader, const ShardObjects& objects,
                                  const std::optional<Generation>& generation,
                                  const ShardReader::MinishardVisitor& visit,
                                  uint64_t first) {
  std::vector<ShardReader::MinishardRow> rows;
  DOLIUM_TRY(
      const ObjectInfo index,
      reader.ReadShardIndex(objects, [&](uint64_t minishard, const ShardIndexRow& row) {
        const bool is_zero = row.empty() && row.begin == 0;
        if (minishard >= first && !is_zero) rows.push_back({minishard, row});
        return true;
      }));
  if (generation && *generation != index.generation) {
    return Conflict(
        fmt::format("{}: was replaced", reader.store().Describe(objects.index)));
  }
  DOLIUM_TRY(const uint64_t body_size, reader.BodySize(objects, index));
  std::erase_if(rows, [&](const ShardReader::MinishardRow& row) {
    return objects.IsVoid(row.row, body_size);
  });
  // Rows that share bytes would make much of little. (Each by itself is checked later.)
  uint64_t index_bytes = 0;
  for (const ShardReader::MinishardRow& row : rows) {
    const auto range = objects.RangeOf(row.row);
    if (range && !objects.is_pair() && range->end() <= index.size)
      index_bytes += range->length;
    if (index_bytes <= index.size) continue;
    return Corrupt(
        fmt::format("{}: the minishard indexes overlap: together they take more than "
                    "the object has ({} bytes)",
                    reader.store().Describe(objects.index), index.size));
  }
  size_t begin = 0;
  while (begin < rows.size()) {
    size_t end = begin;
    uint64_t bytes = 0;
    while (end < rows.size() && end - begin < kMinishardsAtOnce &&
           bytes < kMinishardBytesAtOnce) {
      bytes += rows[end].row.end - rows[end].row.begin;
      ++end;
    }
    const auto batch = std::span(rows).subspan(begin, end - begin);
    if (!reader.ReadMinishards(objects, index, batch, visit)) return index;
    begin = end;
  }
  return index;
}

}  // namespace dolium::neuroglancer
