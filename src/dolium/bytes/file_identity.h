// FileIdentity: which file this is, in which state; what a local file's generation is
// made of.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdint>

#include "dolium/bytes/store.h"

namespace dolium {

// Device, inode, size, and time of the last change to the bytes. A file changed in place
// is distinguished as far as the file system's clock is: writers of ours never change one
// in place and see to it that no identity comes back (see file_writer.h).
class FileIdentity {
 public:
  FileIdentity() = default;
  explicit FileIdentity(const struct stat& status);

  uint64_t size() const { return words_[2]; }
  // Nanoseconds since 1970.
  int64_t modified() const { return static_cast<int64_t>(words_[3]); }

  Generation ToGeneration() const;
  // Whether `generation` is ToGeneration(), without making one.
  bool Is(const Generation& generation) const;
  ObjectInfo ToInfo() const { return {size(), ToGeneration(), modified()}; }

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;

 private:
  std::array<uint64_t, 4> words_{};
};

int64_t ModifiedNanoseconds(const struct stat& status);

}  // namespace dolium
