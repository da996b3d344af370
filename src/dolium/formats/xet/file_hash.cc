#include "dolium/formats/xet/file_hash.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>

#include "dolium/base/parallel.h"
#include "dolium/base/start_thread.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium::xet {

namespace {

// From here on threads are worth their while.
constexpr uint64_t kLarge = uint64_t{4} << 20;
// What of a large file is in memory at once, little enough to stay in a cache until it is
// hashed; and what a thread reads of it at a time.
constexpr size_t kWindow = size_t{8} << 20;
constexpr size_t kWindowRead = size_t{512} << 10;
// What a stream is read by: it stays in the cache until it is hashed.
constexpr size_t kReadBytes = size_t{256} << 10;
// Small files that one thread takes at a time.
constexpr size_t kFilesTask = 16;

struct OpenFile {
  UniqueFd fd;
  uint64_t size = 0;  // 0 unless it is a regular file
};

Result<OpenFile> Open(const std::string& path) {
  if (path.find('\0') != std::string::npos) return InvalidArgument("a NUL in the path");
  OpenFile file{.fd = UniqueFd(RetryOnSignal(
                    [&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }))};
  if (!file.fd) return SystemError(errno, "cannot open");
  struct stat status{};
  if (fstat(file.fd.get(), &status) != 0) return SystemError(errno, "cannot look up");
  if (S_ISREG(status.st_mode)) file.size = static_cast<uint64_t>(status.st_size);
  return file;
}

// Fills `into` from `offset` on.
Result<void> ReadFully(int fd, uint64_t offset, MutableBytes into) {
  while (!into.empty()) {
    const ssize_t got = RetryOnSignal(
        [&] { return pread(fd, into.data(), into.size(), static_cast<off_t>(offset)); });
    if (got < 0) return SystemError(errno, "cannot read");
    if (got == 0) return Conflict("became shorter while it was read");
    into = into.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return {};
}

// Reads windows of a large file, and hashes each on many threads. A chunk that a window
// cuts short begins the next one: where chunks end depends on nothing before them.
Result<HashedFile> HashWindows(const OpenFile& file, const HashFileOptions& options) {
  HashedFile hashed{.size = file.size};
  std::optional<Sha256> sha256;
  if (options.with_sha256) sha256.emplace();
  MerkleBuilder chunks;
  Buffer buffer(kMaxChunk + kWindow);
  size_t carried = 0;
  for (uint64_t offset = 0; offset < file.size;) {
    const auto fresh =
        static_cast<size_t>(std::min<uint64_t>(kWindow, file.size - offset));
    const MutableBytes into = buffer.view().subspan(carried, fresh);
    DOLIUM_TRY_VOID(ParallelFor(
        (fresh + kWindowRead - 1) / kWindowRead, options.jobs,
        [&](size_t i) {
          const size_t at = i * kWindowRead;
          return ReadFully(file.fd.get(), offset + at,
                           into.subspan(at, std::min(kWindowRead, fresh - at)));
        },
        options.stop));
    offset += fresh;
    const BytesView window = BytesView(buffer.view()).first(carried + fresh);
    const auto add_sha256 = [&] { sha256->Update(into); };
    std::optional<std::jthread> beside;
    if (sha256) beside = StartThread(add_sha256);
    if (sha256 && !beside) add_sha256();
    const auto found = ChunkAndHash(window, {.jobs = options.jobs, .stop = options.stop});
    beside.reset();
    if (!found) return found.error();
    const size_t whole = found->size() - (offset < file.size ? 1 : 0);
    for (size_t i = 0; i < whole; ++i) chunks.Add((*found)[i].hash, (*found)[i].size);
    carried = whole < found->size() ? static_cast<size_t>(found->back().size) : 0;
    std::memmove(buffer.view().data(), window.data() + window.size() - carried, carried);
  }
  hashed.hash = FileHash(chunks, options.salt);
  if (sha256) hashed.sha256 = sha256->Finish();
  return hashed;
}

Result<HashedFile> HashByReading(const OpenFile& file, const HashFileOptions& options,
                                 MutableBytes buffer) {
  FileHasher hasher(options.with_sha256);
  for (;;) {
    if (options.stop.stop_requested()) return Cancelled();
    const ssize_t got =
        RetryOnSignal([&] { return read(file.fd.get(), buffer.data(), buffer.size()); });
    if (got < 0) return SystemError(errno, "cannot read");
    if (got == 0) return hasher.Finish(options.salt);
    hasher.Write(buffer.first(static_cast<size_t>(got)));
  }
}

Result<HashedFile> HashOpen(const OpenFile& file, const HashFileOptions& options) {
  if (file.size >= kLarge) return HashWindows(file, options);
  Buffer buffer(kReadBytes);
  return HashByReading(file, options, buffer.view());
}

}  // namespace

FileHasher::FileHasher(bool with_sha256) : chunk_(kDataKey) {
  if (with_sha256) sha256_.emplace();
}

void FileHasher::EndChunk(uint64_t cut) {
  chunks_.Add(chunk_.Finish(), cut - start_);
  chunk_ = KeyedHasher(kDataKey);
  start_ = cut;
}

void FileHasher::Write(BytesView segment) {
  if (sha256_) sha256_->Update(segment);
  cuts_.clear();
  chunker_.Write(segment, cuts_);
  for (const uint64_t cut : cuts_) {
    const auto length = static_cast<size_t>(cut - position_);
    chunk_.Update(segment.first(length));
    segment = segment.subspan(length);
    position_ = cut;
    EndChunk(cut);
  }
  chunk_.Update(segment);
  position_ += segment.size();
}

HashedFile FileHasher::Finish(const Hash& salt) {
  if (position_ > start_) EndChunk(position_);
  HashedFile hashed{.hash = FileHash(chunks_, salt), .size = position_};
  if (sha256_) hashed.sha256 = sha256_->Finish();
  return hashed;
}

Result<HashedFile> HashFile(const std::string& path, const HashFileOptions& options) {
  auto file = Open(path);
  if (!file) return std::move(file).error().Within(path);
  return HashOpen(*file, options).Within(path);
}

std::vector<Result<HashedFile>> HashFiles(std::span<const std::string> paths,
                                          const HashFileOptions& options) {
  std::vector<Result<HashedFile>> hashed(paths.size(), Cancelled());
  std::vector<char> is_large(paths.size());
  const auto hash_small = [&](size_t task) -> Result<void> {
    Buffer buffer(kReadBytes);
    const size_t end = std::min(paths.size(), (task + 1) * kFilesTask);
    for (size_t i = task * kFilesTask; i < end; ++i) {
      if (options.stop.stop_requested()) return Cancelled();
      auto file = Open(paths[i]);
      if (file && file->size >= kLarge) {
        is_large[i] = 1;
        continue;
      }
      hashed[i] = (file ? HashByReading(*file, options, buffer.view())
                        : Result<HashedFile>(std::move(file).error()))
                      .Within(paths[i]);
    }
    return {};
  };
  const auto done = ParallelFor((paths.size() + kFilesTask - 1) / kFilesTask,
                                options.jobs, hash_small, options.stop);
  for (size_t i = 0; done && i < paths.size(); ++i) {
    if (is_large[i] != 0) hashed[i] = HashFile(paths[i], options);
  }
  return hashed;
}

}  // namespace dolium::xet
