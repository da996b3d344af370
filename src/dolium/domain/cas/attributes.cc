#include "dolium/domain/cas/attributes.h"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace dolium::cas {
namespace {

// Of all of a file: in hex, they have to fit a line of a manifest, of 1 MiB.
constexpr size_t kMostExtended = size_t{256} << 10;
// How often attributes are read that grow meanwhile.
constexpr int kReads = 4;

// Of what vanished, whoever reads the file finds out.
bool HasNone(int error) { return error == ENOTSUP || error == ENOSYS || error == ENOENT; }

// Calls `read(buffer, size)` with a buffer that is large enough; nullopt if there is
// nothing to be read.
template <typename Read>
Result<std::optional<std::string>> ReadGrowing(const std::string& what, Read read) {
  for (int attempt = 0; attempt < kReads; ++attempt) {
    const ssize_t wanted = read(nullptr, 0);
    if (wanted < 0) {
      if (HasNone(errno) || errno == ENODATA) return std::nullopt;
      return SystemError(errno, fmt::format("cannot read {}", what));
    }
    if (static_cast<size_t>(wanted) > kMostExtended) {
      return Unsupported(
          fmt::format("{}: {} bytes, at most {} are kept", what, wanted, kMostExtended));
    }
    if (wanted == 0) return std::string();
    std::string value(static_cast<size_t>(wanted), '\0');
    const ssize_t got = read(value.data(), value.size());
    if (got >= 0) {
      value.resize(static_cast<size_t>(got));
      return value;
    }
    if (errno == ENODATA) return std::nullopt;
    if (errno != ERANGE) return SystemError(errno, fmt::format("cannot read {}", what));
  }
  return Conflict(fmt::format("{}: changes whenever it is read", what));
}

}  // namespace

Result<std::map<std::string, std::string>> ReadExtended(const std::string& path) {
  std::map<std::string, std::string> extended;
  DOLIUM_TRY(const auto names,
             ReadGrowing("its extended attributes", [&](char* buffer, size_t size) {
               return llistxattr(path.c_str(), buffer, size);
             }));
  if (!names) return extended;
  size_t sum = 0;
  for (std::string_view rest = *names; !rest.empty();) {
    const std::string name(rest.substr(0, rest.find('\0')));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    DOLIUM_TRY(auto value, ReadGrowing(fmt::format("its extended attribute {}", name),
                                       [&](char* buffer, size_t size) {
                                         return lgetxattr(path.c_str(), name.c_str(),
                                                          buffer, size);
                                       }));
    if (!value) continue;  // Removed meanwhile.
    sum += name.size() + value->size();
    if (sum > kMostExtended) {
      return Unsupported(fmt::format(
          "its extended attributes have more than {} bytes, which are not kept",
          kMostExtended));
    }
    extended.emplace(name, *std::move(value));
  }
  return extended;
}

std::string PathOfDescriptor(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

Result<void> SetOwner(int fd, const Owner& owner) {
  struct stat status{};
  if (fstat(fd, &status) == 0 && OwnerOf(status) == owner) return {};
  if (fchownat(fd, "", owner.user, owner.group, AT_EMPTY_PATH) == 0) return {};
  return SystemError(errno,
                     fmt::format("cannot set the owner {}:{}", owner.user, owner.group));
}

Result<void> SetExtended(int fd, const std::map<std::string, std::string>& extended) {
  if (extended.empty()) return {};
  const std::string path = PathOfDescriptor(fd);
  for (const auto& [name, value] : extended) {
    std::string there(value.size() + 1, '\0');
    const ssize_t size = getxattr(path.c_str(), name.c_str(), there.data(), there.size());
    if (size >= 0 && there.substr(0, static_cast<size_t>(size)) == value) continue;
    if (setxattr(path.c_str(), name.c_str(), value.data(), value.size(), 0) != 0) {
      return SystemError(errno,
                         fmt::format("cannot set the extended attribute {}", name));
    }
  }
  return {};
}

}  // namespace dolium::cas
