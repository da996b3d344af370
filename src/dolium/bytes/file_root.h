// FileRoot: what a FileStore and its writers share.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/lru_cache.h"
#include "dolium/base/result.h"
#include "dolium/bytes/file_identity.h"
#include "dolium/bytes/file_store.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium {

// A file open for reading, and what it was when it was opened.
struct OpenFile {
  UniqueFd fd;
  FileIdentity identity;
};

// The directory that names are relative to, and the files kept open. Thread-safe.
class FileRoot {
 public:
  static Result<std::shared_ptr<FileRoot>> Open(std::string_view path,
                                                FileStoreOptions options);

  int fd() const { return fd_.get(); }
  const FileStoreOptions& options() const { return options_; }
  std::string Describe(std::string_view object) const;

  // The status of the regular file `object`; nullopt if there is none.
  Result<std::optional<struct stat>> Status(std::string_view object) const;

  // The file that `object` names now, open for reading; nullptr if there is none.
  Result<std::shared_ptr<const OpenFile>> OpenForReading(std::string_view object);

  // The file that `object` named when it was last opened, if that is still open; whether
  // it names it yet is for StillNames() to say.
  std::shared_ptr<const OpenFile> LastOpened(std::string_view object) {
    return open_files_.Get(object);
  }

  // Whether `object` names `file` now, and its bytes are what they were when it was
  // opened.
  bool StillNames(std::string_view object, const OpenFile& file) const;

  // Lets go of a file that was replaced or removed, which would hold its disk space.
  void Forget(std::string_view object) { open_files_.Forget(object); }

 private:
  FileRoot(UniqueFd fd, std::string_view path, FileStoreOptions options);

  const UniqueFd fd_;
  const std::string path_;  // as typed
  const FileStoreOptions options_;
  // By path; whether that still names the file is for the caller to see. A hot read need
  // not open it.
  LruCache<std::string, OpenFile> open_files_;
};

}  // namespace dolium
