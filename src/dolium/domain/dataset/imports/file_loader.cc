#include "dolium/domain/dataset/imports/file_loader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "dolium/bytes/file_identity.h"
#include "dolium/bytes/store.h"
#include "dolium/domain/dataset/imports/open_beneath.h"

namespace dolium::dataset {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr size_t kSmallBytes = size_t{128} << 10;
constexpr uint32_t kPermissionBits = 07777;

// What is read keeps its place in a block at a multiple of this.
constexpr size_t kAlignment = 16;

Result<void> ReadAll(int fd, MutableBytes into) {
  while (!into.empty()) {
    const ssize_t got = RetryOnSignal([&] { return read(fd, into.data(), into.size()); });
    if (got < 0) return SystemError(errno, "cannot read");
    if (got == 0) return Conflict("became shorter while it was read");
    into = into.subspan(static_cast<size_t>(got));
  }
  return {};
}

}  // namespace

Result<Bytes> FileLoader::ReadSmall(int fd, size_t size) {
  if (size == 0) return Bytes();
  if (!block_ || size > kBlockBytes - used_) {
    block_.reset(new std::byte[kBlockBytes]);
    used_ = 0;
  }
  const MutableBytes into(block_.get() + used_, size);
  DOLIUM_TRY_VOID(ReadAll(fd, into));
  used_ =
      std::min(kBlockBytes, (used_ + size + kAlignment - 1) / kAlignment * kAlignment);
  return Bytes(block_, into);
}

void FileLoader::Bind(const std::string& path, bool follow) {
  struct stat status{};
  const bool is_there =
      fstatat(root_.get(), path.c_str(), &status, follow ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
  bound_.Add(path, is_there ? FileIdentity(status).ToGeneration().token : "");
}

Result<void> FileLoader::LoadSteps(const std::string& path, bool follow, size_t number,
                                   shardpack::File& file) {
  if (path.find('\0') != std::string::npos) return InvalidArgument("a NUL in the path");
  UniqueFd fd;
  if (follow) {
    DOLIUM_TRY(fd, OpenBeneath(root_.get(), path, O_RDONLY | O_NONBLOCK));
  } else {
    fd = UniqueFd(RetryOnSignal([&] {
      return openat(root_.get(), path.c_str(),
                    O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    }));
    if (!fd) return SystemError(errno, "cannot open");
  }
  struct stat status{};
  if (fstat(fd.get(), &status) != 0) return SystemError(errno, "cannot look up");
  if (!S_ISREG(status.st_mode)) return InvalidArgument("not a regular file");
  const FileIdentity identity(status);
  DOLIUM_TRY_VOID(bound_.Check(number, identity.ToGeneration().token));
  const auto bytes = static_cast<uint64_t>(status.st_size);
  if (bytes > options_.max_file_bytes) {
    return InvalidArgument(fmt::format("{} bytes, more than the limit of {}", bytes,
                                       options_.max_file_bytes));
  }
  const auto size = static_cast<size_t>(bytes);
  if (size <= kSmallBytes) {
    DOLIUM_TRY(file.data, ReadSmall(fd.get(), size));
  } else {
    Buffer buffer(size);
    DOLIUM_TRY_VOID(ReadAll(fd.get(), buffer.view()));
    file.data = std::move(buffer).Share();
  }
  struct stat after{};
  if (fstat(fd.get(), &after) != 0) return SystemError(errno, "cannot look up");
  if (FileIdentity(after) != identity) return Conflict("changed while it was read");
  if (options_.keep_attributes) {
    file.modified = ModifiedNanoseconds(status);
    file.mode = status.st_mode & kPermissionBits;
  }
  return {};
}

Result<void> FileLoader::Load(const std::string& path, bool follow, size_t number,
                              shardpack::File& file) {
  auto loaded = LoadSteps(path, follow, number, file);
  if (!loaded) return std::move(loaded).error().Within(JoinPath(root_path_, path));
  return {};
}

}  // namespace dolium::dataset
