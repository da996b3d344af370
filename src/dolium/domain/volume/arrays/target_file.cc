#include "dolium/domain/volume/arrays/target_file.h"

#include <fcntl.h>
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
  std::string name(BaseName(*local));
  auto file = [&]() -> Result<AtomicFile> {
    DOLIUM_TRY([[maybe_unused]] const auto mode, CheckTarget(folder->get(), name, force));
    return AtomicFile::Create(folder->get(), name);
  }();
  if (!file) return std::move(file).error().Within(described);
  return std::unique_ptr<TargetFile>(new TargetFile(std::move(described), std::move(name),
                                                    force, *std::move(folder),
                                                    *std::move(file)));
}

Result<std::optional<mode_t>> TargetFile::CheckTarget(int folder, const std::string& name,
                                                      bool force) {
  struct stat status{};
  if (fstatat(folder, name.c_str(), &status, 0) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return SystemError(errno, "cannot look up");
  }
  if (!S_ISREG(status.st_mode)) return Exists("is there, and no regular file");
  if (!force) return Exists("is there already");
  return status.st_mode & 0777;
}

Result<void> TargetFile::WriteAt(uint64_t offset, BytesView bytes) {
  return file_.WriteAt(offset, bytes).Within(path_);
}

Result<void> TargetFile::Commit() { return CommitSteps().Within(path_); }

Result<void> TargetFile::CommitSteps() {
  DOLIUM_TRY_VOID(file_.Sync());
  DOLIUM_TRY(const FolderLock lock, FolderLock::Take(folder_.get()));
  DOLIUM_TRY(const auto mode, CheckTarget(folder_.get(), name_, force_));
  // A file that takes another's place is as readable as that was.
  if (mode) fchmod(file_.fd(), *mode);
  DOLIUM_TRY_VOID(file_.Rename(name_));
  return SyncFd(folder_.get());
}

}  // namespace dolium::volume
