#include "dolium/formats/neuroglancer/sharded_writer.h"

#include <charconv>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/formats/neuroglancer/chunk_sources.h"

namespace dolium::neuroglancer {
namespace {

constexpr uint64_t kMinMemory = uint64_t{64} << 10;

// A buffer of this part of the limit is worth a file of its own.
constexpr uint64_t kLargePart = 8;

// Chunks that one thread encodes into one block: small ones are not worth one each.
constexpr size_t kRunChunks = 256;
constexpr uint64_t kRunBytes = uint64_t{256} << 10;

// Memory that a buffer takes on its way out, with what it is encoded to.
uint64_t LeavingCost(const ShardingSpec& spec, const ChunkBuffer& buffer) {
  const uint64_t encoded = spec.data_encoding == Encoding::kRaw ? 0 : buffer.memory();
  return buffer.memory() + encoded + buffer.chunks().size() * sizeof(StoredChunk);
}

// Parts of the memory: one for buffers that are filled, the others for one that leaves.
uint64_t MemoryParts(const ShardingSpec& spec) {
  return spec.data_encoding == Encoding::kRaw ? 2 : 3;
}

uint64_t BufferLimit(const ShardingSpec& spec, uint64_t memory) {
  return std::max(memory, kMinMemory) / MemoryParts(spec);
}

// The chunks of a buffer, encoded where they must be; `blocks` own the new bytes.
struct EncodedChunks {
  std::vector<StoredChunk> stored_chunks;
  std::vector<ByteVector> blocks;
};

// Where runs of chunks begin, and the end of the last.
std::vector<size_t> RunsOf(std::span<const BufferedChunk> chunks) {
  std::vector<size_t> begins = {0};
  uint64_t bytes = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (i - begins.back() == kRunChunks || bytes >= kRunBytes) {
      begins.push_back(i);
      bytes = 0;
    }
    bytes += chunks[i].preceding + chunks[i].length;
  }
  begins.push_back(chunks.size());
  return begins;
}

Result<EncodedChunks> EncodeChunks(const ShardingSpec& spec, const ChunkBuffer& buffer,
                                   size_t jobs) {
  const CodecChain codecs = CodecsOf(spec.data_encoding);
  const std::vector<BufferedChunk>& chunks = buffer.chunks();
  EncodedChunks out;
  out.stored_chunks.reserve(chunks.size());
  for (const BufferedChunk& chunk : chunks) {
    out.stored_chunks.push_back({.id = chunk.id,
                                 .length = chunk.length,
                                 .preceding = chunk.preceding,
                                 .memory = chunk.data});
  }
  if (codecs.empty()) return out;
  const std::vector<size_t> runs = RunsOf(chunks);
  out.blocks.resize(runs.size() - 1);
  DOLIUM_TRY_VOID(ParallelFor(out.blocks.size(), jobs, [&](size_t run) -> Result<void> {
    ByteVector block;
    std::vector<std::pair<size_t, size_t>> placed;  // chunk, its place in the block
    for (size_t i = runs[run]; i < runs[run + 1]; ++i) {
      if (chunks[i].encoded) continue;
      DOLIUM_TRY(const ByteVector value, Encode(codecs, chunks[i].value()));
      placed.emplace_back(i, block.size());
      Append(block, chunks[i].preceding_view());
      Append(block, value);
      out.stored_chunks[i].length = value.size();
    }
    block.shrink_to_fit();
    for (const auto& [i, at] : placed) out.stored_chunks[i].memory = &block[at];
    out.blocks[run] = std::move(block);
    return {};
  }));
  return out;
}

}  // namespace

Result<uint64_t> ParseKey(std::string_view key) {
  uint64_t id = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
  if (key.empty() || error != std::errc() || end != key.data() + key.size()) {
    return InvalidArgument(
        fmt::format("key \"{}\" is not a number from 0 to 18446744073709551615", key));
  }
  return id;
}

ShardedWriter::ShardedWriter(Location folder, const ShardingSpec& spec,
                             const WriterOptions& options, Appear appear)
    : folder_(std::move(folder)),
      spec_(spec),
      options_(options),
      appear_(appear),
      jobs_(ThreadCount(options.jobs, SIZE_MAX)),
      buffer_limit_(BufferLimit(spec, options.memory)),
      spills_(std::in_place, folder_, options.spill_folder),
      workers_(jobs_) {}

