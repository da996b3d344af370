#include "dolium/formats/xet/chunker.h"

#include <algorithm>

#include "dolium/base/parallel.h"

namespace dolium::xet {

namespace {

// What a stream is scanned by: small enough for the cache.
constexpr uint64_t kBlock = uint64_t{64} << 10;
// What one thread scans, and what is scanned before cuts are made of it.
constexpr uint64_t kTask = uint64_t{1} << 20;
constexpr uint64_t kTasksAtOnce = 16;
// Chunks that one thread hashes in a go.
constexpr size_t kHashTask = 16;

// Marks of one task, counted from where it begins.
void ScanTask(BytesView data, uint64_t begin, uint64_t end, GearVariant variant,
              std::vector<uint32_t>& marks) {
  marks.clear();
  GearScanner scanner(variant);
  const uint64_t warm = std::min(begin, kGearWindow);
  scanner.Scan(data.subspan(begin - warm, warm), marks);
  marks.clear();
  scanner.Scan(data.subspan(begin, end - begin), marks);
}

// Hands the cuts to `take` as they are settled, some MiB at a time.
Result<void> CutInParallel(
    BytesView data, const ChunkOptions& options,
    const std::function<Result<void>(std::span<const uint64_t>)>& take) {
  CutSelector selector(options.forced);
  std::vector<std::vector<uint32_t>> marks(kTasksAtOnce);
  std::vector<uint64_t> cuts;
  for (uint64_t begin = 0; begin < data.size(); begin += kTask * kTasksAtOnce) {
    const uint64_t end = std::min<uint64_t>(data.size(), begin + kTask * kTasksAtOnce);
    const auto tasks = static_cast<size_t>((end - begin + kTask - 1) / kTask);
    const auto begin_of = [&](size_t task) { return begin + task * kTask; };
    const auto end_of = [&](size_t task) {
      return std::min(end, begin_of(task) + kTask);
    };
    DOLIUM_TRY_VOID(ParallelFor(
        tasks, options.jobs,
        [&](size_t task) -> Result<void> {
          ScanTask(data, begin_of(task), end_of(task), options.variant, marks[task]);
          return {};
        },
        options.stop));
    cuts.clear();
    for (size_t task = 0; task < tasks; ++task) {
      selector.Advance(begin_of(task), marks[task], end_of(task), cuts);
    }
    if (end == data.size()) selector.Finish(cuts);
    DOLIUM_TRY_VOID(take(cuts));
  }
  return {};
}

Result<void> CutInOrder(
    BytesView data, const ChunkOptions& options,
    const std::function<Result<void>(std::span<const uint64_t>)>& take) {
  Chunker chunker(options.forced, options.variant);
  std::vector<uint64_t> cuts;
  for (size_t at = 0; at < data.size(); at += kBlock) {
    if (options.stop.stop_requested()) return Cancelled();
    cuts.clear();
    chunker.Write(data.subspan(at, std::min<size_t>(kBlock, data.size() - at)), cuts);
    if (data.size() - at <= kBlock) chunker.Finish(cuts);
    DOLIUM_TRY_VOID(take(cuts));
  }
  return {};
}

Result<void> Cut(BytesView data, const ChunkOptions& options,
                 const std::function<Result<void>(std::span<const uint64_t>)>& take) {
  const bool alone =
      data.size() < 2 * kTask || ThreadCount(options.jobs, data.size() / kTask) == 1;
  return alone ? CutInOrder(data, options, take) : CutInParallel(data, options, take);
}

}  // namespace

void CutSelector::CutUpTo(uint64_t position, std::vector<uint64_t>& cuts) {
  for (;;) {
    while (next_forced_ < forced_.size() && forced_[next_forced_] <= start_) {
      ++next_forced_;
    }
    uint64_t next = start_ + kMaxChunk;
    if (next_forced_ < forced_.size()) next = std::min(next, forced_[next_forced_]);
    if (next > position) return;
    cuts.push_back(next);
    start_ = next;
  }
}

void CutSelector::Offer(uint64_t mark, std::vector<uint64_t>& cuts) {
  CutUpTo(mark, cuts);
  if (mark >= first_possible()) {
    cuts.push_back(mark);
    start_ = mark;
  }
}

void CutSelector::Advance(uint64_t base, std::span<const uint32_t> marks,
                          uint64_t known_to, std::vector<uint64_t>& cuts) {
  for (const uint32_t mark : marks) {
    // Most marks of dense data are too near; they change nothing that the next does not.
    if (base + mark >= first_possible()) Offer(base + mark, cuts);
  }
  CutUpTo(known_to, cuts);
  known_to_ = known_to;
}

void CutSelector::Finish(std::vector<uint64_t>& cuts) {
  if (start_ < known_to_) cuts.push_back(known_to_);
  start_ = known_to_;
}

void Chunker::Write(BytesView piece, std::vector<uint64_t>& cuts) {
  while (!piece.empty()) {
    // Bytes from which no cut can come are not looked at.
    const uint64_t first_needed = selector_.first_possible() - kGearWindow;
    if (position_ < first_needed) {
      const auto skip =
          static_cast<size_t>(std::min<uint64_t>(first_needed - position_, piece.size()));
      scanner_.Reset();
      position_ += skip;
      piece = piece.subspan(skip);
      selector_.Advance(position_, {}, position_, cuts);
      continue;
    }
    const BytesView block = piece.first(std::min<size_t>(kBlock, piece.size()));
    marks_.clear();
    scanner_.Scan(block, marks_);
    selector_.Advance(position_, marks_, position_ + block.size(), cuts);
    position_ += block.size();
    piece = piece.subspan(block.size());
  }
}

Result<std::vector<uint64_t>> CutPoints(BytesView data, const ChunkOptions& options) {
  std::vector<uint64_t> all;
  DOLIUM_TRY_VOID(Cut(data, options, [&](std::span<const uint64_t> cuts) -> Result<void> {
    all.insert(all.end(), cuts.begin(), cuts.end());
    return {};
  }));
  return all;
}

Result<std::vector<MerkleNode>> ChunkAndHash(BytesView data,
                                             const ChunkOptions& options) {
  std::vector<MerkleNode> chunks;
  uint64_t start = 0;
  const auto take = [&](std::span<const uint64_t> cuts) -> Result<void> {
    const size_t first = chunks.size();
    chunks.resize(first + cuts.size());
    const auto hash = [&](size_t task) -> Result<void> {
      const size_t end = std::min(cuts.size(), (task + 1) * kHashTask);
      for (size_t i = task * kHashTask; i < end; ++i) {
        const uint64_t from = i == 0 ? start : cuts[i - 1];
        const uint64_t size = cuts[i] - from;
        chunks[first + i] = {ChunkHash(data.subspan(from, size)), size};
      }
      return {};
    };
    DOLIUM_TRY_VOID(ParallelFor((cuts.size() + kHashTask - 1) / kHashTask, options.jobs,
                                hash, options.stop));
    if (!cuts.empty()) start = cuts.back();
    return {};
  };
  DOLIUM_TRY_VOID(Cut(data, options, take));
  return chunks;
}

}  // namespace dolium::xet
