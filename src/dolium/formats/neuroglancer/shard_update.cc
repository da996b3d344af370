#include "dolium/formats/neuroglancer/shard_update.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/formats/neuroglancer/chunk_sources.h"
#include "dolium/formats/neuroglancer/shard_assembler.h"

namespace dolium::neuroglancer {
namespace {

// Every round one writer wins, so this many writers may meet at one shard.
constexpr int kMaxRounds = 1000;
constexpr int kMaxPauseMilliseconds = 20;

// The most to copy between two looks at the stop request.
constexpr uint64_t kCopyBytes = uint64_t{64} << 20;

// One update on its way.
struct Pending {
  const ChunkUpdate* update = nullptr;
  uint64_t minishard = 0;
  std::optional<StoredChunk> old;  // of the generation that is being replaced
  bool is_made = false;
  bool remove = false;
  ByteVector bytes;  // preceding and stored value
  uint64_t preceding = 0;

  std::pair<uint64_t, uint64_t> place() const { return {minishard, update->id}; }
};

// A shard as it is, with updates laid over it.
class UpdatedSource : public ChunkSource {
 public:
  UpdatedSource(std::unique_ptr<ShardSource> old, std::span<const Pending> updates)
      : old_(std::move(old)), updates_(updates) {}

  Result<void> Load(uint64_t minishard,
                    std::vector<StoredChunk>& stored_chunks) override {
    if (old_ != nullptr) DOLIUM_TRY_VOID(old_->Load(minishard, stored_chunks));
    const auto here =
        std::ranges::equal_range(updates_, minishard, {}, &Pending::minishard);
    const auto id_of = [](const Pending& pending) { return pending.update->id; };
    std::erase_if(stored_chunks, [&](const StoredChunk& stored_chunk) {
      return std::ranges::binary_search(here, stored_chunk.id, {}, id_of);
    });
    for (const Pending& pending : here) {
      if (pending.remove) continue;
      stored_chunks.push_back({.id = pending.update->id,
                               .length = pending.bytes.size() - pending.preceding,
                               .preceding = pending.preceding,
                               .memory = pending.bytes.data()});
    }
    return {};
  }

  std::span<const ChunkInput> inputs() const override {
    return old_ == nullptr ? std::span<const ChunkInput>() : old_->inputs();
  }

 private:
  std::unique_ptr<ShardSource> old_;
  std::span<const Pending> updates_;
};

// Passes everything on to another writer, reports progress, and follows a stop request.
class WatchedWriter final : public ObjectWriter {
 public:
  WatchedWriter(ObjectWriter& out, const UpdateOptions& options)
      : out_(out), options_(options) {}

  Result<void> Append(BytesView bytes) override {
    DOLIUM_TRY_VOID(out_.Append(bytes));
    return Watch();
  }
  Result<void> AppendFrom(const Store& source, std::string_view object, ByteRange range,
                          const Generation& generation) override {
    while (!range.empty()) {
      const uint64_t length = std::min(range.length, kCopyBytes);
      DOLIUM_TRY_VOID(
          out_.AppendFrom(source, object, {range.offset, length}, generation));
      DOLIUM_TRY_VOID(Watch());
      range = {range.offset + length, range.length - length};
    }
    return {};
  }
  uint64_t size() const override { return out_.size(); }
  Result<Generation> Commit(const Precondition& precondition) override {
    return out_.Commit(precondition);
  }

 private:
  Result<void> Watch() const {
    if (options_.progress) options_.progress(out_.size());
    if (options_.stop.stop_requested()) return Cancelled();
    return {};
  }

  ObjectWriter& out_;
  const UpdateOptions& options_;
};

class ShardUpdater {
 public:
  ShardUpdater(const ShardReader& reader, Store& store, Kind kind, uint64_t shard,
               std::span<const ChunkUpdate> updates, const UpdateOptions& options)
      : reader_(reader),
        store_(store),
        kind_(kind),
        shard_(shard),
        options_(options),
        codecs_(CodecsOf(reader.spec().data_encoding)) {
    updates_.reserve(updates.size());
    for (const ChunkUpdate& update : updates) {
      Pending& pending = updates_.emplace_back();
      pending.update = &update;
      pending.minishard = reader_.spec().LocationOf(update.id).minishard;
    }
    std::ranges::sort(updates_, {}, &Pending::place);
  }

