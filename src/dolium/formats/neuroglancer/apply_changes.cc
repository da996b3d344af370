// ApplyChanges: puts and removes chunks by rewriting just the shards they are in.
//
// A rewrite is compare-and-swap: the new shard is made from one generation of the old one
// and replaces only that generation. Whoever loses the race starts over from the new
// state.
#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "dolium/formats/neuroglancer/mesh_manifest.h"
#include "dolium/formats/neuroglancer/piece_sources.h"
#include "dolium/formats/neuroglancer/sharded_container.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::neuroglancer {
namespace {

// Every round one writer wins, so this many writers may meet at one shard.
constexpr int kMaxRounds = 1000;
constexpr int kMaxPauseMilliseconds = 20;

// What becomes of one chunk: new bytes (preceding and stored value), or nothing.
struct EncodedChange {
  bool remove = false;
  bool only_if_absent = false;
  ByteVector bytes;
  uint64_t preceding = 0;
};
using ShardChanges = std::map<uint64_t, EncodedChange>;  // by id

Result<EncodedChange> EncodeChange(const ShardingSpec& spec, Kind kind,
                                   const Change& change) {
  EncodedChange out;
  if (!change.value) {
    out.remove = true;
    return out;
  }
  if (kind == Kind::kMesh) {
    DOLIUM_TRY(const uint64_t fragments, FragmentBytes(*change.value));
    if (fragments != change.preceding.size()) {
      return InvalidArgument(fmt::format(
          "the manifest lists {} bytes of fragments, {} bytes are given to precede it",
          fragments, change.preceding.size()));
    }
  }
  DOLIUM_TRY(const ByteVector stored,
             Encode(CodecsOf(spec.data_encoding), *change.value));
  Append(out.bytes, change.preceding);
  Append(out.bytes, stored);
  out.preceding = change.preceding.size();
  out.only_if_absent = change.only_if_absent;
  return out;
}

// A shard as it is, with changes laid over it.
class ChangedSource : public PieceSource {
 public:
  ChangedSource(const ShardingSpec& spec, std::unique_ptr<ShardSource> old,
                const ShardChanges& changes)
      : spec_(spec), old_(std::move(old)), changes_(changes) {}

  Result<void> Load(uint64_t minishard, std::vector<Piece>& pieces) override {
    if (old_ != nullptr) DOLIUM_TRY_VOID(old_->Load(minishard, pieces));
    std::erase_if(pieces,
                  [&](const Piece& piece) { return changes_.contains(piece.id); });
    for (const auto& [id, change] : changes_) {
      if (change.remove || spec_.PlaceOf(id).minishard != minishard) continue;
      pieces.push_back({.id = id,
                        .length = change.bytes.size() - change.preceding,
                        .preceding = change.preceding,
                        .memory = change.bytes.data()});
    }
    return {};
  }

  std::span<const PieceInput> inputs() const override {
    return old_ == nullptr ? std::span<const PieceInput>() : old_->inputs();
  }

 private:
  const ShardingSpec& spec_;
  std::unique_ptr<ShardSource> old_;
  const ShardChanges& changes_;
};

class ShardRewriter {
 public:
  ShardRewriter(const ShardReader& reader, Store& store, Kind kind, uint64_t shard,
                const ShardChanges& changes)
      : reader_(reader), store_(store), kind_(kind), shard_(shard), changes_(changes) {}

  Result<void> Run() {
    std::minstd_rand random(std::random_device{}());
    for (int round = 0;; ++round) {
      auto done = Attempt();
      if (done) break;
      if (done.error().code != ErrorCode::kConflict || round == kMaxRounds) return done;
      std::this_thread::sleep_for(
          std::chrono::milliseconds(random() % kMaxPauseMilliseconds));
    }
    for (const auto& [id, change] : changes_) reader_.Forget(id);
    return {};
  }

