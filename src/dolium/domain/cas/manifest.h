// The manifest of a folder: what was in it, one line of JSON each, parents first. It is
// stored as a file of the store.
//
//   {"path":"a","type":"folder","mode":493,"modified":1700000000000000000}
//   {"path":"a/b","type":"file","mode":420,"modified":...,"size":12,"hash":"..."}
//   {"path":"a/c","type":"link","modified":...,"target":"b"}
//
// Paths and targets that are not UTF-8 are given in hex, as "path_hex", "target_hex".
// Other kinds of files, owners, hard links and extended attributes are not kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/xet/hash.h"

namespace dolium::cas {

enum class EntryType : uint8_t { kFile, kFolder, kLink };
std::string_view EntryTypeName(EntryType type);

struct ManifestEntry {
  std::string path;  // relative; "." is the folder itself
  EntryType type = EntryType::kFile;
  uint32_t mode = 0;     // permissions; not of links
  int64_t modified = 0;  // nanoseconds since 1970
  uint64_t size = 0;     // of files
  xet::Hash hash;        // of files
  std::string target;    // of links

  friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};

// Adds a path or target to an object: as the member `name` or, if it is not UTF-8, in hex
// as `<name>_hex`.
void AddText(nlohmann::ordered_json& json, const std::string& name,
             const std::string& text);

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
