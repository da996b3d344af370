#include "dolium/formats/neuroglancer/shard_assembler.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "dolium/formats/neuroglancer/shard_index.h"

namespace dolium::neuroglancer {
namespace {

// Beyond this, a shard index is no index any more: 2^24 rows take 256 MiB.
constexpr unsigned kMaxWritableMinishardBits = 24;

// Segments of at least this size are left to the kernel; smaller ones are read in
// batches.
constexpr uint64_t kKernelCopyBytes = uint64_t{128} << 10;
constexpr uint64_t kBatchBytes = uint64_t{8} << 20;
constexpr size_t kBatchSegments = 4096;

// Copies pieces to the output in order: joins neighbours, batches small reads.
class PieceCopier {
 public:
  PieceCopier(std::span<const PieceInput> inputs, ObjectWriter& out)
      : inputs_(inputs), out_(out) {}

  Result<void> Add(const Piece& piece) {
    if (piece.memory != nullptr) {
      DOLIUM_TRY_VOID(Flush());
      return out_.Append({piece.memory, piece.total()});
    }
    if (piece.total() == 0) return {};
    if (!segments_.empty()) {
      Segment& last = segments_.back();
      if (last.input == piece.input && last.offset + last.length == piece.offset &&
          last.length < kBatchBytes) {
        last.length += piece.total();
        bytes_ += piece.total();
        return {};
      }
    }
    if (bytes_ >= kBatchBytes || segments_.size() >= kBatchSegments)
      DOLIUM_TRY_VOID(Flush());
    segments_.push_back({piece.input, piece.offset, piece.total()});
    bytes_ += piece.total();
    return {};
  }

  Result<void> Flush() {
    size_t begin = 0;
    while (begin < segments_.size()) {
      const Segment& first = segments_[begin];
      if (first.length >= kKernelCopyBytes) {
        const PieceInput& input = inputs_[first.input];
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
      const PieceInput& input = inputs_[number];
      DOLIUM_TRY_VOID(input.store->ReadInto(input.object->name, of_input,
                                            {.if_generation = input.object->generation}));
    }
    return out_.Append(buffer_);
  }

  std::span<const PieceInput> inputs_;
  ObjectWriter& out_;
  std::vector<Segment> segments_;
  uint64_t bytes_ = 0;
  ByteVector buffer_;
};

// What the first pass learns of a minishard, and may keep for the second.
struct PlannedMinishard {
  bool kept = false;
  std::vector<Piece> pieces;
  ByteVector index;  // encoded
};

class Assembler {
 public:
  Assembler(const ShardingSpec& spec, PieceSource& source, ObjectWriter& out,
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
    DOLIUM_TRY_VOID(out_.Append(EncodeShardIndex(rows_)));
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
    rows_.resize(count);
    planned_.resize(count);
    uint64_t cursor = 0;
    for (uint64_t minishard = 0; minishard < count; ++minishard) {
      std::vector<Piece> pieces;
      DOLIUM_TRY_VOID(LoadSorted(minishard, pieces));
      if (pieces.empty()) continue;
      DOLIUM_TRY(ByteVector index, EncodeIndex(pieces, cursor));
      summary_.entries += pieces.size();
      for (const Piece& piece : pieces) summary_.value_bytes += piece.length;
      rows_[minishard] = {cursor, cursor + index.size()};
      cursor += index.size();
      const uint64_t cost = pieces.size() * sizeof(Piece) + index.size();
      if (kept_bytes_ + cost <= options_.memory) {
        kept_bytes_ += cost;
        planned_[minishard] = {true, std::move(pieces), std::move(index)};
      }
    }
    return {};
  }

  Result<void> WriteBody() {
    PieceCopier copier(source_.inputs(), out_);
    uint64_t cursor = 0;
    for (uint64_t minishard = 0; minishard < rows_.size(); ++minishard) {
      if (rows_[minishard].empty()) continue;
      PlannedMinishard planned = std::move(planned_[minishard]);
      const uint64_t values_begin = cursor;
      uint64_t index_begin = cursor;
      if (!planned.kept) {
        DOLIUM_TRY_VOID(LoadSorted(minishard, planned.pieces));
        DOLIUM_TRY(planned.index, EncodeIndex(planned.pieces, index_begin));
      }
      for (const Piece& piece : planned.pieces) DOLIUM_TRY_VOID(copier.Add(piece));
      DOLIUM_TRY_VOID(copier.Flush());
      DOLIUM_TRY_VOID(out_.Append(planned.index));
      if (options_.progress) {
        options_.progress(planned.pieces.size(), rows_[minishard].begin - values_begin);
      }
      cursor = rows_[minishard].end;
      if (out_.size() != spec_.shard_index_bytes() + cursor) {
        return Conflict(
            fmt::format("minishard {} changed while it was being copied", minishard));
      }
    }
    return {};
  }

  Result<void> LoadSorted(uint64_t minishard, std::vector<Piece>& pieces) {
    if (options_.stop.stop_requested()) return Cancelled();
    DOLIUM_TRY_VOID(source_.Load(minishard, pieces));
    if (!std::ranges::is_sorted(pieces, {}, &Piece::id)) {
      std::ranges::sort(pieces, {}, &Piece::id);
    }
    const auto twice = std::ranges::adjacent_find(pieces, {}, &Piece::id);
    if (twice != pieces.end()) {
      return InvalidArgument(fmt::format("chunk {} is given twice", twice->id));
    }
    return {};
  }

  // The encoded index of a minishard whose values begin at `cursor`, which moves past
  // them.
  Result<ByteVector> EncodeIndex(std::span<const Piece> pieces, uint64_t& cursor) const {
    std::vector<ChunkLocation> chunks;
    chunks.reserve(pieces.size());
    for (const Piece& piece : pieces) {
      chunks.push_back({piece.id, cursor + piece.preceding, piece.length});
      cursor += piece.total();
    }
    return Encode(CodecsOf(spec_.minishard_index_encoding), EncodeMinishardIndex(chunks));
  }

  const ShardingSpec& spec_;
  PieceSource& source_;
  ObjectWriter& out_;
  const AssembleOptions& options_;
  std::vector<ShardIndexRow> rows_;
  std::vector<PlannedMinishard> planned_;
  uint64_t kept_bytes_ = 0;
  WriteSummary summary_;
};

}  // namespace

Result<WriteSummary> AssembleShard(const ShardingSpec& spec, PieceSource& source,
                                   ObjectWriter& out, const AssembleOptions& options) {
  return Assembler(spec, source, out, options).Run();
}

}  // namespace dolium::neuroglancer
