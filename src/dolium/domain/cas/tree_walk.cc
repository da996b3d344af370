#include "dolium/domain/cas/tree_walk.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "dolium/bytes/store.h"
#include "dolium/domain/cas/files.h"

namespace dolium::cas {
namespace {

int64_t Modified(const struct stat& status) {
  return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

Result<std::string> TargetOf(const std::string& path, size_t size) {
  std::string target(std::max<size_t>(size, 255) + 1, '\0');
  while (true) {
    const ssize_t got = readlink(path.c_str(), target.data(), target.size());
    if (got < 0) return SystemError(errno, "cannot read the link");
    if (static_cast<size_t>(got) < target.size()) {
      target.resize(static_cast<size_t>(got));
      return target;
    }
    target.resize(2 * target.size());
  }
}

// nullopt for what is not kept.
std::optional<EntryType> TypeOf(mode_t mode) {
  if (S_ISREG(mode)) return EntryType::kFile;
  if (S_ISDIR(mode)) return EntryType::kFolder;
  if (S_ISLNK(mode)) return EntryType::kLink;
  if (S_ISFIFO(mode)) return EntryType::kPipe;
  if (S_ISCHR(mode)) return EntryType::kCharDevice;
  if (S_ISBLK(mode)) return EntryType::kBlockDevice;
  return std::nullopt;
}

// A path in which no link is left; the path itself if there is none.
std::string ResolvedPath(const std::string& path) {
  std::error_code error;
  const auto resolved = std::filesystem::canonical(path, error);
  return error ? path : resolved.string();
}

}  // namespace

void DescribeFile(const struct stat& status, ManifestEntry& entry) {
  entry.mode = status.st_mode & 07777;
  entry.modified = Modified(status);
  entry.size = static_cast<uint64_t>(status.st_size);
  entry.is_sparse = int64_t{status.st_blocks} * 512 < status.st_size;
}

Result<TreeWalk> TreeWalk::Begin(const std::vector<std::string>& paths,
                                 const std::string& store, WalkOptions options) {
  TreeWalk walk;
  if (stat(store.c_str(), &walk.store_) != 0) {
    return SystemError(errno, "cannot look up").Within(store);
  }
  walk.options_ = std::move(options);
  walk.paths_ = paths;
  if (paths.size() == 1) {
    struct stat status{};
    if (stat(paths[0].c_str(), &status) != 0) {
      return SystemError(errno, "cannot look up").Within(paths[0]);
    }
    walk.is_folder_ = S_ISDIR(status.st_mode);
  }
  std::set<std::string> names;
  for (const std::string& path : paths) {
    const std::string name(BaseName(path));
    if (walk.is_folder_) break;
    if (name.empty() || name == "." || name == "..") {
      return InvalidArgument(
          fmt::format("{}: has no base name, which several paths are kept under", path));
    }
    if (!names.insert(name).second) {
      return InvalidArgument(fmt::format("{}: two paths are called {}", path, name));
    }
  }
  return walk;
}

Result<std::optional<TreeWalk::Found>> TreeWalk::Take(std::string source,
                                                      const std::string& path,
                                                      bool follow_link) {
  struct stat status{};
  const int looked =
      follow_link ? stat(source.c_str(), &status) : lstat(source.c_str(), &status);
  if (looked != 0) {
    Error error = SystemError(errno, "cannot look up");
    if (follow_link) return std::move(error).Within(source);
    if (!options_.exclude.Match(path, /*is_folder=*/true)) Skip(source, error);
    return std::nullopt;
  }
  const auto type = TypeOf(status.st_mode);
  if (!follow_link && options_.exclude.Match(path, type && *type == EntryType::kFolder)) {
    return std::nullopt;
  }
  if (!type) {
    Skip(source, Unsupported("is a socket, which is not kept"));
    return std::nullopt;
  }
  if (follow_link) device_ = status.st_dev;
  Found found;
  found.status = status;
  found.entry.path = path;
  found.entry.type = *type;
  if (*type == EntryType::kFile) {
    DescribeFile(status, found.entry);
  } else {
    found.entry.modified = Modified(status);
    if (*type != EntryType::kLink) found.entry.mode = status.st_mode & 07777;
  }
  if (options_.owners) found.entry.attributes.owner = OwnerOf(status);
  if (*type == EntryType::kLink) {
    auto target = TargetOf(source, static_cast<size_t>(status.st_size));
    if (!target) {
      Skip(source, target.error());
      return std::nullopt;
    }
    found.entry.target = *std::move(target);
  } else if (*type == EntryType::kFolder) {
    if (status.st_dev == store_.st_dev && status.st_ino == store_.st_ino) {
      Skip(source, Unsupported("is the store itself"));
      return std::nullopt;
    }
    if (!options_.one_file_system || status.st_dev == device_) {
      DOLIUM_TRY_VOID(EnterFolder(source, path, follow_link));
    }
  } else if (*type != EntryType::kFile && *type != EntryType::kPipe) {
    found.entry.device_major = major(status.st_rdev);
    found.entry.device_minor = minor(status.st_rdev);
  }
  // Of what a path leads to that is a link; elsewhere links are not followed.
  auto extended = ReadExtended(follow_link ? ResolvedPath(source) : source);
  if (extended) {
    found.entry.attributes.extended = *std::move(extended);
  } else {
    Skip(source, extended.error());  // The rest is kept.
  }
  found.source = std::move(source);
  return found;
}

Result<void> TreeWalk::EnterFolder(const std::string& source, const std::string& path,
                                   bool is_given) {
  std::vector<std::string> names;
  const auto listed =
      ListFolder(source, [&](std::string_view name) { names.emplace_back(name); });
  if (!listed && is_given) return listed.error();
  // The folder itself is kept.
  if (!listed) {
    Error error = listed.error();
    error.message.erase(0, source.size() + 2);
    Skip(source, error);
  }
  std::sort(names.begin(), names.end());
  levels_.push_back({source, path == "." ? "" : path, std::move(names)});
  return {};
}

Result<std::optional<TreeWalk::Found>> TreeWalk::Next() {
  while (true) {
    if (!levels_.empty()) {
      Level& level = levels_.back();
      if (level.next == level.names.size()) {
        levels_.pop_back();
        continue;
      }
      const std::string& name = level.names[level.next++];
      DOLIUM_TRY(auto found,
                 Take(JoinPath(level.source, name), JoinPath(level.path, name), false));
      if (found) return found;
      continue;
    }
    if (next_path_ == paths_.size()) return std::nullopt;
    const std::string& path = paths_[next_path_++];
    DOLIUM_TRY(auto found,
               Take(path, is_folder_ ? "." : std::string(BaseName(path)), true));
    if (found) return found;
  }
}

}  // namespace dolium::cas
