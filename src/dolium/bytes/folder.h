// Folders of the local file system: opening, making, and locking them for a commit.
#pragma once

#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium {

// Base name of the lock file in folders that cannot be locked themselves (NFS).
inline constexpr std::string_view kLockFileName = ".dolium-lock";

// Whether `name` is a lock file or a writer's temporary: ours, and no object.
bool IsInternalName(std::string_view name);
bool IsTemporaryName(std::string_view name);
// A fresh name for a temporary of the object with base name `name`.
std::string MakeTemporaryName(std::string_view name);
// Whether MakeTemporaryName(name) may have given `temporary`.
bool IsTemporaryNameOf(std::string_view name, std::string_view temporary);

// Opens folder `path`, relative to `root`, for *at calls, locking and fsync.
Result<UniqueFd> OpenFolder(int root, std::string_view path);

// The same, but makes the folder and those above it if they are missing; with `sync`, so
// that they outlive a crash.
Result<UniqueFd> MakeFolder(int root, std::string_view path, bool sync);

Result<void> SyncFd(int fd);

// Holds other commits and removals in the same folder off, those of other processes too,
// until destroyed. The descriptor must stay open as long, and must not be shared: two
// locks through one descriptor do not exclude each other.
class FolderLock {
 public:
  static Result<FolderLock> Take(int folder);
  FolderLock(FolderLock&& other) noexcept
      : folder_(std::exchange(other.folder_, -1)), file_(std::move(other.file_)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  FolderLock(int folder, UniqueFd file) : folder_(folder), file_(std::move(file)) {}

  int folder_;     // locked, or -1
  UniqueFd file_;  // the lock file, where the folder cannot be locked
};

}  // namespace dolium
