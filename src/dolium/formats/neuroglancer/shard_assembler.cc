#include "dolium/formats/neuroglancer/shard_assembler.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "dolium/formats/neuroglancer/shard_index.h"

namespace dolium::neuroglancer {
namespace {

// The shard index is 4 GiB then; what is held in memory goes by the minishards that have
// chunks.
constexpr unsigned kMaxWritableMinishardBits = 28;

// Rows of the shard index that are written at once.
constexpr uint64_t kIndexRowsAtOnce = uint64_t{1} << 16;

// Segments of at least this size are left to the kernel; smaller ones are read in
// batches.
constexpr uint64_t kKernelCopyBytes = uint64_t{128} << 10;
constexpr uint64_t kBatchBytes = uint64_t{8} << 20;
constexpr uint64_t kMinBatchBytes = uint64_t{256} << 10;
constexpr size_t kBatchSegments = 4096;

// Copies chunks to the output in order: joins neighbours, batches small reads.
class ChunkCopier {
 public:
  // Holds `batch_bytes` of small chunks.
  ChunkCopier(std::span<const ChunkInput> inputs, ObjectWriter& out, uint64_t batch_bytes)
      : inputs_(inputs), out_(out), batch_bytes_(batch_bytes) {}

  Result<void> Add(const StoredChunk& stored_chunk) {
    if (stored_chunk.memory != nullptr) {
      DOLIUM_TRY_VOID(Flush());
      return out_.Append({stored_chunk.memory, stored_chunk.total()});
    }
    if (stored_chunk.total() == 0) return {};
    if (!segments_.empty()) {
      Segment& last = segments_.back();
      if (last.input == stored_chunk.input &&
          last.offset + last.length == stored_chunk.offset &&
          last.length < batch_bytes_) {
        last.length += stored_chunk.total();
        bytes_ += stored_chunk.total();
        return {};
      }
    }
    if (bytes_ >= batch_bytes_ || segments_.size() >= kBatchSegments)
      DOLIUM_TRY_VOID(Flush());
    segments_.push_back({stored_chunk.input, stored_chunk.offset, stored_chunk.total()});
    bytes_ += stored_chunk.total();
    return {};
  }

  Result<void> Flush() {
    size_t begin = 0;
    while (begin < segments_.size()) {
      const Segment& first = segments_[begin];
      if (first.length >= kKernelCopyBytes) {
        const ChunkInput& input = inputs_[first.input];
        DOLIUM_TRY_VOID(out_.AppendFrom(*input.store, input.object->name,
                                        {first.offset, first.length},
                                        input.object->generation));
        ++begin;
        continue;
      }
      size_t end = begin;
      while (end < segments_.size() && segments_[end].length < kKernelCopyBytes) ++end;
      DOLIUM_TRY_VOID(CopyThroughMemory(begin, end));
      begin = end;
    }
    segments_.clear();
    bytes_ = 0;
    return {};
  }

 private:
  struct Segment {
    uint32_t input = 0;
    uint64_t offset = 0;
    uint64_t length = 0;
  };

  Result<void> CopyThroughMemory(size_t begin, size_t end) {
    uint64_t total = 0;
    for (size_t i = begin; i < end; ++i) total += segments_[i].length;
    buffer_.resize(total);
    std::map<uint32_t, std::vector<ReadSlice>> slices;  // by input
    uint64_t at = 0;
    for (size_t i = begin; i < end; ++i) {
      const Segment& segment = segments_[i];
      slices[segment.input].push_back(
          {segment.offset, MutableBytes(buffer_).subspan(at, segment.length)});
      at += segment.length;
    }
    for (const auto& [number, of_input] : slices) {
      const ChunkInput& input = inputs_[number];
      DOLIUM_TRY_VOID(input.store->ReadInto(input.object->name, of_input,
                                            {.if_generation = input.object->generation}));
    }
    return out_.Append(buffer_);
  }

  std::span<const ChunkInput> inputs_;
  ObjectWriter& out_;
  const uint64_t batch_bytes_;
  std::vector<Segment> segments_;
  uint64_t bytes_ = 0;
  ByteVector buffer_;
};

// What the first pass learns of a minishard that has chunks, and may keep for the second.
struct PlannedMinishard {
  uint64_t number = 0;
  ShardIndexRow row;
  bool kept = false;
  std::vector<StoredChunk> stored_chunks;
  ByteVector index;  // encoded
};

class Assembler {
 public:
  Assembler(const ShardingSpec& spec, ChunkSource& source, ObjectWriter& out,
            const AssembleOptions& options)
      : spec_(spec), source_(source), out_(out), options_(options) {}

  Result<WriteSummary> Run() {
    if (spec_.minishard_bits > kMaxWritableMinishardBits) {
      return Unsupported(
          fmt::format("a shard with 2^{} minishards cannot be written; the most is 2^{}",
                      spec_.minishard_bits, kMaxWritableMinishardBits));
    }
    DOLIUM_TRY_VOID(Plan());
    if (summary_.entries == 0) return summary_;
    DOLIUM_TRY_VOID(WriteShardIndex());
    DOLIUM_TRY_VOID(source_.Rewind());
    DOLIUM_TRY_VOID(WriteBody());
    summary_.stored_bytes = out_.size();
    summary_.objects = 1;
    return summary_;
  }

