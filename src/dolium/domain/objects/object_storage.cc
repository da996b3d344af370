#include "dolium/domain/objects/object_storage.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::objects {
namespace {

using neuroglancer::ShardReader;

// Ids that are located and read together.
constexpr size_t kBatchIds = 256;
// Stored bytes that are read together.
constexpr uint64_t kBatchBytes = uint64_t{32} << 20;
// Requests under way at once, to a server.
constexpr size_t kRemoteJobs = 16;
// How often a value is read again because its shard was replaced.
constexpr int kAttempts = 64;

bool IsReplaced(const Error& error) { return error.code == ErrorCode::kConflict; }

// The id that is a file's name; nullopt if it is none.
std::optional<uint64_t> ParseId(std::string_view text) {
  if (text.starts_with('0') && text.size() > 1) return std::nullopt;
  const auto id = neuroglancer::ParseKey(text);
  if (!id) return std::nullopt;
  return *id;
}

// What is in the file, or in the wrapper that it begins with. Bytes that look like the
// beginning of a wrapper may be a count of vertices.
Result<Bytes> UnwrapPlain(Bytes bytes, uint64_t limit) {
  const BytesView head =
      bytes.view().first(std::min(bytes.size(), volume::kWrapperHeadBytes));
  const volume::Wrapper wrapper = volume::WrapperOf(head);
  if (wrapper == volume::Wrapper::kNone) return bytes;
  auto unwrapped = volume::Unwrap(wrapper, bytes, limit);
  if (unwrapped) return unwrapped;
  return bytes;
}

Result<Bytes> UnwrapForm(const volume::ChunkForm& form, Bytes stored, uint64_t limit) {
  if (form.wrapper == volume::Wrapper::kNone)
    return UnwrapPlain(std::move(stored), limit);
  return volume::Unwrap(form.wrapper, stored, limit);
}

Result<std::optional<Bytes>> ReadForm(const Location& object,
                                      const volume::ChunkForm& form, uint64_t limit) {
  const Location at{object.store, object.path + std::string(form.suffix)};
  auto whole = at.store->ReadWhole(at.path, limit);
  if (!whole) {
    if (whole.error().code == ErrorCode::kNotFound) return std::nullopt;
    return std::move(whole).error();
  }
  auto value = UnwrapForm(form, std::move(whole->bytes), limit);
  if (!value) return std::move(value).error().Within(at.Describe());
  return std::optional<Bytes>(*std::move(value));
}

}  // namespace

Result<std::optional<Bytes>> ReadWrapped(const Location& object, uint64_t limit) {
  // A server undoes what it says is around a file, and has it under its plain name.
  const bool plain_first = !IsLocal(object);
  if (plain_first) {
    DOLIUM_TRY(auto value, ReadForm(object, volume::kChunkForms.back(), limit));
    if (value) return value;
  }
  for (const volume::ChunkForm& form : volume::kChunkForms) {
    if (plain_first && form.suffix.empty()) break;
    DOLIUM_TRY(auto value, ReadForm(object, form, limit));
    if (value) return value;
  }
  return std::nullopt;
}

Result<Bytes> UnwrapFile(std::string_view name, Bytes stored, uint64_t limit) {
  return UnwrapForm(volume::FormOf(name), std::move(stored), limit);
}

ObjectStorage::ObjectStorage(Location folder,
                             std::optional<neuroglancer::ShardingInfo> info,
                             std::string suffix, uint64_t cache_bytes, Zero zero)
    : folder_(std::move(folder)),
      suffix_(std::move(suffix)),
      zero_(zero),
      is_local_(IsLocal(folder_)) {
  if (!info) return;
  codecs_ = neuroglancer::CodecsOf(info->spec.data_encoding);
  container_ = std::make_unique<neuroglancer::ShardedContainer>(
      folder_, folder_, *std::move(info), std::nullopt, cache_bytes);
}

std::string ObjectStorage::Describe(uint64_t id) const {
  if (!is_sharded()) return folder_.Child(std::to_string(id) + suffix_).Describe();
  const ShardReader& reader = container_->reader();
  const auto objects = reader.ObjectsOf(reader.spec().LocationOf(id).shard, false);
  return fmt::format("{}: chunk {}", reader.store().Describe(objects.body), id);
}

Result<std::vector<uint64_t>> ObjectStorage::ListIds(const std::stop_token& stop) const {
  DOLIUM_TRY(auto ids, is_sharded() ? ListShards(stop) : ListFiles());
  std::ranges::sort(ids);
  const auto same = std::ranges::unique(ids);
  ids.erase(same.begin(), same.end());
  if (!ids.empty() && !HasValue(ids.front())) ids.erase(ids.begin());
  return ids;
}

