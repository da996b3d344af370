#include "dolium/formats/neuroglancer/chunk_sources.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/container/entry_error.h"
#include "dolium/formats/neuroglancer/mesh_manifest.h"

namespace dolium::neuroglancer {
namespace {

constexpr uint64_t kManifestBatchBytes = uint64_t{8} << 20;

// A manifest of this size describes tens of millions of fragments.
constexpr uint64_t kMaxManifestBytes = uint64_t{1} << 30;

Result<uint64_t> FragmentBytesOf(const ShardReader& reader, const ChunkLocation& chunk,
                                 const Bytes& stored) {
  DOLIUM_TRY(const Bytes manifest,
             Decode(CodecsOf(reader.spec().data_encoding), stored, kMaxManifestBytes));
  DOLIUM_TRY(const uint64_t fragments, FragmentBytes(manifest));
  if (fragments > chunk.offset) {
    return Corrupt(fmt::format("its fragments take {} bytes, only {} lie before it",
                               fragments, chunk.offset));
  }
  return fragments;
}

bool ByMinishardAndId(const StoredChunk& a, const StoredChunk& b) {
  return a.minishard != b.minishard ? a.minishard < b.minishard : a.id < b.id;
}

}  // namespace

void SortChunks(const ShardingSpec& spec, std::vector<StoredChunk>& stored_chunks) {
  for (StoredChunk& stored_chunk : stored_chunks) {
    stored_chunk.minishard =
        static_cast<uint32_t>(spec.LocationOf(stored_chunk.id).minishard);
  }
  if (!std::ranges::is_sorted(stored_chunks, ByMinishardAndId)) {
    std::ranges::sort(stored_chunks, ByMinishardAndId);
  }
}

ListSource::ListSource(const ShardingSpec& spec, std::vector<StoredChunk> stored_chunks,
                       std::vector<ChunkInput> inputs)
    : stored_chunks_(std::move(stored_chunks)), inputs_(std::move(inputs)) {
  SortChunks(spec, stored_chunks_);
}

Result<void> ListSource::Load(uint64_t minishard,
                              std::vector<StoredChunk>& stored_chunks) {
  if (FindNext(minishard) != minishard) return {};
  while (next_ < stored_chunks_.size() && stored_chunks_[next_].minishard == minishard) {
    stored_chunks.push_back(stored_chunks_[next_++]);
  }
  return {};
}

uint64_t ListSource::FindNext(uint64_t minishard) {
  while (next_ < stored_chunks_.size() && stored_chunks_[next_].minishard < minishard)
    ++next_;
  return next_ < stored_chunks_.size() ? stored_chunks_[next_].minishard : UINT64_MAX;
}

Result<void> ListSource::Rewind() {
  next_ = 0;
  return {};
}

Result<std::unique_ptr<ShardSource>> ShardSource::Open(const ShardReader& reader,
                                                       const ShardObjects& objects,
                                                       Kind kind) {
  std::unique_ptr<ShardSource> source(new ShardSource(reader, objects, kind));
  DOLIUM_TRY(source->index_info_,
             reader.ReadShardIndex(objects, [&](uint64_t, const ShardIndexRow& row) {
               source->rows_.push_back(row);
               return true;
             }));
  Generation body = source->index_info_.generation;
  source->body_size_ = source->index_info_.size;
  if (objects.is_pair()) {
    DOLIUM_TRY(const auto info, reader.store().Stat(objects.body));
    if (!info) {
      return NotFound(fmt::format("{}: missing, though {} is there",
                                  reader.store().Describe(objects.body),
                                  reader.store().Describe(objects.index)));
    }
    body = info->generation;
    source->body_size_ = info->size;
  }
  if (kind == Kind::kUnknown) {
    DOLIUM_TRY(source->unindexed_, UnindexedBytes::Find(reader, objects));
    if (source->unindexed_.generation() != source->index_info_.generation) {
      return Conflict(
          fmt::format("{}: was replaced", reader.store().Describe(objects.index)));
    }
  }
  source->inputs_.push_back(
      {&reader.store(), std::make_shared<ObjectVersion>(objects.body, std::move(body))});
  return source;
}

Result<Minishard> ShardSource::LoadMinishard(uint64_t minishard) {
  DOLIUM_TRY(Minishard loaded,
             reader_.ReadMinishard(objects_, index_info_, minishard, rows_[minishard]));
  for (const ChunkLocation& chunk : loaded.chunks) {
    if (!chunk.FitsIn(loaded.object_size)) {
      return Corrupt(fmt::format("{}: chunk {}: bytes at {}, {} long, do not lie within "
                                 "the object ({} bytes)",
                                 reader_.store().Describe(objects_.body), chunk.id,
                                 chunk.offset, chunk.length, loaded.object_size))
          .WithHint(Hint::kSkipDamaged);
    }
  }
  return loaded;
}

Result<void> ShardSource::Load(uint64_t minishard,
                               std::vector<StoredChunk>& stored_chunks) {
  if (objects_.IsVoid(rows_[minishard], body_size_)) return {};
  DOLIUM_TRY(const Minishard loaded, LoadMinishard(minishard));
  std::vector<Result<uint64_t>> fragments;
  if (kind_ == Kind::kMesh) {
    fragments = ReadFragmentBytes(reader_, *inputs_.front().object, loaded.chunks);
  }
  stored_chunks.reserve(stored_chunks.size() + loaded.chunks.size());
  for (size_t i = 0; i < loaded.chunks.size(); ++i) {
    const ChunkLocation& chunk = loaded.chunks[i];
    uint64_t preceding = 0;
    if (kind_ == Kind::kUnknown && chunk.length != 0)
      preceding = unindexed_.Before(chunk.offset);
    if (!fragments.empty()) {
      DOLIUM_TRY(preceding, fragments[i]);
    }
    stored_chunks.push_back({.id = chunk.id,
                             .length = chunk.length,
                             .preceding = preceding,
                             .memory = nullptr,
                             .offset = chunk.offset - preceding});
  }
  return {};
}

void JoinedSource::Add(std::unique_ptr<ChunkSource> source) {
  const auto first = static_cast<uint32_t>(inputs_.size());
  inputs_.insert(inputs_.end(), source->inputs().begin(), source->inputs().end());
  parts_.push_back({std::move(source), first});
}

Result<void> JoinedSource::Load(uint64_t minishard,
                                std::vector<StoredChunk>& stored_chunks) {
  for (const Part& part : parts_) {
    const size_t before = stored_chunks.size();
    DOLIUM_TRY_VOID(part.source->Load(minishard, stored_chunks));
    for (size_t i = before; i < stored_chunks.size(); ++i)
      stored_chunks[i].input += part.first_input;
  }
  return {};
}

uint64_t JoinedSource::FindNext(uint64_t minishard) {
  uint64_t next = UINT64_MAX;
  for (const Part& part : parts_) next = std::min(next, part.source->FindNext(minishard));
  return next;
}

Result<void> JoinedSource::Rewind() {
  for (const Part& part : parts_) DOLIUM_TRY_VOID(part.source->Rewind());
  return {};
}

std::vector<Result<uint64_t>> ReadFragmentBytes(const ShardReader& reader,
                                                const ObjectVersion& object,
                                                std::span<const ChunkLocation> chunks) {
  std::vector<Result<uint64_t>> sums;
  sums.reserve(chunks.size());
  while (sums.size() < chunks.size()) {
    std::vector<ByteRange> ranges;
    uint64_t bytes = 0;
    for (const ChunkLocation& chunk : chunks.subspan(sums.size())) {
      if (bytes >= kManifestBatchBytes) break;
      ranges.push_back(chunk.range());
      bytes += chunk.length;
    }
    const auto read = reader.store().ReadRanges(object.name, ranges,
                                                {.if_generation = object.generation});
    for (size_t i = 0; i < ranges.size(); ++i) {
      const ChunkLocation& chunk = chunks[sums.size()];
      auto sum = read ? FragmentBytesOf(reader, chunk, read->parts[i])
                      : Result<uint64_t>(read.error());
      if (!sum) {
        sum = EntryError(reader.store().Describe(object.name), std::to_string(chunk.id),
                         sum.error());
      }
      sums.push_back(std::move(sum));
    }
  }
  return sums;
}

}  // namespace dolium::neuroglancer
