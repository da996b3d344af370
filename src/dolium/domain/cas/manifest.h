// The manifest of a folder: what was in it, one line of JSON each, parents first. It is
// stored as a file of the store.
//
//   {"path":"a","type":"folder","mode":493,"modified":1700000000000000000}
//   {"path":"a/b","type":"file","mode":420,"modified":...,"size":12,"hash":"..."}
//   {"path":"a/c","type":"link","modified":...,"target":"b"}
//
//   {"path":"a/d","type":"char","mode":438,"modified":...,"device":[1,3]}
//
// Paths and targets that are not UTF-8 are given in hex, as "path_hex", "target_hex". Any
// entry may have "uid" and "gid", and "xattrs" (values in hex, names escaped like those
// of versions); a file "inode", if it had several names, and "sparse". Readers pass over
// members that they do not know; types that they do not know they refuse
// (docs/decisions/0028-what-versions-keep.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/cas/attributes.h"
#include "dolium/formats/xet/hash.h"

namespace dolium::cas {

enum class EntryType : uint8_t {
  kFile,
  kFolder,
  kLink,
  kPipe,
  kCharDevice,
  kBlockDevice
};
std::string_view EntryTypeName(EntryType type);
// Whether it is a pipe or device, which readers of earlier versions of dolium refuse.
inline bool IsSpecial(EntryType type) { return type >= EntryType::kPipe; }

struct ManifestEntry {
  std::string path;  // relative; "." is the folder itself
  EntryType type = EntryType::kFile;
  uint32_t mode = 0;       // permissions; not of links
  int64_t modified = 0;    // nanoseconds since 1970
  uint64_t size = 0;       // of files
  xet::Hash hash;          // of files
  std::string target;      // of links
  uint64_t inode = 0;      // of files with several names: the same for all of them; or 0
  bool is_sparse = false;  // of files: it had holes
  uint32_t device_major = 0;  // of devices
  uint32_t device_minor = 0;
  FileAttributes attributes;

  friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};

// Adds a path or target to an object: as the member `name` or, if it is not UTF-8, in hex
// as `<name>_hex`.
void AddText(nlohmann::ordered_json& json, const std::string& name,
             const std::string& text);

// Adds owner and extended attributes to an object, and reads them from one: kCorrupt for
// anything else in their place.
void AddAttributes(nlohmann::ordered_json& json, const FileAttributes& attributes);
Result<FileAttributes> ParseAttributes(const nlohmann::json& json);

// An entry as a line of the manifest has it.
nlohmann::ordered_json EntryJson(const ManifestEntry& entry);
std::string FormatEntry(const ManifestEntry& entry);
// kCorrupt for anything else, also for paths that lead out of the folder.
Result<ManifestEntry> ParseEntry(std::string_view line);

// Makes the path of an entry one from the folder `folder` on, which is "." then; whether
// it is below it, or is it. An empty folder changes nothing.
bool MoveBelow(const std::string& folder, std::string& path);

// Splits a manifest into entries as its bytes come. One thread at a time.
class ManifestReader {
 public:
  using Visitor = std::function<Result<void>(ManifestEntry)>;
  explicit ManifestReader(Visitor visit) : visit_(std::move(visit)) {}

  Result<void> Write(BytesView segment);
  // The manifest ends here.
  Result<void> Finish() const;

 private:
  Visitor visit_;
  std::string pending_;
  uint64_t lines_ = 0;
};

}  // namespace dolium::cas