Result<std::vector<uint64_t>> ObjectStorage::ListFiles() const {
  std::vector<uint64_t> ids;
  DOLIUM_TRY_VOID(
      folder_.store->List(folder_.path, [&](std::string_view name, bool is_folder) {
        if (is_folder) return true;
        name.remove_suffix(volume::FormOf(name).suffix.size());
        if (!name.ends_with(suffix_)) return true;
        name.remove_suffix(suffix_.size());
        if (const auto id = ParseId(name)) ids.push_back(*id);
        return true;
      }));
  return ids;
}

Result<std::vector<uint64_t>> ObjectStorage::ListShards(
    const std::stop_token& stop) const {
  DOLIUM_TRY(const auto objects, container_->Objects());
  const ShardReader& reader = container_->reader();
  std::vector<std::vector<uint64_t>> found(objects.size());
  const auto list = [&](size_t i) -> Result<void> {
    std::string_view stem = BaseName(objects[i]);
    stem = stem.substr(0, stem.rfind('.'));
    const auto shard = reader.spec().ParseShardStem(stem);
    if (!shard) return {};  // No shard of this set, whatever it is.
    DOLIUM_TRY(const auto parts, reader.FindShard(*shard));
    if (!parts) return {};  // Removed since.
    Result<void> read;
    DOLIUM_TRY([[maybe_unused]] const auto index,
               neuroglancer::ScanMinishards(
                   reader, *parts, std::nullopt,
                   [&](const ShardReader::MinishardRow&,
                       const Result<neuroglancer::Minishard>& minishard) {
                     if (!minishard) {
                       read = minishard.error();
                       return false;
                     }
                     for (const auto& chunk : minishard->chunks) {
                       found[i].push_back(chunk.id);
                     }
                     return true;
                   }));
    return read;
  };
  DOLIUM_TRY_VOID(ParallelFor(objects.size(), is_local_ ? 0 : kRemoteJobs, list, stop));
  std::vector<uint64_t> ids;
  for (const auto& of_shard : found)
    ids.insert(ids.end(), of_shard.begin(), of_shard.end());
  return ids;
}

Result<void> ObjectStorage::ReadEach(std::span<const uint64_t> ids,
                                     const ReadManyOptions& options,
                                     const Visitor& visit) const {
  const size_t jobs = options.jobs == 0 && !is_local_ ? kRemoteJobs : options.jobs;
  if (!is_sharded()) {
    return ParallelFor(
        ids.size(), jobs,
        [&](size_t i) { return ReadFile(ids[i], i, options.limit, visit); },
        options.stop);
  }
  // By place, so that a batch shares index blocks and near ranges.
  struct Wanted {
    uint64_t shard = 0;
    uint64_t minishard = 0;
    uint64_t id = 0;
    size_t index = 0;
  };
  std::vector<Wanted> wanted(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto place = container_->reader().spec().LocationOf(ids[i]);
    wanted[i] = {place.shard, place.minishard, ids[i], i};
  }
  std::ranges::sort(wanted, {}, [](const Wanted& one) {
    return std::tuple(one.shard, one.minishard, one.id);
  });
  std::vector<uint64_t> sorted(ids.size());
  std::vector<size_t> indexes(ids.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    sorted[i] = wanted[i].id;
    indexes[i] = wanted[i].index;
  }
  // Small batches where there are few ids, so that every thread has one.
  const size_t threads = ThreadCount(jobs, ids.size());
  const size_t size =
      std::clamp<size_t>((ids.size() + threads - 1) / threads, 1, kBatchIds);
  const size_t batches = (ids.size() + size - 1) / size;
  return ParallelFor(
      batches, threads,
      [&](size_t batch) {
        const size_t begin = batch * size;
        const size_t count = std::min(size, ids.size() - begin);
        return ReadBatch(std::span(sorted).subspan(begin, count),
                         std::span(indexes).subspan(begin, count), options, visit);
      },
      options.stop);
}

Result<void> ObjectStorage::ReadFile(uint64_t id, size_t index, uint64_t limit,
                                     const Visitor& visit) const {
  if (!HasValue(id)) return visit(index, nullptr);  // Its name is not looked at.
  const Location object = folder_.Child(std::to_string(id) + suffix_);
  for (int attempt = 0;; ++attempt) {
    DOLIUM_TRY(const auto value, ReadWrapped(object, limit));
    if (!value) return visit(index, nullptr);
    const StoredValue stored{id, *value, nullptr};
    auto visited = visit(index, &stored);
    if (visited || !IsReplaced(visited.error()) || attempt == kAttempts) return visited;
  }
}

