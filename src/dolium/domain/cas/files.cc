#include "dolium/domain/cas/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/folder.h"
#include "dolium/bytes/store.h"
#include "dolium/domain/cas/layout.h"

namespace dolium::cas {

Result<NewFile> NewFile::Create(const Layout& layout, std::string_view lease) {
  static std::atomic<uint64_t> next{0};
  const std::string path =
      fmt::format("{}/{}.{}", layout.temporaries(), lease, next.fetch_add(1));
  DOLIUM_TRY(AtomicFile file, AtomicFile::CreateNamed(AT_FDCWD, path).Within(path));
  return NewFile(std::move(file));
}

Result<void> NewFile::Append(BytesView bytes) {
  return file_.Append(bytes).Within(path());
}

Result<void> NewFile::Sync() { return file_.Sync().Within(path()); }

Result<void> NewFile::Rename(const std::string& path) {
  return file_.Rename(path).Within(path);
}

Result<UniqueFd> OpenForReading(const std::string& path) {
  UniqueFd fd(
      RetryOnSignal([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY); }));
  if (!fd) return SystemError(errno, "cannot open").Within(path);
  return fd;
}

Result<ByteVector> ReadWholeFile(const std::string& path, uint64_t limit) {
  DOLIUM_TRY(const UniqueFd fd, OpenForReading(path));
  struct stat status{};
  if (fstat(fd.get(), &status) != 0)
    return SystemError(errno, "cannot look").Within(path);
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > limit) {
    return Corrupt(fmt::format("{}: {} bytes, expected at most {}", path, size, limit));
  }
  ByteVector bytes(size);
  DOLIUM_TRY_VOID(ReadAt(fd.get(), 0, bytes).Within(path));
  return bytes;
}

Result<Bytes> MapFile(const std::string& path) {
  DOLIUM_TRY(const UniqueFd fd, OpenForReading(path));
  struct stat status{};
  if (fstat(fd.get(), &status) != 0)
    return SystemError(errno, "cannot look").Within(path);
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return Bytes();
  void* const address = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) return SystemError(errno, "cannot map").Within(path);
  std::shared_ptr<const void> owner(
      address, [size](const void* at) { munmap(const_cast<void*>(at), size); });
  return Bytes(std::move(owner), BytesView(static_cast<const std::byte*>(address), size));
}

Result<void> ReadAt(int fd, uint64_t offset, MutableBytes into) {
  while (!into.empty()) {
    const ssize_t got = RetryOnSignal(
        [&] { return pread(fd, into.data(), into.size(), static_cast<off_t>(offset)); });
    if (got < 0) return SystemError(errno, "cannot read");
    if (got == 0) {
      return Corrupt(fmt::format("ends at {}, {} bytes early", offset, into.size()));
    }
    into = into.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return {};
}

Result<void> WriteAll(int fd, BytesView bytes) {
  while (!bytes.empty()) {
    const ssize_t done =
        RetryOnSignal([&] { return write(fd, bytes.data(), bytes.size()); });
    if (done < 0) return SystemError(errno, "cannot write");
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return {};
}

Result<void> ListFolder(const std::string& path,
                        const std::function<void(std::string_view)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  if (!folder) {
    if (errno == ENOENT) return {};
    return SystemError(errno, "cannot list").Within(path);
  }
  while (true) {
    errno = 0;
    const dirent* const entry = readdir(folder.get());
    if (entry == nullptr) {
      if (errno != 0) return SystemError(errno, "cannot list").Within(path);
      return {};
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") visit(name);
  }
}

Result<std::vector<std::string>> SortedFolder(const std::string& path) {
  std::vector<std::string> names;
  DOLIUM_TRY_VOID(
      ListFolder(path, [&](std::string_view name) { names.emplace_back(name); }));
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> MakeFolderAt(const std::string& path) {
  // Also if it is there: whoever made it may be killed before it was durable.
  if (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) {
    return SyncFolderAt(ParentPath(path));
  }
  return SystemError(errno, "cannot make the folder").Within(path);
}

Result<void> SyncFolderAt(const std::string& path) {
  DOLIUM_TRY(const UniqueFd folder, OpenFolder(AT_FDCWD, path).Within(path));
  return SyncFd(folder.get()).Within(path);
}

Result<std::optional<struct stat>> StatusOf(const std::string& path) {
  struct stat status{};
  if (lstat(path.c_str(), &status) == 0) return std::optional(status);
  if (errno == ENOENT || errno == ENOTDIR) return std::optional<struct stat>();
  return SystemError(errno, "cannot look up").Within(path);
}

Result<bool> RemoveFile(const std::string& path) {
  if (unlink(path.c_str()) == 0) return true;
  if (errno == ENOENT) return false;
  return SystemError(errno, "cannot remove").Within(path);
}

int64_t NowNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace dolium::cas
