#include "dolium/formats/neuroglancer/spill.h"

#include <algorithm>
#include <filesystem>
#include <random>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/bytes/file_store.h"
#include "dolium/container/unfinished.h"
#include "dolium/formats/neuroglancer/chunk_sources.h"

namespace dolium::neuroglancer {
namespace {

constexpr size_t kSpillWord = sizeof(uint64_t);
constexpr size_t kRowBytes = 5 * kSpillWord;  // id, offset, length, preceding, input
constexpr uint64_t kRowsAtOnce = 2048;

Result<void> AppendRows(ObjectWriter& out, std::span<const StoredChunk> stored_chunks) {
  ByteVector rows;
  while (!stored_chunks.empty()) {
    const auto some =
        stored_chunks.first(std::min<size_t>(kRowsAtOnce, stored_chunks.size()));
    stored_chunks = stored_chunks.subspan(some.size());
    rows.resize(some.size() * kRowBytes);
    std::byte* row = rows.data();
    for (const StoredChunk& stored_chunk : some) {
      StoreLE(row, stored_chunk.id);
      StoreLE(row + kSpillWord, stored_chunk.offset);
      StoreLE(row + 2 * kSpillWord, stored_chunk.length);
      StoreLE(row + 3 * kSpillWord, stored_chunk.preceding);
      StoreLE(row + 4 * kSpillWord, uint64_t{stored_chunk.input});
      row += kRowBytes;
    }
    DOLIUM_TRY_VOID(out.Append(rows));
  }
  return {};
}

}  // namespace

Result<std::vector<SpillSegment>> WriteSpill(Store& store, const std::string& object,
                                             const ShardingSpec& spec,
                                             std::span<SpilledChunks> shards) {
  DOLIUM_TRY(const auto out, store.Begin(object));
  for (SpilledChunks& shard : shards) {
    SortChunks(spec, shard.stored_chunks);
    for (StoredChunk& stored_chunk : shard.stored_chunks) {
      stored_chunk.offset = out->size();
      DOLIUM_TRY_VOID(out->Append({stored_chunk.memory, stored_chunk.total()}));
    }
  }
  std::vector<SpillSegment> segments;
  for (const SpilledChunks& shard : shards) {
    segments.push_back({nullptr, out->size(), shard.stored_chunks.size()});
    DOLIUM_TRY_VOID(AppendRows(*out, shard.stored_chunks));
  }
  DOLIUM_TRY(Generation generation, out->Commit(Precondition::Absent()));
  const auto version =
      std::make_shared<const ObjectVersion>(object, std::move(generation));
  for (SpillSegment& segment : segments) segment.object = version;
  return segments;
}

Result<SpillSegment> WriteRows(Store& store, const std::string& object,
                               const ShardingSpec& spec,
                               std::vector<StoredChunk>& stored_chunks) {
  SortChunks(spec, stored_chunks);
  DOLIUM_TRY(const auto out, store.Begin(object));
  DOLIUM_TRY_VOID(AppendRows(*out, stored_chunks));
  DOLIUM_TRY(Generation generation, out->Commit(Precondition::Absent()));
  return SpillSegment{
      std::make_shared<const ObjectVersion>(object, std::move(generation)), 0,
      stored_chunks.size()};
}

SpillFolder::~SpillFolder() {
  if (path_.empty()) return;
  store_.reset();
  std::error_code ignored;  // What stays behind is found by the next run.
  std::filesystem::remove_all(path_, ignored);
}

Result<Store*> SpillFolder::store() {
  if (store_ != nullptr) return store_.get();
  std::error_code error;
  std::string parent = parent_;
  if (parent.empty()) {
    DOLIUM_TRY(const auto local, target_.store->LocalPath(target_.path));
    parent = local ? *local : std::filesystem::temp_directory_path(error).string();
  }
  std::random_device random;
  const uint64_t unique = uint64_t{random()} << 32 | random();
  path_ = fmt::format("{}/{}{:016x}", parent, kSpillPrefix, unique);
  std::filesystem::create_directories(path_, error);
  if (error) {
    return IoError(
        fmt::format("{}: cannot make a folder to spill to: {}", path_, error.message()));
  }
  DOLIUM_TRY(store_, FileStore::Open(path_, {.sync = false}));
  return store_.get();
}

SpillSource::SpillSource(const Store& store, const ShardingSpec& spec,
                         const SpillSegment& segment)
    : spec_(spec), segment_(segment), input_{&store, segment.object} {}

Result<void> SpillSource::Refill() {
  const uint64_t count = std::min(kRowsAtOnce, segment_.row_count - next_row_);
  window_.clear();
  next_ = 0;
  if (count == 0) return {};
  DOLIUM_TRY(const Bytes rows,
             input_.store->ReadRange(
                 segment_.object->name,
                 {segment_.rows_offset + next_row_ * kRowBytes, count * kRowBytes}));
  for (uint64_t i = 0; i < count; ++i) {
    const std::byte* row = rows.data() + i * kRowBytes;
    window_.push_back(
        {.id = LoadLE<uint64_t>(row),
         .length = LoadLE<uint64_t>(row + 2 * kSpillWord),
         .preceding = LoadLE<uint64_t>(row + 3 * kSpillWord),
         .memory = nullptr,
         .offset = LoadLE<uint64_t>(row + kSpillWord),
         .input = static_cast<uint32_t>(LoadLE<uint64_t>(row + 4 * kSpillWord))});
  }
  next_row_ += count;
  return {};
}

Result<void> SpillSource::Load(uint64_t minishard,
                               std::vector<StoredChunk>& stored_chunks) {
  while (true) {
    if (next_ == window_.size()) {
      DOLIUM_TRY_VOID(Refill());
      if (window_.empty()) return {};
    }
    const uint64_t at = spec_.LocationOf(window_[next_].id).minishard;
    if (at > minishard) return {};
    if (at == minishard) stored_chunks.push_back(window_[next_]);
    ++next_;
  }
}

Result<void> SpillSource::Rewind() {
  next_row_ = 0;
  window_.clear();
  next_ = 0;
  return {};
}

}  // namespace dolium::neuroglancer
