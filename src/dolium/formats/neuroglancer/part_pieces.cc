#include "dolium/formats/neuroglancer/part_pieces.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::neuroglancer {
namespace {

// What an input takes, with a long name.
constexpr uint64_t kInputBytes = 512;
constexpr uint64_t kMinPieces = 256;
constexpr uint64_t kMinInputs = 16;

}  // namespace

PartPieces::PartPieces(const ShardingSpec& spec, const Store& store, SpillFolder& spills,
                       uint64_t memory)
    : spec_(spec),
      store_(store),
      spills_(spills),
      max_pieces_(std::max(memory / 2 / sizeof(Piece), kMinPieces)),
      max_inputs_(std::max(memory / 2 / kInputBytes, kMinInputs)) {}

Result<bool> PartPieces::Add(const Entry& entry) {
  if (entry.extents.size() != 1 || entry.preceding_from) return false;
  const Extent& extent = entry.extents.front();
  DOLIUM_TRY(const uint64_t id, ParseKey(entry.key));
  if (entry.preceding > extent.range.offset) {
    return Corrupt(fmt::format("chunk {}: {} bytes cannot precede it at offset {}", id,
                               entry.preceding, extent.range.offset));
  }
  if (pieces_.size() == max_pieces_) DOLIUM_TRY_VOID(Spill());
  pieces_.push_back({.id = id,
                     .length = extent.range.length,
                     .preceding = entry.preceding,
                     .memory = nullptr,
                     .offset = extent.range.offset - entry.preceding,
                     .input = InputOf(extent.object)});
  return inputs_.size() <= max_inputs_;
}

uint32_t PartPieces::InputOf(const std::shared_ptr<const ObjectVersion>& object) {
  if (object == last_object_) return last_input_;
  const auto next = static_cast<uint32_t>(inputs_.size());
  const auto [at, is_new] =
      numbers_.try_emplace({object->name, object->generation.token}, next);
  if (is_new) inputs_.push_back({&store_, object});
  last_object_ = object;
  last_input_ = at->second;
  return last_input_;
}

Result<void> PartPieces::Spill() {
  DOLIUM_TRY(Store* const store, spills_.store());
  DOLIUM_TRY(const SpillSegment segment,
             WriteRows(*store, fmt::format("{:06}", sorted_.size()), spec_, pieces_));
  sorted_.push_back(std::make_unique<SpillSource>(*store, spec_, segment));
  pieces_.clear();
  return {};
}

void PartPieces::Finish() {
  sorted_.push_back(
      std::make_unique<ListSource>(spec_, std::move(pieces_), std::vector<PieceInput>()));
}

Result<void> PartPieces::Load(uint64_t minishard, std::vector<Piece>& pieces) {
  for (const auto& source : sorted_) DOLIUM_TRY_VOID(source->Load(minishard, pieces));
  return {};
}

Result<void> PartPieces::Rewind() {
  for (const auto& source : sorted_) DOLIUM_TRY_VOID(source->Rewind());
  return {};
}

}  // namespace dolium::neuroglancer
