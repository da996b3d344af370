#include "dolium/bytes/atomic_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "dolium/bytes/folder.h"
#include "dolium/bytes/path_name.h"

namespace dolium {
namespace {

// Whether somebody who cleans up took a fresh temporary for a dead writer's, before the
// lock was on.
Result<bool> WasRemoved(int file) {
  // A file system without locks still works; its leftovers are then not distinguished.
  RetryOnSignal([&] { return flock(file, LOCK_EX); });
  struct stat status{};
  if (fstat(file, &status) != 0) return SystemError(errno, "cannot look up");
  return status.st_nlink == 0;
}

}  // namespace

Result<AtomicFile> AtomicFile::Create(int folder, std::string_view name, mode_t mode) {
  while (true) {
    std::string temporary = MakeTemporaryName(name);
    UniqueFd file(RetryOnSignal([&] {
      return openat(folder, temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                    mode);
    }));
    if (!file) {
      if (errno == EEXIST) continue;
      return SystemError(errno, "cannot create a temporary beside it");
    }
    DOLIUM_TRY(const bool was_removed, WasRemoved(file.get()));
    if (!was_removed) return AtomicFile(folder, std::move(temporary), std::move(file));
  }
}

Result<AtomicFile> AtomicFile::CreateNamed(int folder, std::string temporary) {
  while (true) {
    UniqueFd file(RetryOnSignal([&] {
      return openat(folder, temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
                    0666);
    }));
    if (!file) return SystemError(errno, "cannot make");
    DOLIUM_TRY(const bool was_removed, WasRemoved(file.get()));
    if (!was_removed) return AtomicFile(folder, std::move(temporary), std::move(file));
  }
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : folder_(other.folder_),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)),
      process_(other.process_) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this != &other) {
    Discard();
    folder_ = other.folder_;
    temporary_ = std::exchange(other.temporary_, {});
    file_ = std::move(other.file_);
    process_ = other.process_;
  }
  return *this;
}

void AtomicFile::Discard() {
  if (file_ && process_ == getpid()) {
    if (!temporary_.empty()) unlinkat(folder_, temporary_.c_str(), 0);
    // Closing would not end the lock while a forked child holds the descriptor too.
    flock(file_.get(), LOCK_UN);
  }
  temporary_.clear();
  file_.Close();
}

Result<void> AtomicFile::Append(BytesView bytes) {
  while (!bytes.empty()) {
    const ssize_t done =
        RetryOnSignal([&] { return write(file_.get(), bytes.data(), bytes.size()); });
    if (done < 0) return SystemError(errno, "cannot write");
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return {};
}

Result<void> AtomicFile::WriteAt(uint64_t offset, BytesView bytes) {
  while (!bytes.empty()) {
    const ssize_t done = RetryOnSignal([&] {
      return pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    });
    if (done < 0) return SystemError(errno, "cannot write");
    offset += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return {};
}

Result<void> AtomicFile::Sync() { return SyncFd(file_.get()); }

Result<void> AtomicFile::Rename(int folder, std::string_view name, IfThere if_there) {
  if (temporary_.empty()) return InvalidArgument("there is no temporary to rename");
  const PathName target(name);
  const char* const from = temporary_.c_str();
  if (if_there == IfThere::kRefuse) {
    if (renameat2(folder_, from, folder, target.c_str(), RENAME_NOREPLACE) == 0) {
      temporary_.clear();
      return {};
    }
    if (errno == EEXIST) return Exists("is there already");
    if (errno != EINVAL && errno != ENOSYS) {
      return SystemError(errno, "cannot rename the temporary");
    }
    // A file system that cannot report it while it renames.
    if (faccessat(folder, target.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
      return Exists("is there already");
    }
  }
  if (renameat(folder_, from, folder, target.c_str()) != 0) {
    if (errno == EISDIR || errno == ENOTEMPTY) {
      return Exists("is a folder, which a file does not replace");
    }
    return SystemError(errno, "cannot rename the temporary");
  }
  temporary_.clear();
  return {};
}

}  // namespace dolium
