#include "dolium/domain/volume/arrays/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "dolium/base/stable_hash.h"

namespace dolium::volume {

Result<InputFile> InputFile::Open(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  UniqueFd fd(RetryOnSignal(
      [&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
  if (!fd) return SystemError(errno, "cannot open");
  struct stat status{};
  if (fstat(fd.get(), &status) != 0) return SystemError(errno, "cannot look up");
  if (!S_ISREG(status.st_mode)) return InvalidArgument("not a regular file");
  return InputFile(std::move(fd), path, FileIdentity(status));
}

Result<void> InputFile::ReadAt(uint64_t offset, MutableBytes into) const {
  const auto range = ByteRange::Make(offset, into.size());
  while (!into.empty()) {
    if (!range || range->end() > size()) {
      return Corrupt(fmt::format("{} bytes at {} end past the file ({} bytes)",
                                 into.size(), offset, size()));
    }
    const ssize_t got = RetryOnSignal([&] {
      return pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    });
    if (got < 0) return SystemError(errno, "cannot read");
    if (got == 0) return Corrupt("became shorter while it was read");
    offset += static_cast<uint64_t>(got);
    into = into.subspan(static_cast<size_t>(got));
  }
  return {};
}

std::string InputFile::Mark() const {
  return fmt::format("{} ({} bytes, generation {:016x})", path_, size(),
                     StableHash(identity_.ToGeneration().token));
}

}  // namespace dolium::volume
