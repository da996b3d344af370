// TreeWalk: goes through files and folders that are put into a store.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/cas/exclude.h"
#include "dolium/domain/cas/manifest.h"

namespace dolium::cas {

// Called for what is left out, and why. The error does not name the path.
using Skipped = std::function<void(const std::string& path, const Error& reason)>;

struct WalkOptions {
  ExcludePatterns exclude = {};  // of what is below the paths it begins with
  // Stay on the file system of each path it begins with. Where another is mounted, the
  // folder is kept, and nothing in it.
  bool one_file_system = false;
  bool owners = true;  // note them
  Skipped skipped = {};
};

// Depth first, parents first, names of each folder sorted: the same folder gives the same
// order. Links are not followed, but for the paths it begins with. Holds the names of the
// folders that it is in. One thread at a time.
class TreeWalk {
 public:
  // With one path that is a folder, entries are relative to it, and the first is ".";
  // else they begin with the base names of `paths`, which must differ. Skipped are
  // sockets, what cannot be looked at, and the store itself; what is excluded is passed
  // over.
  static Result<TreeWalk> Begin(const std::vector<std::string>& paths,
                                const std::string& store, WalkOptions options);

  // With what has matched so far.
  const ExcludePatterns& exclude() const { return options_.exclude; }

  // Whether it began with one folder.
  bool is_folder() const { return is_folder_; }

  struct Found {
    std::string source;   // where it lies
    ManifestEntry entry;  // of files, without hash
    struct stat status{};
  };
  // nullopt at the end.
  Result<std::optional<Found>> Next();

 private:
  struct Level {
    std::string source;  // the folder
    std::string path;    // in the manifest; empty for the root
    std::vector<std::string> names;
    size_t next = 0;
  };
  void Skip(const std::string& source, const Error& reason) const {
    if (options_.skipped) options_.skipped(source, reason);
  }
  Result<std::optional<Found>> Take(std::string source, const std::string& path,
                                    bool follow_link);
  Result<void> EnterFolder(const std::string& source, const std::string& path,
                           bool is_given);

  WalkOptions options_;
  dev_t device_ = 0;  // of the path that it is below
  struct stat store_{};
  bool is_folder_ = false;
  std::vector<std::string> paths_;
  size_t next_path_ = 0;
  std::vector<Level> levels_;
};

// Sets mode, time and size of an entry that is a file, and whether it is sparse.
void DescribeFile(const struct stat& status, ManifestEntry& entry);

}  // namespace dolium::cas
