#include "dolium/domain/dataset/imports/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace dolium::dataset {
namespace {

std::optional<std::string> RealPath(int fd) {
  char target[PATH_MAX];
  const ssize_t length =
      readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), target, sizeof target);
  if (length <= 0) return std::nullopt;
  return std::string(target, static_cast<size_t>(length));
}

// For kernels before 5.6, and sandboxes that know no openat2.
int OpenAndCompare(int root, const std::string& path, int flags) {
  UniqueFd file(
      RetryOnSignal([&] { return openat(root, path.c_str(), flags | O_CLOEXEC); }));
  if (!file) return -1;
  const auto folder = RealPath(root);
  const auto real = RealPath(file.get());
  if (!folder || !real || !std::string_view(*real).starts_with(*folder + "/")) {
    errno = EXDEV;
    return -1;
  }
  return fcntl(file.get(), F_DUPFD_CLOEXEC, 0);
}

}  // namespace

Result<UniqueFd> OpenBeneath(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  UniqueFd file(RetryOnSignal([&] {
    return static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
  }));
  if (!file && (errno == ENOSYS || errno == EPERM)) {
    file = UniqueFd(OpenAndCompare(root, path, flags));
  }
  if (file) return file;
  if (errno == EXDEV) {
    return InvalidArgument(path + ": leads out of the folder");
  }
  return SystemError(errno, "cannot open").Within(path);
}

}  // namespace dolium::dataset
