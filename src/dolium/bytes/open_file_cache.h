// OpenFileCache: the files read last, kept open, so that a hot read need not open one.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "dolium/bytes/file_identity.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium {

// A file open for reading, and what it was when it was opened.
struct OpenFile {
  UniqueFd fd;
  FileIdentity identity;
};

// A bounded map from path to open file; the least recently used goes first. It says
// nothing about whether the path still names that file: the caller compares identities.
// Files stay open as long as somebody holds them. All methods may be called from many
// threads.
class OpenFileCache {
 public:
  explicit OpenFileCache(size_t capacity) : capacity_(capacity) {}

  std::shared_ptr<const OpenFile> Get(std::string_view path);
  void Put(std::string_view path, std::shared_ptr<const OpenFile> file);
  void Drop(std::string_view path);
  void Clear();

 private:
  struct Entry {
    std::string path;
    std::shared_ptr<const OpenFile> file;
  };
  using Order = std::list<Entry>;

  const size_t capacity_;
  std::mutex mutex_;
  Order order_;  // guarded by mutex_; most recently used first
  std::unordered_map<std::string_view, Order::iterator> by_path_;  // guarded by mutex_
};

}  // namespace dolium
