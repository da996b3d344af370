#include "cli/pack/pack_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/bytes.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium::cli {
namespace {

constexpr size_t kAtOnce = size_t{1} << 20;

std::string PathOf(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

Result<void> CopyTo(int fd) {
  ByteVector buffer(kAtOnce);
  while (true) {
    const ssize_t got =
        RetryOnSignal([&] { return read(STDIN_FILENO, buffer.data(), buffer.size()); });
    if (got < 0) return SystemError(errno, "cannot read").Within("-");
    if (got == 0) return {};
    for (BytesView rest(buffer.data(), static_cast<size_t>(got)); !rest.empty();) {
      const ssize_t put =
          RetryOnSignal([&] { return write(fd, rest.data(), rest.size()); });
      if (put < 0) return SystemError(errno, "-: cannot write to a temporary file");
      rest = rest.subspan(static_cast<size_t>(put));
    }
  }
}

Result<std::string> StandardInput() {
  struct stat status{};
  if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) {
    return PathOf(STDIN_FILENO);
  }
  std::error_code failure;
  const std::string folder = std::filesystem::temp_directory_path(failure).string();
  // Open until the process ends.
  static UniqueFd file;
  if (file) return InvalidArgument("-: standard input can be read only once");
  file = UniqueFd(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) return SystemError(errno, "cannot make a temporary file").Within(folder);
  DOLIUM_TRY_VOID(CopyTo(file.get()));
  return PathOf(file.get());
}

}  // namespace

Result<std::string> PackInput(const std::string& reference) {
  return reference == "-" ? StandardInput() : reference;
}

Result<PackInputs> PackInputs::Open(std::vector<std::string> references) {
  std::vector<std::string> paths;
  for (const std::string& reference : references) {
    DOLIUM_TRY(paths.emplace_back(), PackInput(reference));
  }
  return PackInputs(std::move(references), std::move(paths));
}

std::string PackInputs::Named(std::string text) const {
  for (size_t i = 0; i < paths_.size(); ++i) {
    if (references_[i] == "-" && text.starts_with(paths_[i])) {
      text.replace(0, paths_[i].size(), "-");
    }
  }
  return text;
}

Error PackInputs::Named(Error error) const {
  error.message = Named(std::move(error.message));
  return error;
}

}  // namespace dolium::cli
