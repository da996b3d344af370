#include "dolium/formats/neuroglancer/piece_sources.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/formats/neuroglancer/mesh_manifest.h"

namespace dolium::neuroglancer {
namespace {

constexpr uint64_t kManifestBatchBytes = uint64_t{8} << 20;

// A manifest of this size describes tens of millions of fragments.
constexpr uint64_t kMaxManifestBytes = uint64_t{1} << 30;

}  // namespace

ListSource::ListSource(const ShardingSpec& spec, std::vector<Piece> pieces,
                       std::vector<PieceInput> inputs)
    : spec_(spec), pieces_(std::move(pieces)), inputs_(std::move(inputs)) {
  std::ranges::sort(pieces_, [&](const Piece& a, const Piece& b) {
    const uint64_t in_a = spec_.PlaceOf(a.id).minishard;
    const uint64_t in_b = spec_.PlaceOf(b.id).minishard;
    return in_a != in_b ? in_a < in_b : a.id < b.id;
  });
}

Result<void> ListSource::Load(uint64_t minishard, std::vector<Piece>& pieces) {
  while (next_ < pieces_.size() && spec_.PlaceOf(pieces_[next_].id).minishard < minishard) {
    ++next_;
  }
  while (next_ < pieces_.size() && spec_.PlaceOf(pieces_[next_].id).minishard == minishard) {
    pieces.push_back(pieces_[next_++]);
  }
  return {};
}

Result<void> ListSource::Rewind() {
  next_ = 0;
  return {};
}

Result<std::unique_ptr<ShardSource>> ShardSource::Open(const ShardReader& reader,
                                                       const ShardObjects& objects, Kind kind) {
  std::unique_ptr<ShardSource> source(new ShardSource(reader, objects, kind));
  DOLIUM_TRY(source->index_info_,
             reader.ReadShardIndex(objects, [&](uint64_t, const ShardIndexRow& row) {
               source->rows_.push_back(row);
               return true;
             }));
  Generation body = source->index_info_.generation;
  if (objects.is_pair()) {
    DOLIUM_TRY(const auto info, reader.store().Stat(objects.body));
    if (!info) {
      return NotFound(fmt::format("{}: missing, though {} is there",
                                  reader.store().Describe(objects.body),
                                  reader.store().Describe(objects.index)));
    }
    body = info->generation;
  }
  source->inputs_.push_back(
      {&reader.store(), std::make_shared<ObjectVersion>(objects.body, std::move(body))});
  return source;
}

Result<Minishard> ShardSource::LoadMinishard(uint64_t minishard) {
  DOLIUM_TRY(Minishard loaded, reader_.ReadMinishard(objects_, index_info_, minishard,
                                                     rows_[minishard]));
  for (const ChunkLocation& chunk : loaded.chunks) {
    if (!chunk.FitsIn(loaded.object_size)) {
      return Corrupt(fmt::format(
          "{}: chunk {}: bytes at {}, {} long, do not lie within the object ({} bytes); "
          "keep what is readable with: dolium convert --skip-damaged",
          reader_.store().Describe(objects_.body), chunk.id, chunk.offset, chunk.length,
          loaded.object_size));
    }
  }
  return loaded;
}

Result<void> ShardSource::Load(uint64_t minishard, std::vector<Piece>& pieces) {
  if (rows_[minishard].empty()) return {};
  DOLIUM_TRY(const Minishard loaded, LoadMinishard(minishard));
  std::vector<uint64_t> preceding(loaded.chunks.size(), 0);
  if (kind_ == Kind::kMesh) {
    DOLIUM_TRY(preceding, ReadFragmentBytes(reader_, *inputs_.front().object, loaded.chunks));
  }
  pieces.reserve(pieces.size() + loaded.chunks.size());
  for (size_t i = 0; i < loaded.chunks.size(); ++i) {
    const ChunkLocation& chunk = loaded.chunks[i];
    pieces.push_back({.id = chunk.id,
                      .length = chunk.length,
                      .preceding = preceding[i],
                      .memory = nullptr,
                      .offset = chunk.offset - preceding[i],
                      .input = 0});
  }
  return {};
}

Result<bool> ShardSource::HasUnindexedBytesBeforeChunks() {
  std::vector<uint64_t> starts;
  std::vector<uint64_t> ends{objects_.body_base};
  for (uint64_t minishard = 0; minishard < rows_.size(); ++minishard) {
    const ShardIndexRow& row = rows_[minishard];
    if (row.empty()) continue;
    DOLIUM_TRY(const Minishard loaded, LoadMinishard(minishard));
    ends.push_back(objects_.body_base + row.end);
    for (const ChunkLocation& chunk : loaded.chunks) {
      if (chunk.length == 0) continue;
      starts.push_back(chunk.offset);
      ends.push_back(chunk.range().end());
    }
  }
  std::ranges::sort(ends);
  return std::ranges::any_of(starts, [&](uint64_t start) {
    return !std::ranges::binary_search(ends, start);
  });
}

void JoinedSource::Add(std::unique_ptr<PieceSource> source) {
  const auto first = static_cast<uint32_t>(inputs_.size());
  inputs_.insert(inputs_.end(), source->inputs().begin(), source->inputs().end());
  parts_.push_back({std::move(source), first});
}

Result<void> JoinedSource::Load(uint64_t minishard, std::vector<Piece>& pieces) {
  for (const Part& part : parts_) {
    const size_t before = pieces.size();
    DOLIUM_TRY_VOID(part.source->Load(minishard, pieces));
    for (size_t i = before; i < pieces.size(); ++i) pieces[i].input += part.first_input;
  }
  return {};
}

Result<void> JoinedSource::Rewind() {
  for (const Part& part : parts_) DOLIUM_TRY_VOID(part.source->Rewind());
  return {};
}

Result<std::vector<uint64_t>> ReadFragmentBytes(const ShardReader& reader,
                                                const ObjectVersion& object,
                                                std::span<const ChunkLocation> chunks) {
  const Store& store = reader.store();
  const CodecChain codecs = CodecsOf(reader.spec().data_encoding);
  std::vector<uint64_t> sums;
  sums.reserve(chunks.size());
  while (sums.size() < chunks.size()) {
    std::vector<ByteRange> ranges;
    uint64_t bytes = 0;
    for (size_t i = sums.size(); i < chunks.size() && (ranges.empty() || bytes < kManifestBatchBytes);
         ++i) {
      ranges.push_back(chunks[i].range());
      bytes += chunks[i].length;
    }
    DOLIUM_TRY(const auto read,
               store.ReadRanges(object.name, ranges, {.if_generation = object.generation}));
    for (const Bytes& stored : read.parts) {
      const ChunkLocation& chunk = chunks[sums.size()];
      const auto sum = [&]() -> Result<uint64_t> {
        DOLIUM_TRY(const Bytes manifest, Decode(codecs, stored, kMaxManifestBytes));
        DOLIUM_TRY(const uint64_t fragments, FragmentBytes(manifest));
        if (fragments > chunk.offset) {
          return Corrupt(fmt::format("its fragments take {} bytes, only {} lie before it",
                                     fragments, chunk.offset));
        }
        return fragments;
      }();
      if (!sum) {
        return sum.error().Within(fmt::format("{}: mesh {}, bytes {}",
                                              store.Describe(object.name), chunk.id,
                                              ToString(chunk.range())));
      }
      sums.push_back(*sum);
    }
  }
  return sums;
}

}  // namespace dolium::neuroglancer