// Locates all, then reads as many at once as there is memory for.
Result<void> ObjectStorage::ReadBatch(std::span<const uint64_t> ids,
                                      std::span<const size_t> indexes,
                                      const ReadManyOptions& options,
                                      const Visitor& visit) const {
  std::vector<uint64_t> found;
  std::vector<size_t> found_indexes;
  std::vector<ChunkRef> chunks;
  uint64_t bytes = 0;
  const auto flush = [&]() -> Result<void> {
    DOLIUM_TRY_VOID(ReadSome(found, found_indexes, chunks, bytes, options, visit));
    found.clear();
    found_indexes.clear();
    chunks.clear();
    bytes = 0;
    return {};
  };
  for (size_t i = 0; i < ids.size(); ++i) {
    if (options.stop.stop_requested()) return Cancelled();
    std::optional<ChunkRef> chunk;
    if (HasValue(ids[i])) {
      DOLIUM_TRY(chunk, container_->Locate(ids[i]));
    }
    if (!chunk) {
      DOLIUM_TRY_VOID(visit(indexes[i], nullptr));
      continue;
    }
    const uint64_t length = chunk->range.length;
    if (length > options.limit) {
      return Corrupt(fmt::format("{}: {} bytes, more than the limit of {} bytes",
                                 Describe(ids[i]), length, options.limit));
    }
    if (!chunks.empty() && bytes + length > kBatchBytes) DOLIUM_TRY_VOID(flush());
    found.push_back(ids[i]);
    found_indexes.push_back(indexes[i]);
    chunks.push_back(*std::move(chunk));
    bytes += length;
  }
  return flush();
}

Result<void> ObjectStorage::ReadSome(std::span<const uint64_t> ids,
                                     std::span<const size_t> indexes,
                                     std::span<const ChunkRef> chunks, uint64_t bytes,
                                     const ReadManyOptions& options,
                                     const Visitor& visit) const {
  if (chunks.empty()) return {};
  Buffer buffer(static_cast<size_t>(bytes));
  std::vector<MutableBytes> places;
  places.reserve(chunks.size());
  size_t at = 0;
  for (const ChunkRef& chunk : chunks) {
    const auto length = static_cast<size_t>(chunk.range.length);
    places.push_back(buffer.view().subspan(at, length));
    at += length;
  }
  auto read = container_->reader().ReadChunks(chunks, places);
  if (!read && !IsReplaced(read.error())) return read;
  ByteVector scratch;
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (options.stop.stop_requested()) return Cancelled();
    if (read) {
      auto visited = VisitChunk(ids[i], indexes[i], chunks[i], places[i], options.limit,
                                scratch, visit);
      if (visited) continue;
      if (!IsReplaced(visited.error())) return visited;
    }
    DOLIUM_TRY_VOID(ReadAgain(ids[i], indexes[i], options, visit));
  }
  return {};
}

// One whose shard was replaced since it was located.
Result<void> ObjectStorage::ReadAgain(uint64_t id, size_t index,
                                      const ReadManyOptions& options,
                                      const Visitor& visit) const {
  ByteVector scratch;
  for (int attempt = 1;; ++attempt) {
    container_->reader().Forget(id);
    DOLIUM_TRY(const auto chunk, container_->Locate(id));
    if (!chunk) return visit(index, nullptr);
    if (chunk->range.length > options.limit) {
      return Corrupt(fmt::format("{}: {} bytes, more than the limit of {} bytes",
                                 Describe(id), chunk->range.length, options.limit));
    }
    Buffer buffer(static_cast<size_t>(chunk->range.length));
    auto done = container_->reader().ReadChunk(*chunk, buffer.view());
    if (done) {
      done = VisitChunk(id, index, *chunk, buffer.view(), options.limit, scratch, visit);
    }
    if (done || !IsReplaced(done.error()) || attempt == kAttempts) return done;
  }
}

Result<void> ObjectStorage::VisitChunk(uint64_t id, size_t index, const ChunkRef& chunk,
                                       BytesView stored, uint64_t limit,
                                       ByteVector& scratch, const Visitor& visit) const {
  StoredValue value{id, stored, &chunk};
  if (codecs_.empty()) return visit(index, &value);
  // Into memory that the batch has, if the stored bytes say how much that takes.
  const auto claimed = ClaimedSize(codecs_, stored);
  if (claimed && *claimed <= limit) {
    if (scratch.size() < *claimed) scratch.resize(static_cast<size_t>(*claimed));
    const auto into = MutableBytes(scratch).first(static_cast<size_t>(*claimed));
    const auto is_decoded = DecodeInto(codecs_, stored, into);
    if (is_decoded && *is_decoded) {
      value.value = into;
      return visit(index, &value);
    }
  }
  auto decoded = Decode(codecs_, Bytes::Copy(stored), limit);
  if (!decoded) return std::move(decoded).error().Within(Describe(id));
  value.value = *decoded;
  return visit(index, &value);
}

}  // namespace dolium::objects
