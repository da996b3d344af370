#include "dolium/bytes/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdint>

#include <fmt/format.h>

#include "dolium/bytes/path_name.h"
#include "dolium/bytes/store.h"

namespace dolium {
namespace {

constexpr std::string_view kTemporaryMark = ".dolium-tmp-";
// Leaves room for the mark and the number within the 255 bytes of a file name.
constexpr size_t kTemporaryStem = 200;

UniqueFd TryOpenFolder(int root, std::string_view path) {
  const PathName name(path);
  if (!name.valid()) {
    errno = ENAMETOOLONG;
    return {};
  }
  return UniqueFd(RetryOnSignal(
      [&] { return openat(root, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
}

}  // namespace

bool IsTemporaryName(std::string_view name) {
  return name.starts_with('.') && name.find(kTemporaryMark) != std::string_view::npos;
}

bool IsInternalName(std::string_view name) {
  return name == kLockFileName || IsTemporaryName(name);
}

std::string MakeTemporaryName(std::string_view name) {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) {
    // Names need only be likely to differ: the file is created exclusively.
    number = static_cast<uint64_t>(
        std::chrono::steady_clock::now().time_since_epoch().count() ^
        (int64_t{getpid()} << 40));
  }
  return fmt::format(".{}{}{:016x}", name.substr(0, kTemporaryStem), kTemporaryMark,
                     number);
}

bool IsTemporaryNameOf(std::string_view name, std::string_view temporary) {
  return temporary.starts_with(
      fmt::format(".{}{}", name.substr(0, kTemporaryStem), kTemporaryMark));
}

Result<UniqueFd> OpenFolder(int root, std::string_view path) {
  UniqueFd folder = TryOpenFolder(root, path);
  if (!folder) return SystemError(errno, "cannot open the folder");
  return folder;
}

Result<UniqueFd> MakeFolder(int root, std::string_view path, bool sync) {
  UniqueFd folder = TryOpenFolder(root, path);
  if (folder) return folder;
  if (errno != ENOENT || path.empty() || path == "/") {
    return SystemError(errno, "cannot open the folder");
  }
  DOLIUM_TRY(const UniqueFd parent, MakeFolder(root, ParentPath(path), sync));
  const PathName name(BaseName(path));
  if (mkdirat(parent.get(), name.c_str(), 0777) == 0) {
    if (sync) DOLIUM_TRY_VOID(SyncFd(parent.get()));
  } else if (errno != EEXIST) {
    return SystemError(errno, "cannot make the folder");
  }
  return OpenFolder(parent.get(), BaseName(path));
}

Result<void> SyncFd(int fd) {
  if (RetryOnSignal([&] { return fsync(fd); }) == 0) return {};
  // Some file systems cannot sync a folder; their renames are as durable as they get.
  if (errno == EINVAL || errno == EROFS) return {};
  return SystemError(errno, "cannot write to the disk");
}

Result<FolderLock> FolderLock::Take(int folder) {
  if (RetryOnSignal([&] { return flock(folder, LOCK_EX); }) == 0) {
    return FolderLock(folder, UniqueFd());
  }
  UniqueFd file(RetryOnSignal([&] {
    return openat(folder, std::string(kLockFileName).c_str(),
                  O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  }));
  if (!file || RetryOnSignal([&] { return flock(file.get(), LOCK_EX); }) != 0) {
    return SystemError(errno, "cannot lock the folder");
  }
  return FolderLock(-1, std::move(file));
}

FolderLock::~FolderLock() {
  if (folder_ >= 0) flock(folder_, LOCK_UN);
}

}  // namespace dolium
