// CacheFolder: a folder of cached values with a limit in bytes, shared by processes.
//
// Everything is below `<folder>/dolium-cache-1`, which has mode 0700; nothing else is
// ever touched. A value is one file, named by the SHA-256 of its key (keys hold URLs, and
// URLs hold tokens), in one of 256 sub-folders:
//
//   0   8  magic "dolcach1"
//   8   8  XXH64, little-endian, of all that follows
//   16 32  SHA-256 of the key
//   48     the value, to the end of the file
//
// Files are renamed into place, so that no reader sees half of one; what a crash of the
// machine tore, or what somebody else put there, fails its checksum or its key, and is as
// if it were not there. The modification time is that of the last use, to the minute.
//
// `usage` holds the sum of the sizes of all values. Values are written under its lock
// only: a value is added to the sum before its file is made, and if the sum would exceed
// the limit, those that were not used for longest are deleted first. So the limit holds
// for all processes together. After a kill the sum may be too high; deleting counts
// again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium {

// All methods may be called from many threads. Failures to read or write the folder are
// misses, never errors: a cache that is broken costs time alone.
class CacheFolder {
 public:
  // Makes the folders as needed. kInvalidArgument if the folder of the cache belongs to
  // another user; other errors if it cannot be made.
  static Result<std::shared_ptr<CacheFolder>> Open(const std::string& path,
                                                   uint64_t limit);

  // The value of `key`; nullopt if there is none that is whole.
  std::optional<Bytes> Get(std::string_view key) const;
  // Whether there is a file for it, whole or not.
  bool Has(std::string_view key) const;
  // Keeps a value, in place of another of the same key. One larger than an eighth of the
  // limit is not kept.
  void Put(std::string_view key, BytesView value);
  void Remove(std::string_view key);

  const std::string& path() const { return path_; }
  uint64_t limit() const { return limit_; }

 private:
  CacheFolder(std::string path, uint64_t limit, UniqueFd folder)
      : path_(std::move(path)), limit_(limit), folder_(std::move(folder)) {}

  // Under the lock of `usage`: deletes until at most `wanted` bytes are left; returns how
  // many are.
  uint64_t DeleteDownTo(uint64_t wanted);

  const std::string path_;  // as typed
  const uint64_t limit_;
  const UniqueFd folder_;
};

}  // namespace dolium