ShardedWriter::~ShardedWriter() {
  // An error has been reported already, or nobody asks any more.
  if (auto waited = workers_.Wait(); !waited) static_cast<void>(waited.error());
}

Result<void> ShardedWriter::Add(const NewEntry& entry) {
  DOLIUM_TRY(const uint64_t id, ParseKey(entry.key));
  return AddChunk(id, entry.value, entry.preceding, entry.encoded);
}

Result<void> ShardedWriter::AddChunk(uint64_t id, BytesView value, BytesView preceding,
                                     bool encoded) {
  const uint64_t shard = spec_.LocationOf(id).shard;
  ShardState* state = nullptr;
  if (!turns_.empty() && turns_.back() == shard) {
    state = &shards_.find(shard)->second;
  } else {
    auto found = shards_.find(shard);
    if (found == shards_.end()) {
      const std::lock_guard lock(mutex_);  // Workers look shards up, too.
      found = shards_.try_emplace(shard).first;
    }
    state = &found->second;
    if (state->buffer == nullptr) {
      state->buffer = std::make_unique<ChunkBuffer>(pool_);
      state->turn = turns_.insert(turns_.end(), shard);
    } else {
      turns_.splice(turns_.end(), turns_, state->turn);
    }
  }
  const uint64_t before = LeavingCost(spec_, *state->buffer);
  state->buffer->Add(id, value, preceding, encoded);
  buffered_cost_ += LeavingCost(spec_, *state->buffer) - before;
  ++entries_;
  value_bytes_ += value.size();
  if (buffered_cost_ <= buffer_limit_ * (MemoryParts(spec_) - 1)) return {};
  return MakeRoom();
}

Result<void> ShardedWriter::MakeRoom() {
  if (options_.stop.stop_requested()) return Cancelled();
  const uint64_t oldest = turns_.front();
  ShardState& state = shards_.find(oldest)->second;
  if (state.buffer->memory() >= buffer_limit_ / kLargePart) {
    bool first =
        appear_ == Appear::kEarly && !state.laid_out && !state.buffer->has_preceding();
    {
      const std::lock_guard lock(mutex_);
      first = first && state.spills.empty();
    }
    if (first) {
      state.laid_out = true;
      LayOut(Take(oldest));
    } else {
      std::vector<Leaving> leaving;
      leaving.push_back(Take(oldest));
      DOLIUM_TRY_VOID(Spill(std::move(leaving)));
    }
  } else {
    std::vector<Leaving> leaving;
    while (!turns_.empty()) leaving.push_back(Take(turns_.front()));
    DOLIUM_TRY_VOID(Spill(std::move(leaving)));
  }
  return workers_.status();
}

ShardedWriter::Leaving ShardedWriter::Take(uint64_t shard) {
  ShardState& state = shards_.find(shard)->second;
  turns_.erase(state.turn);
  buffered_cost_ -= LeavingCost(spec_, *state.buffer);
  return {shard, std::move(state.buffer)};
}

void ShardedWriter::Start(uint64_t memory, WorkerPool::Work work) {
  const uint64_t budget = std::max(options_.memory, kMinMemory) - buffer_limit_;
  {
    std::unique_lock lock(mutex_);
    memory_freed_.wait(lock,
                       [&] { return in_flight_ == 0 || in_flight_ + memory <= budget; });
    in_flight_ += memory;
  }
  // Given back when the work is destroyed, so also when it is dropped after an error.
  auto taken = std::shared_ptr<void>(nullptr, [this, memory](void*) {
    const std::lock_guard lock(mutex_);
    in_flight_ -= memory;
    memory_freed_.notify_all();
  });
  workers_.Submit(
      [taken = std::move(taken), work = std::move(work)]() { return work(); });
}

void ShardedWriter::LayOut(Leaving leaving) {
  const uint64_t memory = LeavingCost(spec_, *leaving.buffer);
  Start(memory, [this, leaving = std::move(leaving)]() -> Result<void> {
    DOLIUM_TRY(auto encoded, EncodeChunks(spec_, *leaving.buffer, jobs_));
    ListSource source(spec_, std::move(encoded.stored_chunks), {});
    return WriteShard(leaving.shard, source, jobs_);
  });
}

