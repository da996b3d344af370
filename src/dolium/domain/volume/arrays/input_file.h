// InputFile: a file that somebody else made, open for reading at any place.
#pragma once

#include <cstdint>
#include <string>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/file_identity.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium::volume {

// Reads by pread, not through a memory map: somebody may cut the file short meanwhile,
// and that is an error and not the end of the process. Const methods may be called from
// many threads.
class InputFile {
 public:
  // Regular files only.
  static Result<InputFile> Open(const std::string& path);

  int fd() const { return fd_.get(); }
  uint64_t size() const { return identity_.size(); }

  // kCorrupt if the file ends before.
  Result<void> ReadAt(uint64_t offset, MutableBytes into) const;

  // Name and generation, for fingerprints.
  std::string Mark() const;

 private:
  InputFile(UniqueFd fd, std::string path, const FileIdentity& identity)
      : fd_(std::move(fd)), path_(std::move(path)), identity_(identity) {}

  UniqueFd fd_;
  std::string path_;
  FileIdentity identity_;
};

}  // namespace dolium::volume
