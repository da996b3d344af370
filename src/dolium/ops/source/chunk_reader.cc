#include "dolium/ops/source/chunk_reader.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "dolium/container/entry_error.h"
#include "dolium/formats/neuroglancer/sharded_container.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium {

std::optional<ChunkReader> ChunkReader::Of(const Container& container) {
  const auto* const sharded =
      dynamic_cast<const neuroglancer::ShardedContainer*>(&container);
  if (sharded == nullptr) return std::nullopt;
  return ChunkReader(*sharded);
}

ChunkReader::ChunkReader(const neuroglancer::ShardedContainer& container)
    : container_(&container),
      codecs_(neuroglancer::CodecsOf(container.info().spec.data_encoding)) {}

const neuroglancer::ShardingSpec& ChunkReader::sharding() const {
  return container_->info().spec;
}

Error ChunkReader::About(uint64_t id, const ChunkRef& chunk, const Error& error) const {
  return EntryError(container_->store().Describe(chunk.object->name), std::to_string(id),
                    error);
}

Result<std::optional<ChunkRef>> ChunkReader::Locate(uint64_t id) const {
  auto chunk = container_->Locate(id);
  if (!chunk || !*chunk || (*chunk)->range.length <= kDefaultDecodeLimit) return chunk;
  return About(id, **chunk,
               Corrupt(fmt::format("{} bytes, more than the limit of {} bytes",
                                   (*chunk)->range.length, kDefaultDecodeLimit)));
}

Result<void> ChunkReader::Read(const ChunkRef& chunk, MutableBytes into) const {
  return container_->reader().ReadChunk(chunk, into);
}

Result<void> ChunkReader::Read(std::span<const ChunkRef> chunks,
                               std::span<const MutableBytes> into) const {
  return container_->reader().ReadChunks(chunks, into);
}

std::optional<uint64_t> ChunkReader::SizeOf(BytesView stored) const {
  const auto claimed = ClaimedSize(codecs_, stored);
  return claimed && *claimed <= kDefaultDecodeLimit ? claimed : std::nullopt;
}

Result<bool> ChunkReader::DecodeInto(uint64_t id, const ChunkRef& chunk, BytesView stored,
                                     MutableBytes value) const {
  auto fits = dolium::DecodeInto(codecs_, stored, value);
  if (!fits) return About(id, chunk, fits.error());
  return fits;
}

Result<Bytes> ChunkReader::Decode(uint64_t id, const ChunkRef& chunk,
                                  BytesView stored) const {
  auto value = dolium::Decode(codecs_, Bytes(nullptr, stored), kDefaultDecodeLimit);
  if (!value) return About(id, chunk, value.error());
  return value;
}

void ChunkReader::Forget(uint64_t id) const { container_->reader().Forget(id); }

Result<uint64_t> ParseChunkId(std::string_view key) {
  return neuroglancer::ParseKey(key);
}

}  // namespace dolium
