// FileAttributes: what a file has besides its mode, its time and its contents.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "dolium/base/result.h"

namespace dolium::cas {

// By numbers: names may mean others elsewhere.
struct Owner {
  uint32_t user = 0;
  uint32_t group = 0;
  friend bool operator==(const Owner&, const Owner&) = default;
};

struct FileAttributes {
  std::optional<Owner> owner;                   // older stores have none
  std::map<std::string, std::string> extended;  // extended attributes, values as bytes

  friend bool operator==(const FileAttributes&, const FileAttributes&) = default;
};

inline Owner OwnerOf(const struct stat& status) { return {status.st_uid, status.st_gid}; }

// The extended attributes of what is at `path`, of a link itself. Those that may not be
// read, or are more than a line of a manifest can hold, are an error; file systems that
// have none give none.
Result<std::map<std::string, std::string>> ReadExtended(const std::string& path);

// What is open as `fd`, by O_PATH if need be, gets an owner or extended attributes; what
// it has already is left alone.
Result<void> SetOwner(int fd, const Owner& owner);
Result<void> SetExtended(int fd, const std::map<std::string, std::string>& extended);

// The path by which calls that know no descriptors reach what is open.
std::string PathOfDescriptor(int fd);

}  // namespace dolium::cas
