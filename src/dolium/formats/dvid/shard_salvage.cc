// What is left to do with files that exports have damaged: every row that is whole, and
// an account of what is not.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "dolium/formats/dvid/label_block.h"
#include "dolium/formats/dvid/shard.h"
#include "dolium/formats/dvid/shard_internal.h"

namespace dolium::dvid {
namespace {

// What every message begins with, but those of before Arrow 0.15.
constexpr std::string_view kMessageMark("\xff\xff\xff\xff", 4);

// In voxels; as far as 32 bits have them.
Key CornerOfBlock(const Key& block) {
  Key voxel;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t at = int64_t{block[d]} * kBlockSide;
    voxel[d] = static_cast<int32_t>(std::clamp<int64_t>(at, INT32_MIN, INT32_MAX));
  }
  return voxel;
}

}  // namespace

Shard::Salvage Shard::SalvageRows() const {
  Salvage salvage;
  const std::string_view text = AsText(map_).substr(0, static_cast<size_t>(arrow_end_));
  uint64_t known = is_file_ ? kFileHeaderBytes : 0;  // All before is explained.
  bool has_ended = false;                            // by an end mark, there
  const auto take = [&](ByteRange range) {
    if (range.offset > known) salvage.lost.push_back({known, range.offset - known});
    known = std::max(known, range.end());
  };
  // Writers that get in each other's way begin anywhere.
  for (size_t at = text.find(kMessageMark); at != std::string_view::npos;
       at = text.find(kMessageMark, at)) {
    const auto message = ReadMessage(at);
    // Marks within a message that is not whole are no messages.
    const bool is_kept =
        message &&
        (message->is_end || message->header.kind == MessageKind::kSchema ||
         (message->header.kind == MessageKind::kDictionary && schema_.has_dictionaries));
    if (is_kept) {
      take(message->range);
      has_ended = message->is_end;
      at = static_cast<size_t>(message->range.end());
      continue;
    }
    if (!message || message->header.kind != MessageKind::kRecordBatch) {
      ++at;
      continue;
    }
    // What another writer got into shows in the block: in its checksum, as a rule.
    const auto batch = ParseBatch(*message);
    uint64_t whole = 0;
    for (uint64_t i = 0; batch && i < (*batch)->rows(); ++i) {
      const auto row = MakeRow(**batch, i);
      const auto bytes = row ? row->Block() : Result<Bytes>(row.error());
      const auto block =
          bytes ? LabelBlock::Parse(*bytes) : Result<LabelBlock>(bytes.error());
      if (!block || !Equal(block->labels().bytes(), row->supervoxels)) continue;
      salvage.places.push_back({row->key, static_cast<uint32_t>(i), message->range});
      ++whole;
    }
    const bool is_whole = batch && whole == (*batch)->rows();
    if (is_whole) take(message->range);
    has_ended = has_ended && !is_whole;
    at = is_whole ? static_cast<size_t>(message->range.end()) : at + 1;
  }
  // What follows an end mark, the footer of a file for one, has no rows.
  if (!has_ended) take({arrow_end_, 0});
  return salvage;
}

void Shard::TakeSalvaged() {
  Salvage salvage = SalvageRows();
  places_ = std::move(salvage.places);
  in_voxels_ = CountsVoxels();
  if (salvage.lost.empty()) return;
  uint64_t bytes = 0;
  for (const ByteRange& range : salvage.lost) bytes += range.length;
  Warn(std::string(kLostKind),
       fmt::format("not whole are {} bytes in {} of its parts: their blocks are missing, "
                   "unless they are there a second time",
                   bytes, salvage.lost.size()),
       salvage.lost.front());
}

void Shard::CompareSalvaged(const ShardIndex& index, bool is_whole) {
  std::set<Key> keys;
  std::map<std::pair<uint64_t, uint32_t>, Key> by_place;
  for (const BlockLocation& place : places_) {
    keys.insert(place.key);
    by_place.emplace(std::pair(place.range.end(), place.row), place.key);
  }
  size_t wrong = 0;
  size_t scaled = 0;
  std::vector<Key> missing;
  for (const IndexRow& row : index.rows) {
    const auto found = by_place.find({row.range.end(), row.row});
    const bool is_there = index.has_ranges && found != by_place.end();
    if (is_there && found->second == row.key) continue;
    if (is_there && in_voxels_ && IsScaled(row.key, found->second)) {
      ++scaled;
      continue;
    }
    ++wrong;
    if (!keys.contains(row.key)) missing.push_back(row.key);
  }
  // The index counts voxels as it should, and the columns blocks.
  if (scaled > 0) {
    for (BlockLocation& place : places_) place.key = CornerOfBlock(place.key);
  }
  if (!missing.empty() && (!is_whole || index.rows.size() > keys.size())) {
    Warn(std::string(kLostKind),
         fmt::format("{} of the {} blocks that its index lists are not in the data, {} "
                     "for one: they are missing",
                     missing.size(), index.rows.size(), ToString(missing.front())),
         std::nullopt);
    return;
  }
  // NameRows() has said it of an index without ranges, and of one with fewer rows.
  const bool is_said = !index.has_ranges || index.rows.size() != places_.size();
  if (!is_whole || is_said || wrong == 0) return;
  Warn("index",
       fmt::format("{} of the {} rows of its index contradict the columns, which decide",
                   wrong, index.rows.size()),
       std::nullopt);
}

// Of rows with one key, the last is kept.
void Shard::DropRepeated() {
  std::vector<bool> dropped(places_.size());
  for (size_t i = 0; i + 1 < sorted_.size(); ++i) {
    dropped[sorted_[i]] = places_[sorted_[i]].key == places_[sorted_[i + 1]].key;
  }
  size_t kept = 0;
  for (size_t i = 0; i < places_.size(); ++i) {
    if (!dropped[i]) places_[kept++] = places_[i];
  }
  Warn("twice",
       fmt::format("{} of {} rows are left out: their blocks are there again further on",
                   places_.size() - kept, places_.size()),
       std::nullopt);
  places_.resize(kept);
}

}  // namespace dolium::dvid
