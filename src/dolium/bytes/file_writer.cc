#include "dolium/bytes/file_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "dolium/bytes/folder.h"
#include "dolium/bytes/path_name.h"
#include "dolium/bytes/slice_check.h"

namespace dolium {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
// From this on, a call of the kernel costs less than a copy into the buffer.
constexpr size_t kDirectBytes = size_t{64} << 10;
// Below this, a kernel copy costs more than going through the buffer.
constexpr uint64_t kKernelCopyBytes = uint64_t{128} << 10;
constexpr size_t kKernelCopySegment = size_t{1} << 30;

constexpr int64_t kSecond = 1'000'000'000;

timespec ToTimespec(int64_t nanoseconds) {
  timespec time{};
  time.tv_sec = nanoseconds / kSecond;
  time.tv_nsec = nanoseconds % kSecond;
  if (time.tv_nsec < 0) {
    time.tv_sec -= 1;
    time.tv_nsec += kSecond;
  }
  return time;
}

int64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

}  // namespace

Result<std::unique_ptr<ObjectWriter>> FileWriter::Begin(std::shared_ptr<FileRoot> root,
                                                        std::string_view object) {
  const std::string_view name = BaseName(object);
  const std::string described = root->Describe(object);
  if (name.empty() || name == "." || name == ".." || object.ends_with('/') ||
      object.find('\0') != std::string_view::npos || IsInternalName(name)) {
    return InvalidArgument(described + ": not a name for an object");
  }
  auto folder = MakeFolder(root->fd(), ParentPath(object), root->options().sync);
  if (!folder) return std::move(folder).error().Within(described);
  DOLIUM_TRY(AtomicFile file, AtomicFile::Create(folder->get(), name).Within(described));
  return std::unique_ptr<ObjectWriter>(
      new FileWriter(std::move(root), object, *std::move(folder), std::move(file)));
}

Result<void> FileWriter::Append(BytesView bytes) {
  if (bytes.size() >= kDirectBytes || buffer_.size() + bytes.size() > kBufferBytes) {
    return WriteOut(bytes);
  }
  dolium::Append(buffer_, bytes);
  return {};
}

Result<void> FileWriter::WriteOut(BytesView bytes) {
  BytesView first = buffer_;
  BytesView second = bytes;
  while (!first.empty() || !second.empty()) {
    const iovec segments[] = {{const_cast<std::byte*>(first.data()), first.size()},
                              {const_cast<std::byte*>(second.data()), second.size()}};
    const ssize_t done = RetryOnSignal([&] { return writev(file_.fd(), segments, 2); });
    if (done < 0) {
      failed_ = true;
      return SystemError(errno, "cannot write").Within(root_->Describe(object_));
    }
    size_t rest = static_cast<size_t>(done);
    written_ += rest;
    const size_t of_first = std::min(rest, first.size());
    first = first.subspan(of_first);
    rest -= of_first;
    second = second.subspan(rest);
  }
  buffer_.clear();
  return {};
}

Result<void> FileWriter::AppendFrom(const Store& source, std::string_view object,
                                    ByteRange range, const Generation& generation) {
  DOLIUM_TRY(const auto local, source.OpenLocal(object));
  if (!local) return ObjectWriter::AppendFrom(source, object, range, generation);
  if (!generation.token.empty() && local->info.generation != generation) {
    return ChangedError(source.Describe(object));
  }
  const uint64_t source_size = local->info.size;
  if (range.offset > source_size || range.length > source_size - range.offset) {
    return PastEndError(source.Describe(object), range.offset, range.length, source_size);
  }
  uint64_t copied = 0;
  if (range.length >= kKernelCopyBytes) {
    DOLIUM_TRY(copied, CopyInKernel(local->fd, range));
  }
  DOLIUM_TRY_VOID(
      CopyThroughBuffer(local->fd, {range.offset + copied, range.length - copied})
          .Within(source.Describe(object)));
  struct stat status{};
  if (fstat(local->fd, &status) != 0 ||
      !FileIdentity(status).Is(local->info.generation)) {
    failed_ = true;
    return ChangedError(source.Describe(object));
  }
  return {};
}

