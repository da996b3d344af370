#include "dolium/formats/xet/chunker.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "dolium/base/parallel.h"

namespace dolium::xet {

namespace {

// What is scanned at once: small enough for the cache.
constexpr uint64_t kBlock = uint64_t{64} << 10;
// What one of many threads scans in a go, and how many of these before cuts are made.
constexpr uint64_t kTask = uint64_t{256} << 10;
constexpr size_t kTasksAhead = 256;
// Chunks that one of many threads hashes in a go.
constexpr size_t kHashTask = 4;

// Marks of one task, counted from where it begins.
void ScanTask(BytesView data, uint64_t begin, uint64_t end, GearVariant variant,
              std::vector<uint32_t>& marks) {
  GearScanner scanner(variant);
  const uint64_t warm = std::min(begin, kGearWindow);
  scanner.Scan(data.subspan(begin - warm, warm), marks);
  marks.clear();
  scanner.Scan(data.subspan(begin, end - begin), marks);
}

// Cuts data, and hashes the chunks if asked to, on several threads. Each does what is
// next: chunks that are cut and not hashed, else a segment that is not scanned. Marks
// become cuts in the order of the segments, whoever found them.
class ParallelChunking {
 public:
  enum class Want : uint8_t { kCuts, kHashes };

  ParallelChunking(BytesView data, const ChunkOptions& options, Want want)
      : data_(data),
        options_(options),
        want_(want),
        tasks_(static_cast<size_t>((data.size() + kTask - 1) / kTask)),
        found_(std::min(tasks_, kTasksAhead)),
        selector_(options.forced) {}

  Result<void> Run(size_t threads) {
    DOLIUM_TRY_VOID(ParallelFor(
        threads, threads,
        [&](size_t) -> Result<void> {
          Work();
          return {};
        },
        options_.stop));
    if (options_.stop.stop_requested()) return Cancelled();
    return {};
  }

  std::vector<uint64_t> TakeCuts() { return std::move(cuts_); }
  std::vector<MerkleNode> TakeChunks() { return std::move(chunks_); }

 private:
  bool is_all_cut() const { return next_selected_ == tasks_; }
  bool may_scan() const {
    return next_scanned_ < tasks_ && next_scanned_ - next_selected_ < found_.size();
  }
  bool may_hash() const {
    const size_t ripe = cuts_.size() - next_hashed_;
    return want_ == Want::kHashes && (ripe >= kHashTask || (ripe > 0 && is_all_cut()));
  }

  // Ends when nothing is left that another thread does not do already.
  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] {
        return may_hash() || may_scan() || is_all_cut() || options_.stop.stop_requested();
      });
      if (options_.stop.stop_requested()) return;
      if (may_hash()) {
        HashSome(lock);
      } else if (may_scan()) {
        ScanOne(lock);
      } else {
        return;
      }
    }
  }

  void ScanOne(std::unique_lock<std::mutex>& lock) {
    const size_t task = next_scanned_++;
    lock.unlock();
    std::vector<uint32_t> marks;
    ScanTask(data_, task * kTask, end_of(task), options_.variant, marks);
    lock.lock();
    found_[task % found_.size()] = std::move(marks);
    while (!is_all_cut() && found_[next_selected_ % found_.size()]) {
      auto& next = found_[next_selected_ % found_.size()];
      selector_.Advance(next_selected_ * kTask, *next, end_of(next_selected_), cuts_);
      next.reset();
      ++next_selected_;
    }
    if (is_all_cut()) selector_.Finish(cuts_);
    changed_.notify_all();
  }

  void HashSome(std::unique_lock<std::mutex>& lock) {
    const size_t first = next_hashed_;
    const size_t count = std::min(kHashTask, cuts_.size() - first);
    next_hashed_ += count;
    std::array<uint64_t, kHashTask + 1> ends;
    ends[0] = first == 0 ? 0 : cuts_[first - 1];
    std::copy_n(cuts_.begin() + static_cast<ptrdiff_t>(first), count, ends.begin() + 1);
    lock.unlock();
    std::array<MerkleNode, kHashTask> chunks;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t size = ends[i + 1] - ends[i];
      chunks[i] = {ChunkHash(data_.subspan(ends[i], size)), size};
    }
    lock.lock();
    if (chunks_.size() < first + count) chunks_.resize(first + count);
    std::copy_n(chunks.begin(), count, chunks_.begin() + static_cast<ptrdiff_t>(first));
  }

  uint64_t end_of(size_t task) const {
    return std::min<uint64_t>(data_.size(), (task + 1) * kTask);
  }

  const BytesView data_;
  const ChunkOptions& options_;
  const Want want_;
  const size_t tasks_;

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  size_t next_scanned_ = 0;
  size_t next_selected_ = 0;
  // Marks of segments that are scanned and not selected from, by number modulo the size.
  std::vector<std::optional<std::vector<uint32_t>>> found_;
  CutSelector selector_;
  std::vector<uint64_t> cuts_;
  size_t next_hashed_ = 0;
  std::vector<MerkleNode> chunks_;
};

