#include "dolium/bytes/file_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "dolium/bytes/file_reader.h"
#include "dolium/bytes/file_root.h"
#include "dolium/bytes/file_writer.h"
#include "dolium/bytes/folder.h"
#include "dolium/bytes/guarded_map.h"
#include "dolium/bytes/path_name.h"
#include "dolium/bytes/slice_check.h"

namespace dolium {
namespace {

// How often a read starts over because the file is being changed in place.
constexpr int kReadAttempts = 4;

// Calls visit(name, type) for every directory entry until it returns false; `type` as in
// struct dirent.
Result<void> VisitDirectory(
    int folder, const std::function<bool(const char*, unsigned char)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(
      fdopendir(fcntl(folder, F_DUPFD_CLOEXEC, 0)), &closedir);
  if (!directory) return SystemError(errno, "cannot list the folder");
  while (true) {
    errno = 0;
    const dirent* const entry = readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (!visit(entry->d_name, entry->d_type)) return {};
  }
  if (errno != 0) return SystemError(errno, "cannot list the folder");
  return {};
}

// Whether the bytes are what they were when the file was opened.
bool IsUnchanged(const OpenFile& file) {
  struct stat status{};
  return fstat(file.fd.get(), &status) == 0 && FileIdentity(status) == file.identity;
}

// An exclusive lock on a file, ended also if a forked child has the descriptor too.
class RewriteLock {
 public:
  explicit RewriteLock(UniqueFd file) : file_(std::move(file)) {}
  RewriteLock(const RewriteLock&) = delete;
  RewriteLock& operator=(const RewriteLock&) = delete;
  ~RewriteLock() {
    if (process_ == getpid()) flock(file_.get(), LOCK_UN);
  }

 private:
  const UniqueFd file_;
  const pid_t process_ = getpid();
};

}  // namespace

FileStore::FileStore(std::shared_ptr<FileRoot> root) : root_(std::move(root)) {}
FileStore::~FileStore() = default;

Result<std::shared_ptr<FileStore>> FileStore::Open(std::string_view root,
                                                   FileStoreOptions options) {
  DOLIUM_TRY(auto opened, FileRoot::Open(root, options));
  return std::shared_ptr<FileStore>(new FileStore(std::move(opened)));
}

std::string FileStore::Describe(std::string_view object) const {
  return root_->Describe(object);
}

Result<std::optional<ObjectInfo>> FileStore::Stat(std::string_view object) const {
  DOLIUM_TRY(const auto status, root_->Status(object));
  if (!status) return std::nullopt;
  return FileIdentity(*status).ToInfo();
}

Result<void> FileStore::List(std::string_view folder, const ListVisitor& visit) const {
  auto opened = OpenFolder(root_->fd(), folder);
  if (!opened) return std::move(opened).error().Within(Describe(folder));
  const int fd = opened->get();
  return VisitDirectory(fd,
                        [&](const char* name, unsigned char type) {
                          if (IsInternalName(name)) return true;
                          if (type != DT_LNK && type != DT_UNKNOWN)
                            return visit(name, type == DT_DIR);
                          struct stat status{};
                          const bool is_folder = fstatat(fd, name, &status, 0) == 0 &&
                                                 S_ISDIR(status.st_mode);
                          return visit(name, is_folder);
                        })
      .Within(Describe(folder));
}

Result<ObjectInfo> FileStore::ReadInto(std::string_view object,
                                       std::span<const ReadSlice> slices,
                                       const ReadOptions& options) const {
  // First from the file as it was last opened, in the hope that nothing has changed. One
  // look at the path, after the read, shows it: a hot read is two system calls.
  std::shared_ptr<const OpenFile> file = root_->LastOpened(object);
  bool is_current = false;
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    if (!file) {
      DOLIUM_TRY(file, root_->OpenForReading(object));
      if (!file) return NoSuchObjectError(Describe(object));
      is_current = true;
    }
    const FileIdentity& identity = file->identity;
    const bool other = options.if_generation && !identity.Is(*options.if_generation);
    const ReadSlice* const past = FindSlicePastEnd(slices, identity.size());
    if (is_current && other) return ChangedError(Describe(object));
    if (is_current && past != nullptr) {
      return PastEndError(Describe(object), past->offset, past->into.size(),
                          identity.size());
    }
    if (!other && past == nullptr) {
      const int failure =
          ReadFileSlices(file->fd.get(), slices, root_->options().io_uring);
      if (failure > 0)
        return SystemError(failure, "cannot read").Within(Describe(object));
      if (failure == 0 && root_->StillNames(object, *file)) return identity.ToInfo();
      // Replaced by another since it was opened: what was read is whole, and was current
      // then.
      if (failure == 0 && is_current && IsUnchanged(*file)) return identity.ToInfo();
    }
    file.reset();
  }
  return Unavailable(Describe(object) + ": is being changed while it is read");
}

Result<WholeObject> FileStore::ReadWhole(std::string_view object, uint64_t limit) const {
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    DOLIUM_TRY(auto info, Stat(object));
    if (!info) return NoSuchObjectError(Describe(object));
    if (info->size > limit) return OverLimitError(Describe(object), info->size, limit);
    Buffer buffer(static_cast<size_t>(info->size));
    const ReadSlice slice{0, buffer.view()};
    const auto read = ReadInto(object, {&slice, 1}, {info->generation});
    if (read) return WholeObject{std::move(buffer).Share(), std::move(info->generation)};
    if (read.error().code != ErrorCode::kConflict) return read.error();
  }
  return Unavailable(Describe(object) + ": is being replaced while it is read");
}

