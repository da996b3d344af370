#include "dolium/formats/neuroglancer/spill.h"

#include <algorithm>

#include "dolium/base/endian.h"
#include "dolium/formats/neuroglancer/piece_sources.h"

namespace dolium::neuroglancer {
namespace {

constexpr size_t kWord = sizeof(uint64_t);
constexpr size_t kRowBytes = 4 * kWord;  // id, offset, length, preceding
constexpr uint64_t kRowsAtOnce = 2048;

}  // namespace

Result<std::vector<SpillSegment>> WriteSpill(Store& store, const std::string& object,
                                             const ShardingSpec& spec,
                                             std::span<ShardPieces> shards) {
  DOLIUM_TRY(const auto out, store.Begin(object));
  for (ShardPieces& shard : shards) {
    SortPieces(spec, shard.pieces);
    for (Piece& piece : shard.pieces) {
      piece.offset = out->size();
      DOLIUM_TRY_VOID(out->Append({piece.memory, piece.total()}));
    }
  }
  std::vector<SpillSegment> segments;
  std::byte row[kRowBytes];
  for (const ShardPieces& shard : shards) {
    segments.push_back({nullptr, out->size(), shard.pieces.size()});
    for (const Piece& piece : shard.pieces) {
      StoreLE(row, piece.id);
      StoreLE(row + kWord, piece.offset);
      StoreLE(row + 2 * kWord, piece.length);
      StoreLE(row + 3 * kWord, piece.preceding);
      DOLIUM_TRY_VOID(out->Append(row));
    }
  }
  DOLIUM_TRY(Generation generation, out->Commit(Precondition::Absent()));
  const auto version =
      std::make_shared<const ObjectVersion>(object, std::move(generation));
  for (SpillSegment& segment : segments) segment.object = version;
  return segments;
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
    window_.push_back({.id = LoadLE<uint64_t>(row),
                       .length = LoadLE<uint64_t>(row + 2 * kWord),
                       .preceding = LoadLE<uint64_t>(row + 3 * kWord),
                       .memory = nullptr,
                       .offset = LoadLE<uint64_t>(row + kWord)});
  }
  next_row_ += count;
  return {};
}

Result<void> SpillSource::Load(uint64_t minishard, std::vector<Piece>& pieces) {
  while (true) {
    if (next_ == window_.size()) {
      DOLIUM_TRY_VOID(Refill());
      if (window_.empty()) return {};
    }
    const uint64_t at = spec_.PlaceOf(window_[next_].id).minishard;
    if (at > minishard) return {};
    if (at == minishard) pieces.push_back(window_[next_]);
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
