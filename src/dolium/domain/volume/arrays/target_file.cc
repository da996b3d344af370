#include "dolium/domain/volume/arrays/target_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "dolium/bytes/folder.h"
#include "dolium/bytes/location.h"
#include "dolium/bytes/store.h"

namespace dolium::volume {

Result<std::unique_ptr<TargetFile>> TargetFile::Create(const std::string& path,
                                                       bool force) {
  DOLIUM_TRY(const Location location, ParseLocation(path));
  std::string described = location.Describe();
  DOLIUM_TRY(const auto local, location.store->LocalPath(location.path));
  if (!local) return Unsupported(fmt::format("{}: not a local file", described));
  auto folder = MakeFolder(AT_FDCWD, ParentPath(*local), /*sync=*/true);
  if (!folder) return std::move(folder).error().Within(described);
  std::unique_ptr<TargetFile> file(new TargetFile(
      std::move(described), std::string(BaseName(*local)), force, *std::move(folder)));
  DOLIUM_TRY_VOID(file->CheckTarget().Within(file->path_));
  DOLIUM_TRY_VOID(file->CreateTemporary().Within(file->path_));
  return file;
}

Result<void> TargetFile::CheckTarget() {
  struct stat status{};
  if (fstatat(folder_.get(), name_.c_str(), &status, 0) != 0) {
    if (errno == ENOENT) return {};
    return SystemError(errno, "cannot look up");
  }
  if (!S_ISREG(status.st_mode)) return Exists("is there, and no regular file");
  if (!force_) return Exists("is there already");
  // A file that takes another's place is as readable as that was.
  if (file_) fchmod(file_.get(), status.st_mode & 0777);
  return {};
}

Result<void> TargetFile::CreateTemporary() {
  temporary_ = MakeTemporaryName(name_);
  file_ = UniqueFd(RetryOnSignal([&] {
    return openat(folder_.get(), temporary_.c_str(),
                  O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }));
  if (!file_) {
    temporary_.clear();
    return SystemError(errno, "cannot create a temporary beside it");
  }
  // Shows those who clean up that the writer lives; some file systems have no locks.
  RetryOnSignal([&] { return flock(file_.get(), LOCK_EX); });
  return {};
}

TargetFile::~TargetFile() {
  if (!temporary_.empty()) unlinkat(folder_.get(), temporary_.c_str(), 0);
}

Result<void> TargetFile::WriteAt(uint64_t offset, BytesView bytes) {
  while (!bytes.empty()) {
    const ssize_t done = RetryOnSignal([&] {
      return pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    });
    if (done < 0) return SystemError(errno, "cannot write").Within(path_);
    offset += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return {};
}

Result<void> TargetFile::Commit() { return CommitSteps().Within(path_); }

Result<void> TargetFile::CommitSteps() {
  DOLIUM_TRY_VOID(SyncFd(file_.get()));
  DOLIUM_TRY(const FolderLock lock, FolderLock::Take(folder_.get()));
  DOLIUM_TRY_VOID(CheckTarget());
  if (renameat(folder_.get(), temporary_.c_str(), folder_.get(), name_.c_str()) != 0) {
    return SystemError(errno, "cannot rename the temporary");
  }
  temporary_.clear();
  return SyncFd(folder_.get());
}

}  // namespace dolium::volume