 private:
  // First pass: sizes alone decide where everything goes.
  Result<void> Plan() {
    const uint64_t count = spec_.minishard_count();
    uint64_t cursor = 0;
    for (uint64_t minishard = source_.FindNext(0); minishard < count;
         minishard = source_.FindNext(minishard + 1)) {
      std::vector<StoredChunk> stored_chunks;
      DOLIUM_TRY_VOID(LoadSorted(minishard, stored_chunks));
      if (stored_chunks.empty()) continue;
      DOLIUM_TRY(ByteVector index, EncodeIndex(stored_chunks, cursor));
      summary_.entries += stored_chunks.size();
      for (const StoredChunk& stored_chunk : stored_chunks)
        summary_.value_bytes += stored_chunk.length;
      PlannedMinishard& planned = planned_.emplace_back();
      planned.number = minishard;
      planned.row = {cursor, cursor + index.size()};
      cursor += index.size();
      const uint64_t cost = stored_chunks.size() * sizeof(StoredChunk) + index.size();
      if (kept_bytes_ + cost <= options_.memory) {
        kept_bytes_ += cost;
        planned.kept = true;
        planned.stored_chunks = std::move(stored_chunks);
        planned.index = std::move(index);
      }
    }
    return {};
  }

  // A block at a time; minishards without chunks have rows of zeros.
  Result<void> WriteShardIndex() {
    const uint64_t count = spec_.minishard_count();
    const ByteVector zeros(std::min(kIndexRowsAtOnce, count) * kShardIndexRowBytes);
    auto next = planned_.begin();
    for (uint64_t first = 0; first < count; first += kIndexRowsAtOnce) {
      if (options_.stop.stop_requested()) return Cancelled();
      const uint64_t end = std::min(first + kIndexRowsAtOnce, count);
      if (next == planned_.end() || next->number >= end) {
        const size_t size = (end - first) * kShardIndexRowBytes;
        DOLIUM_TRY_VOID(out_.Append(BytesView(zeros).first(size)));
        continue;
      }
      std::vector<ShardIndexRow> rows(end - first);
      for (; next != planned_.end() && next->number < end; ++next) {
        rows[next->number - first] = next->row;
      }
      DOLIUM_TRY_VOID(out_.Append(EncodeShardIndex(rows)));
    }
    return {};
  }

  Result<void> WriteBody() {
    ChunkCopier copier(source_.inputs(), out_,
                       std::clamp(options_.memory / 2, kMinBatchBytes, kBatchBytes));
    uint64_t cursor = 0;
    for (PlannedMinishard& waiting : planned_) {
      PlannedMinishard planned = std::move(waiting);
      const uint64_t minishard = planned.number;
      const uint64_t values_begin = cursor;
      uint64_t index_begin = cursor;
      if (!planned.kept) {
        DOLIUM_TRY_VOID(LoadSorted(minishard, planned.stored_chunks));
        DOLIUM_TRY(planned.index, EncodeIndex(planned.stored_chunks, index_begin));
      }
      for (const StoredChunk& stored_chunk : planned.stored_chunks)
        DOLIUM_TRY_VOID(copier.Add(stored_chunk));
      DOLIUM_TRY_VOID(copier.Flush());
      DOLIUM_TRY_VOID(out_.Append(planned.index));
      if (options_.progress) {
        options_.progress(planned.stored_chunks.size(), planned.row.begin - values_begin);
      }
      cursor = planned.row.end;
      if (out_.size() != spec_.shard_index_bytes() + cursor) {
        return Conflict(
            fmt::format("minishard {} changed while it was being copied", minishard));
      }
    }
    return {};
  }

  Result<void> LoadSorted(uint64_t minishard, std::vector<StoredChunk>& stored_chunks) {
    if (options_.stop.stop_requested()) return Cancelled();
    DOLIUM_TRY_VOID(source_.Load(minishard, stored_chunks));
    if (!std::ranges::is_sorted(stored_chunks, {}, &StoredChunk::id)) {
      std::ranges::sort(stored_chunks, {}, &StoredChunk::id);
    }
    const auto twice = std::ranges::adjacent_find(stored_chunks, {}, &StoredChunk::id);
    if (twice != stored_chunks.end()) {
      return InvalidArgument(fmt::format("chunk {} is given twice", twice->id));
    }
    return {};
  }

  // The encoded index of a minishard whose values begin at `cursor`, which moves past
  // them.
  Result<ByteVector> EncodeIndex(std::span<const StoredChunk> stored_chunks,
                                 uint64_t& cursor) const {
    std::vector<ChunkLocation> chunks;
    chunks.reserve(stored_chunks.size());
    for (const StoredChunk& stored_chunk : stored_chunks) {
      chunks.push_back(
          {stored_chunk.id, cursor + stored_chunk.preceding, stored_chunk.length});
      cursor += stored_chunk.total();
    }
    return Encode(CodecsOf(spec_.minishard_index_encoding), EncodeMinishardIndex(chunks));
  }

  const ShardingSpec& spec_;
  ChunkSource& source_;
  ObjectWriter& out_;
  const AssembleOptions& options_;
  std::vector<PlannedMinishard> planned_;
  uint64_t kept_bytes_ = 0;
  WriteSummary summary_;
};

}  // namespace

Result<WriteSummary> AssembleShard(const ShardingSpec& spec, ChunkSource& source,
                                   ObjectWriter& out, const AssembleOptions& options) {
  return Assembler(spec, source, out, options).Run();
}

}  // namespace dolium::neuroglancer
