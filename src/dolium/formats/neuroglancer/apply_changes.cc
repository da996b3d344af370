// ApplyChanges: puts and removes chunks by rewriting just the shards they are in.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "dolium/formats/neuroglancer/mesh_manifest.h"
#include "dolium/formats/neuroglancer/shard_update.h"
#include "dolium/formats/neuroglancer/sharded_container.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::neuroglancer {
namespace {

// How far the rewrites of all shards are. What a lost round has written is taken back.
class RewriteProgress {
 public:
  RewriteProgress(const ProgressFunction& report, uint64_t total)
      : report_(report), total_(total) {}

  // The next shard takes about `expected` bytes.
  void Begin(uint64_t expected) { expected_ = expected; }
  void Report(uint64_t written) const {
    if (!report_) return;
    report_({.bytes = before_ + std::min(written, expected_), .total_bytes = total_});
  }
  void End() {
    Report(expected_);
    before_ += expected_;
  }

 private:
  const ProgressFunction& report_;
  const uint64_t total_;
  uint64_t before_ = 0;  // of the shards that are done
  uint64_t expected_ = 0;
};

Result<void> CheckFragments(const Change& change) {
  DOLIUM_TRY(const uint64_t fragments, FragmentBytes(*change.value));
  if (fragments == change.preceding.size()) return {};
  return InvalidArgument(fmt::format(
      "the manifest lists {} bytes of fragments, {} bytes are given to precede it",
      fragments, change.preceding.size()));
}

ByteVector ToVector(BytesView bytes) { return {bytes.begin(), bytes.end()}; }

ChunkUpdate ToUpdate(const ShardReader& reader, uint64_t id, const Change& change) {
  using Needs = ChunkUpdate::Needs;
  const bool asks = !change.value || change.only_if_absent;
  return {
      .id = id,
      .make = [&reader, id,
               &change](const OldChunk& old) -> Result<std::optional<NewChunk>> {
        if (!change.value) {
          if (old.is_there) return std::nullopt;
          return NotFound(fmt::format("{}: no chunk {}", reader.folder().Describe(), id));
        }
        if (change.only_if_absent && old.is_there) {
          return Exists(fmt::format("{}: {}: is there already",
                                    reader.folder().Describe(), id))
              .WithHint(Hint::kReplace);
        }
        return NewChunk{ToVector(*change.value), ToVector(change.preceding)};
      },
      .needs = asks ? Needs::kPresence : Needs::kNothing};
}

// About how many bytes a shard will take: what it takes now, and what comes in.
Result<uint64_t> ExpectedBytes(const ShardReader& reader, uint64_t shard,
                               uint64_t added) {
  DOLIUM_TRY(const auto found, reader.FindShard(shard));
  if (!found) return added;
  DOLIUM_TRY(const auto body, reader.store().Stat(found->body));
  return body ? body->size + added : added;
}

}  // namespace

Result<void> ApplyChanges(const ShardReader& reader, Store& store, Kind kind,
                          std::span<const Change> changes, const ChangeOptions& options) {
  struct OfShard {
    std::vector<ChunkUpdate> updates;
    uint64_t bytes = 0;  // that the shard will take, about
  };
  std::map<uint64_t, OfShard> by_shard;
  std::set<uint64_t> ids;
  for (const Change& change : changes) {
    DOLIUM_TRY(const uint64_t id, ParseKey(change.key));
    if (!ids.insert(id).second) {
      return InvalidArgument(fmt::format("chunk {} is given twice", id));
    }
    if (!change.value) {
      DOLIUM_TRY(const auto chunk, reader.Locate(id));
      if (!chunk)
        return NotFound(fmt::format("{}: no chunk {}", reader.folder().Describe(), id));
    } else if (kind == Kind::kMesh) {
      DOLIUM_TRY_VOID(CheckFragments(change).Within(fmt::format("chunk {}", id)));
    }
    OfShard& shard = by_shard[reader.spec().LocationOf(id).shard];
    shard.updates.push_back(ToUpdate(reader, id, change));
    shard.bytes += change.preceding.size() + (change.value ? change.value->size() : 0);
  }
  DOLIUM_TRY_VOID(store.RemoveStaleTemporaries(reader.folder().path));
  uint64_t total = 0;
  if (options.progress) {
    for (auto& [shard, of_shard] : by_shard) {
      DOLIUM_TRY(of_shard.bytes, ExpectedBytes(reader, shard, of_shard.bytes));
      total += of_shard.bytes;
    }
  }
  RewriteProgress progress(options.progress, total);
  for (const auto& [shard, of_shard] : by_shard) {
    progress.Begin(of_shard.bytes);
    DOLIUM_TRY_VOID(
        UpdateShard(reader, store, kind, shard, of_shard.updates,
                    {.progress = [&](uint64_t bytes) { progress.Report(bytes); },
                     .stop = options.stop}));
    progress.End();
  }
  return {};
}

}  // namespace dolium::neuroglancer
