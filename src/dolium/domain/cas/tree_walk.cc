#include "dolium/domain/cas/tree_walk.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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
    if (got < 0) return SystemError(errno, "cannot read the link").Within(path);
    if (static_cast<size_t>(got) < target.size()) {
      target.resize(static_cast<size_t>(got));
      return target;
    }
    target.resize(2 * target.size());
  }
}

}  // namespace

Result<TreeWalk> TreeWalk::Begin(const std::vector<std::string>& paths,
                                 const std::string& store, Skipped skipped) {
  TreeWalk walk;
  if (stat(store.c_str(), &walk.store_) != 0) {
    return SystemError(errno, "cannot look up").Within(store);
  }
  walk.skipped_ = std::move(skipped);
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
    if (errno == ENOENT && !follow_link) return std::nullopt;
    return SystemError(errno, "cannot look up").Within(source);
  }
  Found found;
  found.status = status;
  found.entry.path = path;
  found.entry.modified = Modified(status);
  if (S_ISLNK(status.st_mode)) {
    found.entry.type = EntryType::kLink;
    DOLIUM_TRY(found.entry.target, TargetOf(source, static_cast<size_t>(status.st_size)));
  } else {
    found.entry.mode = status.st_mode & 07777;
    if (S_ISDIR(status.st_mode)) {
      if (status.st_dev == store_.st_dev && status.st_ino == store_.st_ino) {
        if (skipped_) skipped_(source, "is the store itself");
        return std::nullopt;
      }
      found.entry.type = EntryType::kFolder;
      DOLIUM_TRY(auto names, SortedFolder(source));
      levels_.push_back({source, path == "." ? "" : path, std::move(names)});
    } else if (S_ISREG(status.st_mode)) {
      found.entry.size = static_cast<uint64_t>(status.st_size);
    } else {
      if (skipped_) skipped_(source, "neither a file, a folder nor a link");
      return std::nullopt;
    }
  }
  found.source = std::move(source);
  return found;
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