 private:
  // One try; kConflict if somebody else changed the shard meanwhile.
  Result<void> Attempt() {
    DOLIUM_TRY(const auto found, reader_.FindShard(shard_));
    const ShardObjects single = reader_.ObjectsOf(shard_, /*pair=*/false);
    std::shared_ptr<void> lock;
    std::unique_ptr<ShardSource> old;
    Precondition precondition = Precondition::Absent();
    if (found) {
      DOLIUM_TRY(lock, store_.LockForRewrite(found->index));
      DOLIUM_TRY(old,
                 LostIf(ErrorCode::kNotFound, ShardSource::Open(reader_, *found, kind_)));
      if (!found->is_pair()) precondition = Precondition::At(old->generation());
      DOLIUM_TRY_VOID(CheckAgainst(*old));
    }
    ChangedSource source(reader_.spec(), std::move(old), changes_);
    DOLIUM_TRY(const auto out, store_.Begin(single.index));
    auto written = AssembleShard(reader_.spec(), source, *out, {});
    if (!written) return std::move(written).error().Within(store_.Describe(single.index));
    if (written->entries != 0) {
      DOLIUM_TRY_VOID(LostIf(ErrorCode::kExists, out->Commit(precondition)));
      return RemovePair();  // The `.shard` takes precedence from the commit on.
    }
    DOLIUM_TRY_VOID(RemovePair());  // First: else it would come back to life.
    if (!found || found->is_pair()) return {};
    return LostIf(ErrorCode::kNotFound, store_.Remove(single.index, precondition));
  }

  // The result, with an error of `code` as kConflict: somebody else was faster.
  template <typename T>
  static Result<T> LostIf(ErrorCode code, Result<T> result) {
    if (result || result.error().code != code) return result;
    return Conflict(result.error().message);
  }

  // Removes the obsolete form of the shard, which may also be what a killed rewrite left.
  Result<void> RemovePair() {
    const ShardObjects pair = reader_.ObjectsOf(shard_, /*pair=*/true);
    for (const std::string& object : {pair.index, pair.body}) {
      auto removed = store_.Remove(object, Precondition::None());
      if (!removed && removed.error().code != ErrorCode::kNotFound) return removed;
    }
    return {};
  }

  // Whether what the changes want there, or not there, is so.
  Result<void> CheckAgainst(ShardSource& old) const {
    std::vector<Piece> pieces;
    for (const auto& [id, change] : changes_) {
      if (!change.remove && !change.only_if_absent) continue;
      pieces.clear();
      DOLIUM_TRY_VOID(old.Load(reader_.spec().PlaceOf(id).minishard, pieces));
      const bool is_there = std::ranges::find(pieces, id, &Piece::id) != pieces.end();
      if (change.remove && !is_there) return Absent(id);
      if (change.only_if_absent && is_there) {
        return Exists(fmt::format("{}: {}: is there already; --force replaces it",
                                  reader_.folder().Describe(), id));
      }
    }
    return {};
  }

  Error Absent(uint64_t id) const {
    return NotFound(fmt::format("{}: no chunk {}", reader_.folder().Describe(), id));
  }

  const ShardReader& reader_;
  Store& store_;
  const Kind kind_;
  const uint64_t shard_;
  const ShardChanges& changes_;
};

}  // namespace

Result<void> ApplyChanges(const ShardReader& reader, Store& store, Kind kind,
                          std::span<const Change> changes) {
  std::map<uint64_t, ShardChanges> by_shard;
  for (const Change& change : changes) {
    DOLIUM_TRY(const uint64_t id, ParseKey(change.key));
    if (!change.value) {
      DOLIUM_TRY(const auto chunk, reader.Locate(id));
      if (!chunk)
        return NotFound(fmt::format("{}: no chunk {}", reader.folder().Describe(), id));
    }
    auto encoded = EncodeChange(reader.spec(), kind, change);
    if (!encoded) return std::move(encoded).error().Within(fmt::format("chunk {}", id));
    ShardChanges& shard = by_shard[reader.spec().PlaceOf(id).shard];
    if (!shard.emplace(id, *std::move(encoded)).second) {
      return InvalidArgument(fmt::format("chunk {} is given twice", id));
    }
  }
  DOLIUM_TRY_VOID(store.RemoveStaleTemporaries(reader.folder().path));
  for (const auto& [shard, shard_changes] : by_shard) {
    DOLIUM_TRY_VOID(ShardRewriter(reader, store, kind, shard, shard_changes).Run());
  }
  return {};
}

}  // namespace dolium::neuroglancer
