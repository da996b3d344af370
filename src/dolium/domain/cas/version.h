// Version: what a name of the store stood for at some time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/cas/attributes.h"
#include "dolium/domain/cas/layout.h"
#include "dolium/domain/cas/lease.h"

namespace dolium::cas {

// What a put met and made. Bytes are raw but for stored_bytes, which is what was written.
struct PutTotals {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t chunks = 0;
  uint64_t new_chunks = 0;
  uint64_t new_bytes = 0;
  uint64_t stored_bytes = 0;

  friend bool operator==(const PutTotals&, const PutTotals&) = default;
};

enum class VersionKind : uint8_t {
  kFile,    // `hash` is a file
  kFolder,  // `hash` is a manifest; its paths go right into the folder it is restored to
  kPaths,   // the same, of several paths: they begin with their base names
};
std::string_view VersionKindName(VersionKind kind);

struct Version {
  std::string name;
  uint64_t sequence = 0;
  int64_t created = 0;  // nanoseconds since 1970
  VersionKind kind = VersionKind::kFile;
  xet::Hash hash;
  uint32_t mode = 0;               // of a file
  int64_t modified = 0;            // of a file; nanoseconds since 1970
  FileAttributes attributes = {};  // of a file
  bool is_sparse = false;          // of a file
  // Whether pipes or devices are in the folder. The record says so by its kind, so that
  // programs that do not know them refuse the version (docs/decisions/0028).
  bool has_special = false;
  bool is_aligned = false;
  std::string host = {};               // that it was put on; older versions have none
  std::vector<std::string> tags = {};  // sorted
  PutTotals totals;

  std::string reference() const;  // `name@3`
  friend bool operator==(const Version&, const Version&) = default;
};

// One line of JSON, and back. kCorrupt for anything that is no version.
std::string FormatVersion(const Version& version);
Result<Version> ParseVersion(std::string_view text);

// kInvalidArgument for what cannot be a tag, or the name of a host: empty or long text,
// other than UTF-8, with commas or control characters.
Result<void> CheckLabel(std::string_view what, const std::string& label);

// All names, sorted.
Result<std::vector<std::string>> ListNames(const Layout& layout);

// The object that holds a version, and what its name says.
struct VersionFile {
  std::string path;  // of the object in its store
  uint64_t sequence = 0;
  std::string check;
};
// In ascending order of their sequence numbers; none if there is no such name.
Result<std::vector<VersionFile>> ListVersionFiles(const Layout& layout,
                                                  std::string_view name);
// kNotFound if it was removed meanwhile; kCorrupt if its bytes do not give its check.
Result<Version> ReadVersionFile(const Layout& layout, const VersionFile& file,
                                std::string_view name);

// All versions of a name, oldest first; those that are damaged are an error.
Result<std::vector<Version>> ListVersions(const Layout& layout, std::string_view name);

// The version that `reference` names, which is no hash. kNotFound names what there is.
Result<Version> FindVersion(const Layout& layout, const Reference& reference);

// Gives the version the next number of its name, durably; not one that a version had
// before it was removed. `lease` is for the temporary.
Result<void> AddVersion(const Layout& layout, const Lease& lease, Version& version);

// Removes one version or, without a number, all of the name. Gives how many; none is
// kNotFound. The last number that was given is kept beside them, in the name of an empty
// file.
Result<size_t> RemoveVersions(const Layout& layout, const Reference& reference);

// Removes the folder of a name if it has had no versions since `before` (nanoseconds
// since 1970), with the number that is kept there: the name starts over. Precondition:
// the caller has the exclusive lock.
Result<void> ForgetName(const Layout& layout, const std::string& folder, int64_t before);

}  // namespace dolium::cas
