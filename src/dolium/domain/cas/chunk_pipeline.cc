#include "dolium/domain/cas/chunk_pipeline.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <thread>
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

bool IsSame(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// kConflict if a file is no longer what it was.
Result<void> CheckState(int fd, const struct stat& was) {
  struct stat now{};
  if (fstat(fd, &now) != 0) return SystemError(errno, "cannot look");
  if (now.st_dev != was.st_dev || now.st_ino != was.st_ino) {
    return Conflict("was replaced while it was read");
  }
  if (now.st_size != was.st_size) {
    return Conflict(fmt::format("changed while it was read, from {} to {} bytes",
                                was.st_size, now.st_size));
  }
  if (!IsSame(now.st_mtim, was.st_mtim) || !IsSame(now.st_ctim, was.st_ctim)) {
    return Conflict("changed while it was read");
  }
  return {};
}

// Opens a file that is in a known state. Times of files are as coarse as the clock that
// they are taken from: two changes within one of its steps look like one. So a file that
// changed just now is read after that step.
Result<UniqueFd> OpenInput(const ChunkInput& input) {
  // Does not wait for a writer, should it be a pipe by now.
  UniqueFd fd(RetryOnSignal([&] {
    return open(input.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  }));
  if (!fd) return SystemError(errno, "cannot open");
  if (!input.state) return fd;
  DOLIUM_TRY_VOID(CheckState(fd.get(), *input.state));
  timespec step{};
  clock_getres(CLOCK_REALTIME_COARSE, &step);
  const timespec& changed = input.state->st_ctim;
  const int64_t age =
      NowNanoseconds() - (int64_t{changed.tv_sec} * 1'000'000'000 + changed.tv_nsec);
  if (age >= 0 && age <= step.tv_nsec) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(step.tv_nsec - age + 1));
  }
  return fd;
}

}  // namespace

struct ChunkPipeline::File {
  explicit File(ChunkInput from) : input(std::move(from)), selector(input.cuts) {}

  ChunkInput input;
  bool is_stream = false;
  uint64_t begun = 0;                                    // bytes whose blocks are begun
  std::array<std::byte, xet::kGearWindow> last_bytes{};  // of a stream, so far
  xet::CutSelector selector;
  std::optional<Error> failed;  // for the thread of Run()
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
    DOLIUM_TRY(const UniqueFd fd, OpenInput(input));
    DOLIUM_TRY(own.size, ReadUpTo(fd.get(), MutableBytes(own.data(), input.size)));
    if (input.state) DOLIUM_TRY_VOID(CheckState(fd.get(), *input.state));
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
        if (read.error().code != ErrorCode::kCorrupt) return read.error();
        return Conflict(fmt::format("became shorter while it was read, it had {} bytes",
                                    file.input.size));
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
      auto opened = OpenInput(file->input);
      if (!opened) {
        // Its end comes in its turn.
        auto segment = std::make_shared<Segment>();
        segment->file = file;
        segment->block = std::make_shared<ChunkBlock>();
        segment->error = std::move(opened).error();
        segment->is_last = segment->is_whole = true;
        segment->is_done.store(true);
        segments_.push_back(std::move(segment));
        continue;
      }
      file->input.fd = *std::move(opened);
      posix_fadvise(file->input.fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    open_ = std::move(file);
  }
  return any;
}

// Reads no more of the file of a segment.
void ChunkPipeline::Fail(const std::shared_ptr<Segment>& segment, Error error) {
  File& file = *segment->file;
  if (file.failed) return;
  file.failed = std::move(error);
  before_.reset();
  if (open_ != segment->file) return;
  open_.reset();
  (segments_.empty() ? segment : segments_.back())->is_last = true;
}

// Does what can be done in order now; whether anything could.
Result<bool> ChunkPipeline::Step(ChunkConsumer& consumer) {
  bool any = false;
  while (selected_ < segments_.size()) {
    const std::shared_ptr<Segment>& segment = segments_[selected_];
    if (!segment->is_whole && !segment->file->failed) {
      if (!segment->is_done.load()) break;
      if (segment->error) {
        Fail(segment, *segment->error);
        continue;
      }
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
    File& file = *segment->file;
    if (segment->error) Fail(segment, *std::move(segment->error));
    if (!file.failed && segment->is_last && !segment->is_whole && file.input.state) {
      auto checked = CheckState(file.input.fd.get(), *file.input.state);
      if (!checked) Fail(segment, std::move(checked).error());
    }
    if (!file.failed) {
      DOLIUM_TRY_VOID(consumer.TakeChunks(segment->chunks, segment->block));
    }
    if (segment->is_last) DOLIUM_TRY_VOID(consumer.EndFile(file.input, file.failed));
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
