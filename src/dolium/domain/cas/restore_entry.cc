#include "dolium/domain/cas/restore_entry.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "dolium/bytes/folder.h"

namespace dolium::cas {
namespace {

constexpr uint32_t kRunsAsOwner = S_ISUID | S_ISGID;

timespec TimeOf(int64_t nanoseconds) {
  int64_t seconds = nanoseconds / 1'000'000'000;
  int64_t rest = nanoseconds % 1'000'000'000;
  if (rest < 0) {
    rest += 1'000'000'000;
    --seconds;
  }
  return {seconds, rest};
}

// Hands over what could not be restored.
Result<void> Lose(const GetOptions& options, Lost what, const std::string& label,
                  const Error& error) {
  if (!options.lost) return error;
  options.lost(what, label, error);
  return {};
}

// What is right below a folder and is itself, whatever it is.
Result<UniqueFd> OpenItself(int folder, const std::string& name) {
  UniqueFd opened(openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!opened) return SystemError(errno, "cannot open it");
  return opened;
}

mode_t TypeBits(EntryType type) {
  switch (type) {
    case EntryType::kPipe:
      return S_IFIFO;
    case EntryType::kCharDevice:
      return S_IFCHR;
    case EntryType::kBlockDevice:
      return S_IFBLK;
    case EntryType::kFile:
    case EntryType::kFolder:
    case EntryType::kLink:
      break;
  }
  return S_IFREG;
}

dev_t DeviceOf(const ManifestEntry& entry) {
  return entry.type == EntryType::kPipe ? 0
                                        : makedev(entry.device_major, entry.device_minor);
}

bool IsSame(const struct stat& status, const ManifestEntry& entry) {
  return (status.st_mode & S_IFMT) == TypeBits(entry.type) &&
         (entry.type == EntryType::kPipe || status.st_rdev == DeviceOf(entry));
}

}  // namespace

Result<UniqueFd> OpenParent(int root, std::string_view path) {
  UniqueFd folder(fcntl(root, F_DUPFD_CLOEXEC, 0));
  if (!folder) return SystemError(errno, "cannot open the folder");
  while (true) {
    const size_t slash = path.find('/');
    if (slash == std::string_view::npos) return folder;
    const std::string part(path.substr(0, slash));
    UniqueFd next(openat(folder.get(), part.c_str(),
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return SystemError(errno, fmt::format("cannot open folder {}", part));
    folder = std::move(next);
    path.remove_prefix(slash + 1);
  }
}

std::string LastPart(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

Result<void> CheckFree(int folder, const std::string& name, bool force) {
  struct stat status{};
  if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (S_ISDIR(status.st_mode)) {
    return Exists("is a folder, which a file or link does not replace");
  }
  if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
    return Exists("is neither a file nor a link, and is not replaced");
  }
  if (force) return {};
  return Exists("is there already").WithHint(Hint::kReplace);
}

Result<void> SetAttributes(int fd, const ManifestEntry& entry, const std::string& label,
                           const GetOptions& options) {
  uint32_t mode = entry.mode;
  if (options.owners && entry.attributes.owner) {
    const auto set = SetOwner(fd, *entry.attributes.owner);
    if (!set) {
      mode &= ~kRunsAsOwner;
      DOLIUM_TRY_VOID(Lose(options, Lost::kOwner, label, set.error()));
    }
  }
  if (const auto set = SetExtended(fd, entry.attributes.extended); !set) {
    DOLIUM_TRY_VOID(Lose(options, Lost::kExtended, label, set.error()));
  }
  if (entry.type == EntryType::kLink) return {};
  // What is open by O_PATH has no other way.
  if (fchmod(fd, mode) != 0 &&
      (errno != EBADF || chmod(PathOfDescriptor(fd).c_str(), mode) != 0)) {
    return SystemError(errno, "cannot set the mode");
  }
  const timespec times[2] = {{0, UTIME_OMIT}, TimeOf(entry.modified)};
  if (futimens(fd, times) != 0 &&
      (errno != EBADF ||
       utimensat(AT_FDCWD, PathOfDescriptor(fd).c_str(), times, 0) != 0)) {
    return SystemError(errno, "cannot set the time");
  }
  return {};
}

Result<void> MakeFolderBelow(int root, const ManifestEntry& entry, bool force) {
  DOLIUM_TRY(const UniqueFd parent, OpenParent(root, entry.path));
  const std::string name = LastPart(entry.path);
  if (mkdirat(parent.get(), name.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return SystemError(errno, "cannot make the folder");
  struct stat status{};
  if (fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISLNK(status.st_mode)) {
    if (!force) return Exists("a link is in the way").WithHint(Hint::kReplace);
    if (unlinkat(parent.get(), name.c_str(), 0) != 0 ||
        mkdirat(parent.get(), name.c_str(), 0700) != 0) {
      return SystemError(errno, "cannot make a folder in the place of a link");
    }
    return {};
  }
  const UniqueFd there(openat(parent.get(), name.c_str(),
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!there) return SystemError(errno, "is in the way of a folder");
  return {};
}

Result<void> SetFolder(int root, const ManifestEntry& entry, const std::string& label,
                       const GetOptions& options) {
  UniqueFd folder;
  if (entry.path == ".") {
    folder = UniqueFd(fcntl(root, F_DUPFD_CLOEXEC, 0));
  } else {
    DOLIUM_TRY(const UniqueFd parent, OpenParent(root, entry.path));
    folder = UniqueFd(openat(parent.get(), LastPart(entry.path).c_str(),
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!folder) return SystemError(errno, "cannot open the folder");
  return SetAttributes(folder.get(), entry, label, options);
}

Result<void> MakeLink(int root, const ManifestEntry& entry, const std::string& label,
                      const GetOptions& options) {
  DOLIUM_TRY(const UniqueFd parent, OpenParent(root, entry.path));
  const std::string name = LastPart(entry.path);
  DOLIUM_TRY_VOID(CheckFree(parent.get(), name, options.force));
  if (options.force) unlinkat(parent.get(), name.c_str(), 0);
  if (symlinkat(entry.target.c_str(), parent.get(), name.c_str()) != 0) {
    return SystemError(errno, "cannot make the link");
  }
  DOLIUM_TRY(const UniqueFd link, OpenItself(parent.get(), name));
  DOLIUM_TRY_VOID(SetAttributes(link.get(), entry, label, options));
  const timespec times[2] = {{0, UTIME_OMIT}, TimeOf(entry.modified)};
  if (utimensat(parent.get(), name.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) {
    return SystemError(errno, "cannot set the time");
  }
  return {};
}

Result<void> MakeSpecial(int root, const ManifestEntry& entry, const std::string& label,
                         const GetOptions& options) {
  DOLIUM_TRY(const UniqueFd parent, OpenParent(root, entry.path));
  const std::string name = LastPart(entry.path);
  struct stat status{};
  const bool is_there =
      options.force &&
      fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      IsSame(status, entry);
  if (!is_there) {
    DOLIUM_TRY_VOID(CheckFree(parent.get(), name, options.force));
    if (options.force) unlinkat(parent.get(), name.c_str(), 0);
    if (mknodat(parent.get(), name.c_str(), TypeBits(entry.type) | 0600,
                DeviceOf(entry)) != 0) {
      return Lose(
          options, Lost::kEntry, label,
          SystemError(errno, entry.type == EntryType::kPipe ? "cannot make the pipe"
                                                            : "cannot make the device"));
    }
  }
  DOLIUM_TRY(const UniqueFd made, OpenItself(parent.get(), name));
  return SetAttributes(made.get(), entry, label, options);
}

Result<void> MakeHardLink(int root, const std::string& first, const ManifestEntry& entry,
                          bool force) {
  DOLIUM_TRY(const UniqueFd from, OpenParent(root, first));
  DOLIUM_TRY(const UniqueFd parent, OpenParent(root, entry.path));
  const std::string name = LastPart(entry.path);
  DOLIUM_TRY_VOID(CheckFree(parent.get(), name, force));
  // Beside it, and then in its place.
  const std::string temporary = force ? MakeTemporaryName(name) : name;
  if (linkat(from.get(), LastPart(first).c_str(), parent.get(), temporary.c_str(), 0) !=
      0) {
    if (errno == EEXIST) return Exists("is there already").WithHint(Hint::kReplace);
    return Unsupported(SystemError(errno, "cannot link").message);
  }
  if (!force) return {};
  const int renamed =
      renameat(parent.get(), temporary.c_str(), parent.get(), name.c_str());
  const int error = errno;
  // If both are the same file already, nothing was renamed.
  unlinkat(parent.get(), temporary.c_str(), 0);
  if (renamed != 0) return SystemError(error, "cannot rename");
  return {};
}

}  // namespace dolium::cas
