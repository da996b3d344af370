#include "dolium/formats/xet/mdb_lookup.h"

#include <vector>

#include <fmt/format.h>

namespace dolium::xet {

namespace {

// Steps by proportion before the rest is halved: tables that are not uniform must not
// cost more than others.
constexpr int kProportionalSteps = 12;
// Rows with the same number: of blocks, more cannot be by chance.
constexpr size_t kMostEqualBlocks = 64;
constexpr size_t kMostEqualChunks = 8;

uint64_t KeyAt(BytesView table, uint64_t row, size_t index) {
  return LoadLE<uint64_t>(table.data() + index * row);
}

template <typename Block>
Result<std::optional<Block>> FindByScan(BlockCursor<Block> cursor, const Hash& hash) {
  for (;;) {
    DOLIUM_TRY(const auto block, cursor.Next());
    if (!block || block->hash() == hash) return block;
  }
}

template <typename Block>
Result<std::optional<Block>> FindByTable(BytesView table, BytesView section,
                                         const Hash& hash) {
  const size_t rows = table.size() / kBlockRowSize;
  const size_t first = FirstRow(table, kBlockRowSize, hash.truncated());
  for (size_t i = first; i < rows; ++i) {
    if (KeyAt(table, kBlockRowSize, i) != hash.truncated()) break;
    if (i - first == kMostEqualBlocks) {
      return Corrupt(fmt::format("{} rows of a table begin with {:016x}", i - first,
                                 hash.truncated()));
    }
    const auto at = LoadLE<uint32_t>(table.data() + i * kBlockRowSize + 8);
    DOLIUM_TRY(const Block block, BlockAt<Block>(section, at));
    if (block.hash() == hash) return block;
  }
  return std::nullopt;
}

// Compares the wanted chunks with those of xorbs, and keeps the longest run.
class RunFinder {
 public:
  RunFinder(std::span<const Hash> chunks, const Hash& key) : chunks_(chunks), key_(key) {
    keyed_.push_back(KeyedChunkHash(key_, chunks_[0]));
  }

  uint64_t truncated() const { return keyed_[0].truncated(); }
  const std::optional<ChunkRun>& best() const { return best_; }

  // Precondition: first < xorb.size().
  void Try(const XorbBlock& xorb, size_t first) {
    size_t count = 0;
    while (count < chunks_.size() && first + count < xorb.size() &&
           xorb.chunk_hash(first + count) == Wanted(count)) {
      ++count;
    }
    if (count > 0 && (!best_ || best_->count < count)) {
      best_ = ChunkRun{.xorb = xorb, .first = first, .count = count};
    }
  }

 private:
  const Hash& Wanted(size_t i) {
    if (i == keyed_.size()) keyed_.push_back(KeyedChunkHash(key_, chunks_[i]));
    return keyed_[i];
  }

  std::span<const Hash> chunks_;
  Hash key_;
  std::vector<Hash> keyed_;
  std::optional<ChunkRun> best_;
};

Result<void> TryByScan(const ShardView& shard, RunFinder& finder) {
  for (XorbCursor cursor = shard.xorbs();;) {
    DOLIUM_TRY(const auto xorb, cursor.Next());
    if (!xorb) return {};
    for (size_t i = 0; i < xorb->size(); ++i) finder.Try(*xorb, i);
  }
}

Result<void> TryByTable(const ShardView& shard, RunFinder& finder) {
  const BytesView table = shard.chunk_table();
  const size_t rows = table.size() / kChunkRowSize;
  const size_t first = FirstRow(table, kChunkRowSize, finder.truncated());
  for (size_t i = first; i < rows && i - first < kMostEqualChunks; ++i) {
    if (KeyAt(table, kChunkRowSize, i) != finder.truncated()) break;
    const std::byte* row = table.data() + i * kChunkRowSize;
    DOLIUM_TRY(const XorbBlock xorb,
               BlockAt<XorbBlock>(shard.xorb_section(), LoadLE<uint32_t>(row + 8)));
    const size_t chunk = LoadLE<uint32_t>(row + 12);
    if (chunk >= xorb.size()) {
      return Corrupt(
          fmt::format("table of chunks names chunk {} of xorb {}, which has {}", chunk,
                      ToString(xorb.hash()), xorb.size()));
    }
    finder.Try(xorb, chunk);
  }
  return {};
}

}  // namespace

size_t FirstRow(BytesView table, uint64_t row, uint64_t key) {
  size_t low = 0;                    // all rows before are below `key`
  size_t high = table.size() / row;  // this one and those behind are not
  uint64_t low_key = 0;
  uint64_t high_key = ~uint64_t{0};
  for (int step = 0; low < high; ++step) {
    size_t middle = low + (high - low) / 2;
    if (step < kProportionalSteps && low_key < high_key && key >= low_key &&
        key <= high_key) {
      const double share =
          static_cast<double>(key - low_key) / static_cast<double>(high_key - low_key);
      middle = low + static_cast<size_t>(share * static_cast<double>(high - low - 1));
    }
    const uint64_t found = KeyAt(table, row, middle);
    if (found < key) {
      low = middle + 1;
      low_key = found;
    } else {
      high = middle;
      high_key = found;
    }
  }
  return low;
}

Result<std::optional<FileBlock>> FindFile(const ShardView& shard, const Hash& hash) {
  if (shard.file_table().empty()) return FindByScan(shard.files(), hash);
  return FindByTable<FileBlock>(shard.file_table(), shard.file_section(), hash);
}

Result<std::optional<XorbBlock>> FindXorb(const ShardView& shard, const Hash& hash) {
  if (shard.xorb_table().empty()) return FindByScan(shard.xorbs(), hash);
  return FindByTable<XorbBlock>(shard.xorb_table(), shard.xorb_section(), hash);
}

Result<std::optional<ChunkRun>> FindRun(const ShardView& shard,
                                        std::span<const Hash> chunks, uint64_t now) {
  if (chunks.empty() || shard.IsExpired(now)) return std::nullopt;
  RunFinder finder(chunks, shard.key());
  DOLIUM_TRY_VOID(shard.chunk_table().empty() ? TryByScan(shard, finder)
                                              : TryByTable(shard, finder));
  return finder.best();
}

}  // namespace dolium::xet
