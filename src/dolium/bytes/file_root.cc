#include "dolium/bytes/file_root.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>

#include "dolium/bytes/path_name.h"

namespace dolium {
namespace {

constexpr size_t kOpenFiles = 128;

bool IsAbsence(int errnum) { return errnum == ENOENT || errnum == ENOTDIR; }

FileStoreOptions WithEnvironment(FileStoreOptions options) {
  const char* const off = std::getenv("DOLIUM_NO_IO_URING");
  if (off != nullptr && std::string_view(off) == "1") options.io_uring = false;
  return options;
}

}  // namespace

FileRoot::FileRoot(UniqueFd fd, std::string_view path, FileStoreOptions options)
    : fd_(std::move(fd)),
      path_(path),
      options_(WithEnvironment(options)),
      open_files_(kOpenFiles) {}

Result<std::shared_ptr<FileRoot>> FileRoot::Open(std::string_view path,
                                                 FileStoreOptions options) {
  const PathName name(path);
  if (!name.valid()) return InvalidArgument("not a path: " + std::string(path));
  UniqueFd fd(open(name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return SystemError(errno, "cannot open the folder").Within(path);
  return std::shared_ptr<FileRoot>(new FileRoot(std::move(fd), path, options));
}

std::string FileRoot::Describe(std::string_view object) const {
  if (object.starts_with('/')) return std::string(object);
  if (path_ == "." || path_.empty()) return std::string(object.empty() ? "." : object);
  return JoinPath(path_, object);
}

Result<std::optional<struct stat>> FileRoot::Status(std::string_view object) const {
  const PathName name(object);
  if (!name.valid()) return InvalidArgument(Describe(object) + ": not a path");
  struct stat status{};
  if (fstatat(fd(), name.c_str(), &status, 0) == 0) {
    if (S_ISREG(status.st_mode)) return status;
    if (S_ISDIR(status.st_mode)) return std::nullopt;
    return Corrupt(Describe(object) + ": neither a file nor a folder; cannot be read");
  }
  const int failure = errno;
  if (!IsAbsence(failure) && failure != ELOOP) {
    return SystemError(failure, "cannot look up").Within(Describe(object));
  }
  if (fstatat(fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISLNK(status.st_mode)) {
    return Corrupt(Describe(object) + ": a link that leads nowhere");
  }
  return std::nullopt;
}

Result<std::shared_ptr<const OpenFile>> FileRoot::OpenForReading(
    std::string_view object) {
  DOLIUM_TRY(const auto found, Status(object));
  if (!found) {
    Forget(object);
    return nullptr;
  }
  const PathName name(object);
  const FileIdentity identity(*found);
  std::shared_ptr<const OpenFile> cached = open_files_.Get(object);
  if (cached && cached->identity == identity) return cached;

  const auto open_now = [&] {
    // Should the file have become a FIFO, O_NONBLOCK keeps open() from waiting for a
    // writer.
    return RetryOnSignal(
        [&] { return openat(fd(), name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC); });
  };
  UniqueFd file(open_now());
  if (!file && (errno == EMFILE || errno == ENFILE)) {
    cached.reset();
    open_files_.Clear();
    file = UniqueFd(open_now());
  }
  if (!file) {
    if (IsAbsence(errno)) return nullptr;
    return SystemError(errno, "cannot open").Within(Describe(object));
  }
  // Whatever came between the two calls: what is open now is what counts.
  struct stat status{};
  if (fstat(file.get(), &status) != 0) {
    return SystemError(errno, "cannot look up").Within(Describe(object));
  }
  if (!S_ISREG(status.st_mode)) return nullptr;
  auto opened =
      std::make_shared<const OpenFile>(OpenFile{std::move(file), FileIdentity(status)});
  open_files_.Put(object, opened);
  return opened;
}

bool FileRoot::StillNames(std::string_view object, const OpenFile& file) const {
  const PathName name(object);
  struct stat status;
  return fstatat(fd(), name.c_str(), &status, 0) == 0 &&
         FileIdentity(status) == file.identity;
}

}  // namespace dolium