  Result<void> Run() {
    std::minstd_rand random(std::random_device{}());
    for (int round = 0;; ++round) {
      if (options_.stop.stop_requested()) return Cancelled();
      auto done = Attempt();
      if (done) break;
      if (done.error().code != ErrorCode::kConflict || round == kMaxRounds) return done;
      std::this_thread::sleep_for(
          std::chrono::milliseconds(random() % kMaxPauseMilliseconds));
    }
    for (const Pending& pending : updates_) reader_.Forget(pending.update->id);
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
    }
    DOLIUM_TRY_VOID(FindOld(old.get()));
    DOLIUM_TRY_VOID(
        MakeAll(old == nullptr ? std::span<const ChunkInput>() : old->inputs()));
    UpdatedSource source(std::move(old), updates_);
    DOLIUM_TRY(const auto file, store_.Begin(single.index));
    WatchedWriter out(*file, options_);
    auto written = AssembleShard(reader_.spec(), source, out, {.stop = options_.stop});
    if (!written) return std::move(written).error().Within(store_.Describe(single.index));
    if (written->entries != 0) {
      DOLIUM_TRY_VOID(LostIf(ErrorCode::kExists, out.Commit(precondition)));
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

  // Looks up what is there of the chunks whose updates ask for it.
  Result<void> FindOld(ShardSource* old) {
    std::vector<StoredChunk> stored_chunks;
    std::optional<uint64_t> loaded;
    for (Pending& pending : updates_) {
      pending.old.reset();
      if (old == nullptr || pending.update->needs == ChunkUpdate::Needs::kNothing) {
        continue;
      }
      if (loaded != pending.minishard) {
        stored_chunks.clear();
        DOLIUM_TRY_VOID(
            LostIf(ErrorCode::kNotFound, old->Load(pending.minishard, stored_chunks)));
        std::ranges::sort(stored_chunks, {}, &StoredChunk::id);
        loaded = pending.minishard;
      }
      const auto found = std::ranges::lower_bound(stored_chunks, pending.update->id, {},
                                                  &StoredChunk::id);
      if (found != stored_chunks.end() && found->id == pending.update->id)
        pending.old = *found;
    }
    return {};
  }

  Result<void> MakeAll(std::span<const ChunkInput> inputs) {
    return ParallelFor(
        updates_.size(), options_.jobs,
        [&](size_t i) -> Result<void> {
          Pending& pending = updates_[i];
          if (pending.is_made && pending.update->needs == ChunkUpdate::Needs::kNothing) {
            return {};
          }
          return Make(pending, inputs);
        },
        options_.stop);
  }

  Result<void> Make(Pending& pending, std::span<const ChunkInput> inputs) {
    OldChunk old;
    old.is_there = pending.old.has_value();
    if (old.is_there && pending.update->needs == ChunkUpdate::Needs::kValue) {
      DOLIUM_TRY(old.value, ReadOld(*pending.old, inputs));
    }
    DOLIUM_TRY(auto chunk, pending.update->make(old));
    pending.is_made = true;
    pending.remove = !chunk;
    pending.bytes.clear();
    pending.preceding = 0;
    if (!chunk) return {};
    pending.preceding = chunk->preceding.size();
    if (codecs_.empty() && chunk->preceding.empty()) {
      pending.bytes = std::move(chunk->value);
      return {};
    }
    DOLIUM_TRY(ByteVector stored, Encode(codecs_, chunk->value));
    pending.bytes = std::move(chunk->preceding);
    if (pending.bytes.empty()) {
      pending.bytes = std::move(stored);
    } else {
      Append(pending.bytes, stored);
    }
    return {};
  }

  Result<Bytes> ReadOld(const StoredChunk& stored_chunk,
                        std::span<const ChunkInput> inputs) const {
    const ChunkInput& input = inputs[stored_chunk.input];
    const auto about = [&](Error error) {
      return std::move(error).Within(fmt::format(
          "{}: chunk {}", input.store->Describe(input.object->name), stored_chunk.id));
    };
    if (stored_chunk.length > options_.decode_limit) {
      return about(Corrupt(fmt::format("{} bytes, more than the limit of {} bytes",
                                       stored_chunk.length, options_.decode_limit)));
    }
    Buffer stored(static_cast<size_t>(stored_chunk.length));
    const ReadSlice slice{stored_chunk.offset + stored_chunk.preceding, stored.view()};
    DOLIUM_TRY_VOID(
        LostIf(ErrorCode::kNotFound,
               input.store->ReadInto(input.object->name, std::span(&slice, 1),
                                     {.if_generation = input.object->generation})));
    auto value = Decode(codecs_, std::move(stored).Share(), options_.decode_limit);
    if (!value) return about(std::move(value).error());
    return value;
  }

  const ShardReader& reader_;
  Store& store_;
  const Kind kind_;
  const uint64_t shard_;
  const UpdateOptions& options_;
  const CodecChain codecs_;
  std::vector<Pending> updates_;  // in order of minishard and id
};

}  // namespace

Result<void> UpdateShard(const ShardReader& reader, Store& store, Kind kind,
                         uint64_t shard, std::span<const ChunkUpdate> updates,
                         const UpdateOptions& options) {
  return ShardUpdater(reader, store, kind, shard, updates, options).Run();
}

}  // namespace dolium::neuroglancer
