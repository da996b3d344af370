#include "dolium/formats/neuroglancer/shard_index.h"

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::neuroglancer {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

}  // namespace

std::vector<ShardIndexRow> DecodeShardIndex(BytesView raw) {
  std::vector<ShardIndexRow> rows(raw.size() / kShardIndexRowBytes);
  const std::byte* from = raw.data();
  for (ShardIndexRow& row : rows) {
    row.begin = LoadLE<uint64_t>(from);
    row.end = LoadLE<uint64_t>(from + kWord);
    from += kShardIndexRowBytes;
  }
  return rows;
}

ByteVector EncodeShardIndex(std::span<const ShardIndexRow> rows) {
  ByteVector raw(rows.size() * kShardIndexRowBytes);
  std::byte* to = raw.data();
  for (const ShardIndexRow& row : rows) {
    StoreLE(to, row.begin);
    StoreLE(to + kWord, row.end);
    to += kShardIndexRowBytes;
  }
  return raw;
}

Result<std::vector<ChunkLocation>> DecodeMinishardIndex(BytesView raw, uint64_t base) {
  if (raw.size() % kMinishardIndexRowBytes != 0) {
    return Corrupt(fmt::format("minishard index is {} bytes, not a multiple of {}",
                               raw.size(), kMinishardIndexRowBytes));
  }
  const size_t count = raw.size() / kMinishardIndexRowBytes;
  const std::byte* ids = raw.data();
  const std::byte* gaps = ids + count * kWord;
  const std::byte* lengths = gaps + count * kWord;
  std::vector<ChunkLocation> chunks(count);
  uint64_t id = 0;
  uint64_t cursor = base;
  for (size_t i = 0; i < count; ++i) {
    id += LoadLE<uint64_t>(ids + i * kWord);  // Wraps by design, as do the offsets.
    cursor += LoadLE<uint64_t>(gaps + i * kWord);
    const uint64_t length = LoadLE<uint64_t>(lengths + i * kWord);
    chunks[i] = {id, cursor, length};
    cursor += length;
  }
  return chunks;
}

ByteVector EncodeMinishardIndex(std::span<const ChunkLocation> chunks) {
  const size_t count = chunks.size();
  ByteVector raw(count * kMinishardIndexRowBytes);
  std::byte* ids = raw.data();
  std::byte* gaps = ids + count * kWord;
  std::byte* lengths = gaps + count * kWord;
  uint64_t id = 0;
  uint64_t cursor = 0;
  for (size_t i = 0; i < count; ++i) {
    const ChunkLocation& chunk = chunks[i];
    StoreLE(ids + i * kWord, chunk.id - id);
    StoreLE(gaps + i * kWord, chunk.offset - cursor);
    StoreLE(lengths + i * kWord, chunk.length);
    id = chunk.id;
    cursor = chunk.offset + chunk.length;
  }
  return raw;
}

}  // namespace dolium::neuroglancer