Result<void> ShardedWriter::Spill(std::vector<Leaving> leaving) {
  DOLIUM_TRY(Store* const store, spills_->store());
  spill_store_ = store;
  uint64_t memory = 0;
  for (const Leaving& one : leaving) memory += LeavingCost(spec_, *one.buffer);
  const std::string object = fmt::format("{:06}", spill_count_++);
  Start(memory, [this, store, object, leaving = std::move(leaving)]() -> Result<void> {
    std::vector<EncodedChunks> encoded;
    std::vector<SpilledChunks> shards;
    for (const Leaving& one : leaving) {
      DOLIUM_TRY(auto stored_chunks, EncodeChunks(spec_, *one.buffer, jobs_));
      shards.push_back({one.shard, std::move(stored_chunks.stored_chunks)});
      encoded.push_back(std::move(stored_chunks));
    }
    DOLIUM_TRY(const auto segments, WriteSpill(*store, object, spec_, shards));
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < shards.size(); ++i) {
      shards_.find(shards[i].shard)->second.spills.push_back(segments[i]);
    }
    return {};
  });
  return {};
}

Result<WriteSummary> ShardedWriter::Finish() {
  DOLIUM_TRY_VOID(workers_.Wait());
  std::vector<std::pair<uint64_t, ShardState*>> rest;
  for (auto& [shard, state] : shards_) {
    if (state.buffer != nullptr || !state.spills.empty())
      rest.emplace_back(shard, &state);
  }
  const size_t writers = ThreadCount(jobs_, rest.size());
  DOLIUM_TRY_VOID(ParallelFor(
      rest.size(), writers,
      [&](size_t i) { return FinishShard(rest[i].first, *rest[i].second, writers); },
      options_.stop));
  spills_.reset();
  WriteSummary summary{.entries = entries_, .value_bytes = value_bytes_};
  for (const auto& [shard, state] : shards_) {
    summary.stored_bytes += state.stored_bytes;
    ++summary.objects;
  }
  return summary;
}

Result<void> ShardedWriter::FinishShard(uint64_t shard, ShardState& state,
                                        size_t writers) {
  JoinedSource source;
  const ShardReader reader(folder_, spec_, 0);
  if (state.laid_out) {
    // Nothing with preceding bytes is laid out early.
    DOLIUM_TRY(auto there,
               ShardSource::Open(reader, reader.ObjectsOf(shard, /*pair=*/false),
                                 Kind::kSkeletons));
    source.Add(std::move(there));
  }
  for (const SpillSegment& segment : state.spills) {
    source.Add(std::make_unique<SpillSource>(*spill_store_, spec_, segment));
  }
  EncodedChunks encoded;
  if (state.buffer != nullptr) {
    DOLIUM_TRY(encoded,
               EncodeChunks(spec_, *state.buffer, std::max<size_t>(1, jobs_ / writers)));
    source.Add(std::make_unique<ListSource>(spec_, std::move(encoded.stored_chunks),
                                            std::vector<ChunkInput>()));
  }
  DOLIUM_TRY_VOID(WriteShard(shard, source, writers));
  state.buffer = nullptr;
  return {};
}

Result<void> ShardedWriter::WriteShard(uint64_t shard, ChunkSource& source,
                                       size_t writers) {
  const std::string object = JoinPath(folder_.path, spec_.ShardStem(shard) + ".shard");
  const auto write = [&]() -> Result<WriteSummary> {
    DOLIUM_TRY(const auto out, folder_.store->Begin(object));
    DOLIUM_TRY(const WriteSummary written,
               AssembleShard(
                   spec_, source, *out,
                   {.memory = options_.memory / (4 * writers), .stop = options_.stop}));
    DOLIUM_TRY_VOID(out->Commit(Precondition::None()));
    return written;
  };
  auto written = write();
  if (!written) return std::move(written).error().Within(folder_.store->Describe(object));
  const std::lock_guard lock(mutex_);
  shards_.find(shard)->second.stored_bytes = written->stored_bytes;
  return {};
}

}  // namespace dolium::neuroglancer