// Threads that are worth while.
size_t ThreadsFor(BytesView data, const ChunkOptions& options) {
  return ThreadCount(options.jobs, data.size() / (2 * kTask));
}

// Hands the cuts to `take` block by block, while the bytes are in the cache.
template <typename Take>
Result<void> CutInOrder(BytesView data, const ChunkOptions& options, const Take& take) {
  Chunker chunker(options.forced, options.variant);
  std::vector<uint64_t> cuts;
  for (size_t at = 0; at < data.size(); at += kBlock) {
    if (options.stop.stop_requested()) return Cancelled();
    cuts.clear();
    chunker.Write(data.subspan(at, std::min<size_t>(kBlock, data.size() - at)), cuts);
    if (data.size() - at <= kBlock) chunker.Finish(cuts);
    for (const uint64_t cut : cuts) take(cut);
  }
  return {};
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

void Chunker::Write(BytesView segment, std::vector<uint64_t>& cuts) {
  while (!segment.empty()) {
    // Bytes from which no cut can come are not looked at.
    const uint64_t first_needed = selector_.first_possible() - kGearWindow;
    if (position_ < first_needed) {
      const auto skip = static_cast<size_t>(
          std::min<uint64_t>(first_needed - position_, segment.size()));
      scanner_.Reset();
      position_ += skip;
      segment = segment.subspan(skip);
      selector_.Advance(position_, {}, position_, cuts);
      continue;
    }
    const BytesView block = segment.first(std::min<size_t>(kBlock, segment.size()));
    marks_.clear();
    scanner_.Scan(block, marks_);
    selector_.Advance(position_, marks_, position_ + block.size(), cuts);
    position_ += block.size();
    segment = segment.subspan(block.size());
  }
}

Result<std::vector<uint64_t>> CutPoints(BytesView data, const ChunkOptions& options) {
  const size_t threads = ThreadsFor(data, options);
  if (threads > 1) {
    ParallelChunking chunking(data, options, ParallelChunking::Want::kCuts);
    DOLIUM_TRY_VOID(chunking.Run(threads));
    return chunking.TakeCuts();
  }
  std::vector<uint64_t> cuts;
  DOLIUM_TRY_VOID(CutInOrder(data, options, [&](uint64_t cut) { cuts.push_back(cut); }));
  return cuts;
}

Result<std::vector<MerkleNode>> ChunkAndHash(BytesView data,
                                             const ChunkOptions& options) {
  const size_t threads = ThreadsFor(data, options);
  if (threads > 1) {
    ParallelChunking chunking(data, options, ParallelChunking::Want::kHashes);
    DOLIUM_TRY_VOID(chunking.Run(threads));
    return chunking.TakeChunks();
  }
  std::vector<MerkleNode> chunks;
  uint64_t start = 0;
  DOLIUM_TRY_VOID(CutInOrder(data, options, [&](uint64_t cut) {
    chunks.push_back({ChunkHash(data.subspan(start, cut - start)), cut - start});
    start = cut;
  }));
  return chunks;
}

}  // namespace dolium::xet