Result<uint64_t> FileWriter::CopyInKernel(int source, ByteRange range) {
  DOLIUM_TRY_VOID(WriteOut({}));
  uint64_t copied = 0;
  while (copied < range.length) {
    off_t from = static_cast<off_t>(range.offset + copied);
    const size_t length = static_cast<size_t>(
        std::min<uint64_t>(range.length - copied, kKernelCopySegment));
    const ssize_t done = RetryOnSignal(
        [&] { return copy_file_range(source, &from, file_.fd(), nullptr, length, 0); });
    if (done == 0) break;
    if (done < 0) {
      if (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)
        break;
      failed_ = true;
      return SystemError(errno, "cannot write").Within(root_->Describe(object_));
    }
    copied += static_cast<uint64_t>(done);
    written_ += static_cast<uint64_t>(done);
  }
  return copied;
}

Result<void> FileWriter::CopyThroughBuffer(int source, ByteRange range) {
  while (!range.empty()) {
    if (buffer_.size() >= kBufferBytes) DOLIUM_TRY_VOID(WriteOut({}));
    const size_t before = buffer_.size();
    const size_t length =
        static_cast<size_t>(std::min<uint64_t>(range.length, kBufferBytes - before));
    buffer_.resize(before + length);
    const ssize_t got = RetryOnSignal([&] {
      return pread(source, buffer_.data() + before, length,
                   static_cast<off_t>(range.offset));
    });
    buffer_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) {
      failed_ = true;
      if (got == 0) return Conflict("became shorter while it was copied");
      return SystemError(errno, "cannot read");
    }
    range.offset += static_cast<uint64_t>(got);
    range.length -= static_cast<uint64_t>(got);
  }
  return {};
}

Result<std::optional<struct stat>> FileWriter::TargetStatus() const {
  const PathName name(BaseName(object_));
  struct stat status{};
  if (fstatat(folder_.get(), name.c_str(), &status, 0) == 0) return status;
  if (errno == ENOENT) return std::nullopt;
  return SystemError(errno, "cannot look up");
}

Result<void> FileWriter::Stamp(const std::optional<struct stat>& replaced) {
  const int64_t before = replaced ? ModifiedNanoseconds(*replaced) : INT64_MIN;
  int64_t time = Now();
  // File systems keep times to a nanosecond, a microsecond, ... or two seconds.
  for (int64_t step = 1; step <= 10 * kSecond; step *= 10) {
    if (time <= before) time = before + step;
    const timespec times[] = {{0, UTIME_NOW}, ToTimespec(time)};
    if (futimens(file_.fd(), times) != 0)
      return SystemError(errno, "cannot set its time");
    struct stat status{};
    if (fstat(file_.fd(), &status) != 0) return SystemError(errno, "cannot look up");
    if (ModifiedNanoseconds(status) > before) return {};
    time = before;
  }
  return IoError("cannot give it a time after that of the file it replaces");
}

Result<Generation> FileWriter::Commit(const Precondition& precondition) {
  auto result = CommitSteps(precondition).Within(root_->Describe(object_));
  file_.Discard();
  return result;
}

Result<Generation> FileWriter::CommitSteps(const Precondition& precondition) {
  if (failed_ || file_.temporary().empty())
    return InvalidArgument("commit after a failed write");
  if (auto written = WriteOut({}); !written) return std::move(written).error();
  const bool sync = root_->options().sync;

  // Most of the work before the lock; what others did meanwhile is looked at under it.
  DOLIUM_TRY(auto replaced, TargetStatus());
  DOLIUM_TRY_VOID(Stamp(replaced));
  if (replaced) fchmod(file_.fd(), replaced->st_mode & 0777);
  if (sync) DOLIUM_TRY_VOID(file_.Sync());

  DOLIUM_TRY(const FolderLock lock, FolderLock::Take(folder_.get()));
  DOLIUM_TRY(replaced, TargetStatus());
  std::optional<Generation> current;
  if (replaced) {
    if (!S_ISREG(replaced->st_mode)) return Exists("there is a folder of that name");
    current = FileIdentity(*replaced).ToGeneration();
  }
  DOLIUM_TRY_VOID(CheckPrecondition(precondition, current));
  struct stat status{};
  if (fstat(file_.fd(), &status) != 0) return SystemError(errno, "cannot look up");
  if (replaced && ModifiedNanoseconds(status) <= ModifiedNanoseconds(*replaced)) {
    DOLIUM_TRY_VOID(Stamp(replaced));
    if (sync) DOLIUM_TRY_VOID(file_.Sync());
    if (fstat(file_.fd(), &status) != 0) return SystemError(errno, "cannot look up");
  }
  DOLIUM_TRY_VOID(file_.Rename(BaseName(object_)));
  root_->Forget(object_);
  if (sync) DOLIUM_TRY_VOID(SyncFd(folder_.get()));
  return FileIdentity(status).ToGeneration();
}

}  // namespace dolium
