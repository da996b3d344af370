#include "dolium/bytes/folder_swap.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/folder.h"
#include "dolium/bytes/store.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium {
namespace {

Result<void> SyncParent(const std::string& path) {
  const std::string parent = ParentPath(path);
  DOLIUM_TRY(const UniqueFd folder,
             OpenFolder(AT_FDCWD, parent).Within(parent.empty() ? "." : parent));
  return SyncFd(folder.get()).Within(parent);
}

}  // namespace

Result<void> SyncParents(const std::string& a, const std::string& b) {
  DOLIUM_TRY_VOID(SyncParent(a));
  if (ParentPath(a) == ParentPath(b)) return {};
  return SyncParent(b);
}

Result<void> MoveFile(const std::string& from, const std::string& to, bool replace) {
  if (!replace) {
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
      return {};
    }
    if (errno == EEXIST) return Exists("is there already").Within(to);
    if (errno != EINVAL && errno != ENOSYS) {
      return SystemError(errno, fmt::format("cannot rename to {}", to)).Within(from);
    }
    // A file system that cannot check while it renames.
    struct stat status{};
    if (lstat(to.c_str(), &status) == 0) return Exists("is there already").Within(to);
  }
  if (rename(from.c_str(), to.c_str()) == 0) return {};
  if (errno == EISDIR || errno == ENOTEMPTY) {
    return Exists("is a folder, which a file does not replace").Within(to);
  }
  return SystemError(errno, fmt::format("cannot rename to {}", to)).Within(from);
}

Result<bool> FolderExists(const std::string& path) {
  struct stat status{};
  if (lstat(path.c_str(), &status) == 0) return S_ISDIR(status.st_mode);
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return SystemError(errno, "cannot look up").Within(path);
}

Result<void> ExchangeFolders(const std::string& a, const std::string& b) {
  if (renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) {
      return Unsupported(fmt::format("{}: its file system cannot exchange folders", a));
    }
    return SystemError(errno, fmt::format("cannot exchange with {}", b)).Within(a);
  }
  return SyncParents(a, b);
}

Result<void> RenameFolder(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) {
    if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR) {
      return Exists(
          fmt::format("{}: is there already, cannot give {} its name", to, from));
    }
    return SystemError(errno, fmt::format("cannot rename to {}", to)).Within(from);
  }
  return SyncParents(from, to);
}

Result<void> RemoveFolder(const std::string& path) {
  std::error_code error;
  const auto removed = std::filesystem::remove_all(path, error);
  if (error) return SystemError(error.value(), "cannot remove").Within(path);
  if (removed == 0) return {};
  return SyncParent(path);
}

Result<std::string> HideFolder(const std::string& path) {
  std::string hidden = JoinPath(ParentPath(path), MakeTemporaryName(BaseName(path)));
  DOLIUM_TRY_VOID(RenameFolder(path, hidden));
  return hidden;
}

Result<void> RemoveHidden(const std::string& path) {
  const std::string parent = ParentPath(path);
  std::error_code error;
  std::vector<std::string> hidden;
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator i(parent.empty() ? "." : parent, error), end;
       !error && i != end; i.increment(error)) {
    if (!IsTemporaryNameOf(BaseName(path), i->path().filename().native())) continue;
    const auto type = i->symlink_status(error).type();
    if (type == std::filesystem::file_type::directory) hidden.push_back(i->path());
    if (type == std::filesystem::file_type::regular) files.push_back(i->path());
  }
  if (error == std::errc::no_such_file_or_directory) return {};
  if (error) return SystemError(error.value(), "cannot list").Within(parent);
  for (const std::string& folder : hidden) DOLIUM_TRY_VOID(RemoveFolder(folder));
  for (const std::string& file : files) {
    const UniqueFd locked(
        open(file.c_str(), O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    // A writer that lives has the lock.
    if (locked && flock(locked.get(), LOCK_EX | LOCK_NB) == 0) unlink(file.c_str());
  }
  return {};
}

}  // namespace dolium
