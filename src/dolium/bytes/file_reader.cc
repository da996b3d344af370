#include "dolium/bytes/file_reader.h"

#include <linux/magic.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <vector>

#include "dolium/base/parallel.h"
#include "dolium/bytes/read_run.h"
#include "dolium/bytes/unique_fd.h"
#include "dolium/bytes/uring_reader.h"

namespace dolium {
namespace {

// A run ends before it grows past these, so that a batch keeps a disk busy in parallel.
constexpr int kRunBuffers = 64;
constexpr uint64_t kRunBytes = uint64_t{1} << 20;

constexpr size_t kFallbackThreads = 8;
constexpr size_t kRunsWorthThreads = 8;

int ReadOne(int fd, const ReadSlice& slice) {
  MutableBytes rest = slice.into;
  uint64_t offset = slice.offset;
  while (!rest.empty()) {
    const ssize_t got = RetryOnSignal(
        [&] { return pread(fd, rest.data(), rest.size(), static_cast<off_t>(offset)); });
    if (got < 0) return errno;
    if (got == 0) return kFileEndedEarly;
    rest = rest.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return 0;
}

// The buffers of all slices, and the runs over them.
struct Runs {
  std::vector<iovec> buffers;
  std::vector<ReadRun> runs;
};

Runs MakeRuns(std::span<const ReadSlice> slices) {
  Runs out;
  out.buffers.reserve(slices.size());
  out.runs.reserve(slices.size());
  uint64_t end = 0;
  uint64_t length = 0;
  for (const ReadSlice& slice : slices) {
    if (slice.into.empty()) continue;
    iovec* const buffer =
        &out.buffers.emplace_back(iovec{slice.into.data(), slice.into.size()});
    const bool follows = !out.runs.empty() && slice.offset == end &&
                         out.runs.back().buffer_count < kRunBuffers &&
                         length + slice.into.size() <= kRunBytes;
    if (!follows) {
      out.runs.push_back({slice.offset, buffer, 0});
      length = 0;
    }
    ++out.runs.back().buffer_count;
    length += slice.into.size();
    end = slice.offset + slice.into.size();
  }
  return out;
}

// One preadv2. 0 (perhaps with only a part read), errno, or kFileEndedEarly.
int ReadSome(int fd, ReadRun& run, int flags) {
  const ssize_t got = RetryOnSignal([&] {
    return preadv2(fd, run.buffers, run.buffer_count, static_cast<off_t>(run.offset),
                   flags);
  });
  if (got < 0) return errno;
  if (got == 0) return kFileEndedEarly;
  run.Advance(static_cast<size_t>(got));
  return 0;
}

int ReadRest(int fd, ReadRun& run) {
  while (!run.done()) {
    if (const int failure = ReadSome(fd, run, 0); failure != 0) return failure;
  }
  return 0;
}

bool IsInMemory(int fd) {
  struct statfs status{};
  if (fstatfs(fd, &status) != 0) return false;
  return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}

enum class Cached { kAll, kSome, kUnknown };

// Reads what the page cache has. kUnknown: the file system cannot say what it has.
int ReadCached(int fd, std::span<ReadRun> runs, Cached& cached) {
  cached = Cached::kAll;
  for (ReadRun& run : runs) {
    while (!run.done()) {
      const int failure = ReadSome(fd, run, RWF_NOWAIT);
      if (failure == 0) continue;
      if (failure == EAGAIN) {
        cached = Cached::kSome;
        break;
      }
      if (failure == EOPNOTSUPP || failure == ENOSYS || failure == EINVAL) {
        cached = Cached::kUnknown;
        return 0;
      }
      return failure;
    }
  }
  return 0;
}

int ReadInTurn(int fd, std::span<ReadRun> runs) {
  for (ReadRun& run : runs) {
    if (const int failure = ReadRest(fd, run); failure != 0) return failure;
  }
  return 0;
}

int ReadOnThreads(int fd, std::span<ReadRun> runs) {
  std::atomic<int> failure = 0;
  const auto result =
      ParallelFor(runs.size(), kFallbackThreads, [&](size_t i) -> Result<void> {
        const int failed = ReadRest(fd, runs[i]);
        if (failed == 0) return {};
        failure = failed;
        return IoError("");  // Ends the loop; the caller words the error.
      });
  return result ? 0 : failure.load();
}

}  // namespace

int ReadFileSlices(int fd, std::span<const ReadSlice> slices, bool use_io_uring) {
  if (slices.size() == 1) return ReadOne(fd, slices.front());
  Runs all = MakeRuns(slices);
  if (all.runs.size() == 1) return ReadInTurn(fd, all.runs);

  Cached cached = Cached::kAll;
  if (const int failure = ReadCached(fd, all.runs, cached); failure != 0) return failure;
  if (cached == Cached::kAll) return 0;
  std::erase_if(all.runs, [](const ReadRun& run) { return run.done(); });
  if (cached == Cached::kUnknown && IsInMemory(fd)) return ReadInTurn(fd, all.runs);

  if (use_io_uring && all.runs.size() > 1) {
    if (const int failure = ReadWithUring(fd, all.runs); failure != 0) return failure;
    std::erase_if(all.runs, [](const ReadRun& run) { return run.done(); });
  }
  if (all.runs.size() < kRunsWorthThreads) return ReadInTurn(fd, all.runs);
  return ReadOnThreads(fd, all.runs);
}

}  // namespace dolium
