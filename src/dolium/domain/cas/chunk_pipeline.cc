#include "dolium/domain/cas/chunk_pipeline.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "dolium/domain/cas/files.h"
#include "dolium/formats/xet/gear_scan.h"

namespace dolium::cas {
namespace {

// Small enough that what one step leaves in the cache is there for the next.
constexpr uint64_t kBlock = uint64_t{2} << 20;
// Files up to this size are one task.
constexpr uint64_t kSmallFile = kBlock;
constexpr size_t kMostSegments = 512;
// Large segments for each thread: more of them only push each other out of the cache.
constexpr uint64_t kBytesPerThread = 6 * kBlock;
// In front of a block: the chunk that the block before it leaves unfinished.
constexpr size_t kHeadroom = xet::kMaxChunk;
static_assert(kHeadroom + kBlock <= MemoryBudget::kLargest);

// How long nothing may come from a stream before somebody looks whether to stop.
constexpr int kStreamPause = 50;  // milliseconds

// Waits until a read does not.
Result<void> WaitForInput(int fd, const std::stop_token& stop) {
  while (true) {
    if (stop.stop_requested()) return Cancelled();
    pollfd wanted{fd, POLLIN, 0};
    const int ready = poll(&wanted, 1, kStreamPause);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return SystemError(errno, "cannot wait");
  }
}

// Reads until `into` is full or the file ends. Of a stream, with `stop`.
Result<size_t> ReadUpTo(int fd, MutableBytes into, const std::stop_token& stop = {}) {
  size_t done = 0;
  while (done < into.size()) {
    if (stop.stop_possible()) DOLIUM_TRY_VOID(WaitForInput(fd, stop));
    const ssize_t got =
        RetryOnSignal([&] { return read(fd, into.data() + done, into.size() - done); });
    if (got < 0) return SystemError(errno, "cannot read");
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

}  // namespace

struct ChunkPipeline::File {
  explicit File(ChunkInput from) : input(std::move(from)), selector(input.cuts) {}

  ChunkInput input;
  bool is_stream = false;
  uint64_t begun = 0;                                    // bytes whose blocks are begun
  std::array<std::byte, xet::kGearWindow> last_bytes{};  // of a stream, so far
  xet::CutSelector selector;
};

struct ChunkPipeline::Segment {
  std::shared_ptr<File> file;
  std::shared_ptr<ChunkBlock> block;
  uint64_t offset = 0;  // in the file
  size_t size = 0;      // bytes behind the headroom
  size_t rest = 0;      // of them, not cut yet, or before them: `carried`
  size_t carried = 0;
  bool is_last = false;
  bool is_whole = false;
  std::vector<uint32_t> marks;
  std::vector<HashedChunk> chunks;
  std::optional<Error> error;
  std::atomic<bool> is_done{false};  // with the work that was submitted last

  // Where byte 0 of the segment lies.
  std::byte* data() const { return block->buffer.data() + (is_whole ? 0 : kHeadroom); }
};

ChunkPipeline::~ChunkPipeline() {
  while (true) {
    const uint64_t seen = budget_.state();
    if (running_->load() == 0) return;
    budget_.WaitForChange(seen);
  }
}

void ChunkPipeline::Submit(const std::shared_ptr<Segment>& segment,
                           std::function<Result<void>(Segment&)> work) {
  segment->is_done.store(false);
  running_->fetch_add(1);
  // Called even if the pool drops the work. The pipeline may be gone at the end of this.
  std::shared_ptr<void> end(nullptr,
                            [segment, running = running_, budget = &budget_](void*) {
                              segment->is_done.store(true);
                              running->fetch_sub(1);
                              budget->Notify();
                            });
  pool_.Submit([segment, work = std::move(work), end = std::move(end)]() -> Result<void> {
    auto done = work(*segment);
    if (!done) segment->error = std::move(done).error();
    return {};
  });
}

void ChunkPipeline::SubmitWhole(const std::shared_ptr<Segment>& segment) {
  Submit(segment, [](Segment& own) -> Result<void> {
    const ChunkInput& input = own.file->input;
    DOLIUM_TRY(const UniqueFd fd, OpenForReading(input.path));
    // What a file has more than was seen is left for the next put.
    DOLIUM_TRY(
        own.size,
        ReadUpTo(fd.get(), MutableBytes(own.data(), input.size)).Within(input.label));
    const BytesView bytes(own.data(), own.size);
    xet::Chunker chunker(input.cuts);
    std::vector<uint64_t> cuts;
    chunker.Write(bytes, cuts);
    chunker.Finish(cuts);
    uint64_t begin = 0;
    for (const uint64_t cut : cuts) {
      const BytesView raw = bytes.subspan(begin, cut - begin);
      own.chunks.push_back({xet::ChunkHash(raw), raw});
      begin = cut;
    }
    return {};
  });
}

void ChunkPipeline::SubmitScan(const std::shared_ptr<Segment>& segment) {
  Submit(segment, [](Segment& own) -> Result<void> {
    const File& file = *own.file;
    const size_t window = own.offset == 0 ? 0 : xet::kGearWindow;
    if (!file.is_stream) {
      const auto read = ReadAt(file.input.fd.get(), own.offset - window,
                               MutableBytes(own.data() - window, own.size + window));
      if (!read) {
        if (read.error().code != ErrorCode::kCorrupt) {
          return Error(read.error()).Within(file.input.label);
        }
        return Conflict(
            fmt::format("{}: became shorter while it was read, it had {} bytes",
                        file.input.label, file.input.size));
      }
    }
    xet::GearScanner scanner;
    scanner.Scan(BytesView(own.data() - window, window), own.marks);
    own.marks.clear();
    scanner.Scan(BytesView(own.data(), own.size), own.marks);
    return {};
  });
}

void ChunkPipeline::SubmitHash(const std::shared_ptr<Segment>& segment) {
  Submit(segment, [](Segment& own) -> Result<void> {
    for (HashedChunk& chunk : own.chunks) chunk.hash = xet::ChunkHash(chunk.raw);
    return {};
  });
}

// Makes the cuts of a block, in the order of the file.
void ChunkPipeline::Select(Segment& segment) {
  File& file = *segment.file;
  if (before_) {
    segment.carried = before_->rest;
    std::memcpy(segment.data() - segment.carried,
                before_->data() + before_->size - segment.carried, segment.carried);
    before_.reset();
  }
  std::vector<uint64_t> cuts;
  file.selector.Advance(segment.offset, segment.marks, segment.offset + segment.size,
                        cuts);
  if (segment.is_last) file.selector.Finish(cuts);
  uint64_t begin = segment.offset - segment.carried;
  for (const uint64_t cut : cuts) {
    const std::byte* const at = segment.data() + (begin - segment.offset);
    segment.chunks.push_back({{}, BytesView(at, cut - begin)});
    begin = cut;
  }
  segment.rest = static_cast<size_t>(segment.offset + segment.size - begin);
  segment.marks = {};
}

bool ChunkPipeline::HasRoom() const {
  return segments_.size() < kMostSegments && budget_.HasRoom() &&
         waiting_bytes_ < threads_ * kBytesPerThread;
}

// Begins blocks of the open file while there is room.
Result<void> ChunkPipeline::AddSegments(const std::shared_ptr<File>& file) {
  while (open_ && HasRoom()) {
    auto segment = std::make_shared<Segment>();
    segment->file = file;
    segment->offset = file->begun;
    segment->block =
        std::make_shared<ChunkBlock>(ChunkBlock{budget_.Take(kHeadroom + kBlock)});
    if (file->is_stream) {
      std::byte* const data = segment->data();
      std::memcpy(data - xet::kGearWindow, file->last_bytes.data(), xet::kGearWindow);
      DOLIUM_TRY(segment->size,
                 ReadUpTo(file->input.fd.get(), MutableBytes(data, kBlock), stop_)
                     .Within(file->input.label));
      segment->is_last = segment->size < kBlock;
      if (!segment->is_last) {
        std::memcpy(file->last_bytes.data(), data + kBlock - xet::kGearWindow,
                    xet::kGearWindow);
      }
    } else {
      segment->size =
          static_cast<size_t>(std::min(kBlock, file->input.size - file->begun));
      segment->is_last = file->begun + segment->size == file->input.size;
    }
    file->begun += segment->size;
    if (segment->is_last) open_.reset();
    waiting_bytes_ += segment->block->buffer.capacity();
    segments_.push_back(segment);
    SubmitScan(segment);
  }
  return {};
}

// Begins work while there is room; whether any was begun.
Result<bool> ChunkPipeline::Fill(const NextInput& next) {
  bool any = false;
  while ((open_ || has_more_) && HasRoom()) {
    if (open_) {
      DOLIUM_TRY_VOID(AddSegments(open_));
      any = true;
      continue;
    }
    ChunkInput input;
    DOLIUM_TRY(const Next kind, next(input));
    if (kind == Next::kLater) break;
    any = true;
    if (kind == Next::kEnd) {
      has_more_ = false;
      break;
    }
    auto file = std::make_shared<File>(std::move(input));
    file->is_stream = file->input.path.empty();
    if (!file->is_stream && file->input.size <= kSmallFile) {
      auto segment = std::make_shared<Segment>();
      segment->file = file;
      segment->is_last = segment->is_whole = true;
      segment->block =
          std::make_shared<ChunkBlock>(ChunkBlock{budget_.Take(file->input.size)});
      waiting_bytes_ += segment->block->buffer.capacity();
      segments_.push_back(segment);
      SubmitWhole(segment);
      continue;
    }
    if (!file->is_stream) {
      DOLIUM_TRY(file->input.fd, OpenForReading(file->input.path));
      posix_fadvise(file->input.fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    open_ = std::move(file);
  }
  return any;
}

// Does what can be done in order now; whether anything could.
Result<bool> ChunkPipeline::Step(ChunkConsumer& consumer) {
  bool any = false;
  while (selected_ < segments_.size()) {
    const std::shared_ptr<Segment>& segment = segments_[selected_];
    if (!segment->is_whole) {
      if (!segment->is_done.load()) break;
      if (segment->error) return *segment->error;
      Select(*segment);
      if (!segment->is_last) before_ = segment;
      SubmitHash(segment);
    }
    ++selected_;
    any = true;
  }
  while (!segments_.empty() && selected_ > 0 && segments_.front()->is_done.load()) {
    const std::shared_ptr<Segment> segment = std::move(segments_.front());
    segments_.pop_front();
    waiting_bytes_ -= segment->block->buffer.capacity();
    --selected_;
    if (segment->error) return *std::move(segment->error);
    DOLIUM_TRY_VOID(consumer.TakeChunks(segment->chunks, segment->block));
    if (segment->is_last) DOLIUM_TRY_VOID(consumer.EndFile(segment->file->input));
    any = true;
  }
  return any;
}

Result<void> ChunkPipeline::Run(const NextInput& next, ChunkConsumer& consumer) {
  has_more_ = true;
  while (true) {
    if (stop_.stop_requested()) return Cancelled();
    const uint64_t seen = budget_.state();
    DOLIUM_TRY(bool any, Fill(next));
    DOLIUM_TRY(const bool stepped, Step(consumer));
    DOLIUM_TRY(const bool polled, consumer.Poll());
    if (segments_.empty() && !open_ && !has_more_) return {};
    if (!any && !stepped && !polled) budget_.WaitForChange(seen);
  }
}

}  // namespace dolium::cas