Result<std::unique_ptr<ObjectWriter>> FileStore::Begin(std::string_view object) {
  return FileWriter::Begin(root_, object);
}

Result<void> FileStore::Remove(std::string_view object,
                               const Precondition& precondition) {
  const std::string described = Describe(object);
  const auto remove = [&]() -> Result<void> {
    DOLIUM_TRY(const UniqueFd folder, OpenFolder(root_->fd(), ParentPath(object)));
    DOLIUM_TRY(const FolderLock lock, FolderLock::Take(folder.get()));
    const PathName name(BaseName(object));
    struct stat status{};
    if (!name.valid() || fstatat(folder.get(), name.c_str(), &status, 0) != 0 ||
        !S_ISREG(status.st_mode)) {
      return NotFound("no such object");
    }
    DOLIUM_TRY_VOID(CheckPrecondition(precondition, FileIdentity(status).ToGeneration()));
    if (unlinkat(folder.get(), name.c_str(), 0) != 0) {
      return SystemError(errno, "cannot remove");
    }
    root_->Forget(object);
    if (root_->options().sync) return SyncFd(folder.get());
    return {};
  };
  return remove().Within(described);
}

Result<std::shared_ptr<void>> FileStore::LockForRewrite(std::string_view object,
                                                        bool wait) {
  const PathName name(object);
  if (!name.valid()) return InvalidArgument(Describe(object) + ": not a path");
  while (true) {
    // Not one of the files kept open: a lock belongs to its descriptor.
    UniqueFd file(RetryOnSignal([&] {
      return openat(root_->fd(), name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    }));
    if (!file) {
      if (errno == ENOENT || errno == ENOTDIR) return nullptr;
      return SystemError(errno, "cannot open").Within(Describe(object));
    }
    const int how = LOCK_EX | (wait ? 0 : LOCK_NB);
    if (RetryOnSignal([&] { return flock(file.get(), how); }) != 0) {
      if (errno != EWOULDBLOCK) return nullptr;
      return Unavailable(Describe(object) + ": locked by another writer");
    }
    // Whoever had the lock may have replaced the file: then the new one is to be locked.
    struct stat locked{};
    if (fstat(file.get(), &locked) != 0) {
      return SystemError(errno, "cannot look up").Within(Describe(object));
    }
    DOLIUM_TRY(const auto current, root_->Status(object));
    if (!current) return nullptr;
    if (current->st_dev == locked.st_dev && current->st_ino == locked.st_ino) {
      return std::shared_ptr<void>(std::make_shared<RewriteLock>(std::move(file)));
    }
  }
}

Result<std::optional<Store::LocalFile>> FileStore::OpenLocal(
    std::string_view object) const {
  DOLIUM_TRY(auto file, root_->OpenForReading(object));
  if (!file) return NoSuchObjectError(Describe(object));
  const int fd = file->fd.get();
  ObjectInfo info = file->identity.ToInfo();
  return LocalFile{std::move(file), fd, std::move(info)};
}

Result<std::optional<std::string>> FileStore::LocalPath(std::string_view object) const {
  if (object.starts_with('/')) return std::string(object);
  // The root may have been moved since it was opened: the descriptor knows where it is.
  char root[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(root_->fd());
  const ssize_t length = readlink(link.c_str(), root, sizeof root);
  if (length <= 0 || static_cast<size_t>(length) == sizeof root) {
    return SystemError(errno, "cannot find out its absolute path")
        .Within(Describe(object));
  }
  return JoinPath(std::string_view(root, static_cast<size_t>(length)), object);
}

Result<std::optional<Bytes>> FileStore::Map(std::string_view object,
                                            MapGuard guard) const {
  DOLIUM_TRY(const auto file, root_->OpenForReading(object));
  if (!file) return NoSuchObjectError(Describe(object));
  const size_t size = static_cast<size_t>(file->identity.size());
  if (size == 0) return Bytes();
  if (guard == MapGuard::kZeros) {
    Bytes map = MapFile(file->fd.get(), size);
    if (map.empty()) return SystemError(errno, "cannot map").Within(Describe(object));
    return map;
  }
  void* const address = mmap(nullptr, size, PROT_READ, MAP_SHARED, file->fd.get(), 0);
  if (address == MAP_FAILED)
    return SystemError(errno, "cannot map").Within(Describe(object));
  std::shared_ptr<const void> owner(address, [size](void* at) { munmap(at, size); });
  return Bytes(std::move(owner), BytesView(static_cast<const std::byte*>(address), size));
}

Result<size_t> FileStore::RemoveStaleTemporaries(std::string_view folder) {
  auto opened = OpenFolder(root_->fd(), folder);
  if (!opened) {
    if (opened.error().code == ErrorCode::kNotFound) return size_t{0};
    return std::move(opened).error().Within(Describe(folder));
  }
  const int fd = opened->get();
  std::vector<std::string> names;
  DOLIUM_TRY_VOID(VisitDirectory(fd, [&](const char* name, unsigned char) {
                    if (IsTemporaryName(name)) names.emplace_back(name);
                    return true;
                  }).Within(Describe(folder)));
  size_t removed = 0;
  for (const std::string& name : names) {
    const UniqueFd file(
        openat(fd, name.c_str(), O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (!file || flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;
    // Under the lock no writer commits it; a name that is gone by now was committed
    // before.
    if (unlinkat(fd, name.c_str(), 0) == 0) ++removed;
  }
  return removed;
}

}  // namespace dolium
