#include "dolium/formats/neuroglancer/part_chunks.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::neuroglancer {
namespace {

// What an input takes, with a long name.
constexpr uint64_t kInputBytes = 512;
constexpr uint64_t kMinChunks = 256;
constexpr uint64_t kMinInputs = 16;

}  // namespace

PartChunks::PartChunks(const ShardingSpec& spec, const Store& store, SpillFolder& spills,
                       uint64_t memory)
    : spec_(spec),
      store_(store),
      spills_(spills),
      max_chunks_(std::max(memory / 2 / sizeof(StoredChunk), kMinChunks)),
      max_inputs_(std::max(memory / 2 / kInputBytes, kMinInputs)) {}

Result<bool> PartChunks::Add(const Entry& entry) {
  if (entry.extents.size() != 1 || entry.preceding_from) return false;
  const Extent& extent = entry.extents.front();
  DOLIUM_TRY(const uint64_t id, ParseKey(entry.key));
  if (entry.preceding > extent.range.offset) {
    return Corrupt(fmt::format("chunk {}: {} bytes cannot precede it at offset {}", id,
                               entry.preceding, extent.range.offset));
  }
  if (stored_chunks_.size() == max_chunks_) DOLIUM_TRY_VOID(Spill());
  stored_chunks_.push_back({.id = id,
                            .length = extent.range.length,
                            .preceding = entry.preceding,
                            .memory = nullptr,
                            .offset = extent.range.offset - entry.preceding,
                            .input = InputOf(extent.object)});
  return inputs_.size() <= max_inputs_;
}

uint32_t PartChunks::InputOf(const std::shared_ptr<const ObjectVersion>& object) {
  if (object == last_object_) return last_input_;
  const auto next = static_cast<uint32_t>(inputs_.size());
  const auto [at, is_new] =
      numbers_.try_emplace({object->name, object->generation.token}, next);
  if (is_new) inputs_.push_back({&store_, object});
  last_object_ = object;
  last_input_ = at->second;
  return last_input_;
}

Result<void> PartChunks::Spill() {
  DOLIUM_TRY(Store* const store, spills_.store());
  DOLIUM_TRY(
      const SpillSegment segment,
      WriteRows(*store, fmt::format("{:06}", sorted_.size()), spec_, stored_chunks_));
  sorted_.push_back(std::make_unique<SpillSource>(*store, spec_, segment));
  stored_chunks_.clear();
  return {};
}

void PartChunks::Finish() {
  sorted_.push_back(std::make_unique<ListSource>(spec_, std::move(stored_chunks_),
                                                 std::vector<ChunkInput>()));
}

Result<void> PartChunks::Load(uint64_t minishard,
                              std::vector<StoredChunk>& stored_chunks) {
  for (const auto& source : sorted_)
    DOLIUM_TRY_VOID(source->Load(minishard, stored_chunks));
  return {};
}

Result<void> PartChunks::Rewind() {
  for (const auto& source : sorted_) DOLIUM_TRY_VOID(source->Rewind());
  return {};
}

}  // namespace dolium::neuroglancer
