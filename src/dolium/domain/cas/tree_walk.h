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
#include "dolium/domain/cas/manifest.h"

namespace dolium::cas {

// Depth first, parents first, names of each folder sorted: the same folder gives the same
// order. Links are not followed, but for the paths it begins with. Holds the names of the
// folders that it is in. One thread at a time.
class TreeWalk {
 public:
  // Called for what is passed over, and why: what is neither file, folder nor link, and
  // the store itself.
  using Skipped = std::function<void(const std::string& path, std::string_view reason)>;

  // With one path that is a folder, entries are relative to it, and the first is ".";
  // else they begin with the base names of `paths`, which must differ.
  static Result<TreeWalk> Begin(const std::vector<std::string>& paths,
                                const std::string& store, Skipped skipped);

  // Whether it began with one folder.
  bool is_folder() const { return is_folder_; }

  struct Found {
    std::string source;   // where it lies
    ManifestEntry entry;  // of files, without hash
    struct stat status{};
  };
  // nullopt at the end. A file that vanished meanwhile is passed over.
  Result<std::optional<Found>> Next();

 private:
  struct Level {
    std::string source;  // the folder
    std::string path;    // in the manifest; empty for the root
    std::vector<std::string> names;
    size_t next = 0;
  };
  Result<std::optional<Found>> Take(std::string source, const std::string& path,
                                    bool follow_link);

  Skipped skipped_;
  struct stat store_{};
  bool is_folder_ = false;
  std::vector<std::string> paths_;
  size_t next_path_ = 0;
  std::vector<Level> levels_;
};

}  // namespace dolium::cas
