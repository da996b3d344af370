// Where everything of a store lies on disk, and what its files are called.
//
//   dolium-cas.json                     the marker; equal bytes in every store
//   xorbs/ab/<hash>.xorb                chunks, with footer; ab: first digits of the hash
//   shards/<hash>.mdb                   which chunks a xorb has, which terms a file has
//   names/<name>/<sequence>-<check>.json   one version; check: hash of these bytes
//   names/<name>/<sequence>.last        empty; the last number, its version removed
//   index/                              a cache, made from the shards
//   quarantine/<hash>.xorb, <hash>.mdb  what a check found damaged; older stores:
//   damaged/ seen/<name>                         a cache: what the last put read
//   (stat_cache.h) tmp/<lease>.<n>                     objects that are being written
//   leases/<id>                         what a living process needs; locked by it
//   lock                                see lease.h
//
// Xorbs, shards and names are the truth, in this order: a shard is written when its xorbs
// are durable, a name when its shards are.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/formats/xet/hash.h"

namespace dolium::cas {

// Paths of one store. A value.
class Layout {
 public:
  explicit Layout(std::string root) : root_(std::move(root)) {}

  const std::string& root() const { return root_; }
  std::string marker() const { return root_ + "/dolium-cas.json"; }
  std::string xorbs() const { return root_ + "/xorbs"; }
  std::string xorb_folder(const xet::Hash& hash) const;
  std::string xorb(const xet::Hash& hash) const;
  std::string shards() const { return root_ + "/shards"; }
  std::string shard(const xet::Hash& hash) const;
  std::string names() const { return root_ + "/names"; }
  std::string name_folder(std::string_view name) const;
  std::string quarantine() const { return root_ + "/quarantine"; }
  // Also the folder that earlier versions of dolium used, which is read and emptied only.
  std::array<std::string, 2> quarantines() const {
    return {quarantine(), root_ + "/damaged"};
  }
  // Where a quarantined xorb may be.
  std::array<std::string, 2> quarantined_xorb(const xet::Hash& hash) const;
  std::string index() const { return root_ + "/index"; }
  std::string seen() const { return root_ + "/seen"; }
  std::string temporaries() const { return root_ + "/tmp"; }
  std::string leases() const { return root_ + "/leases"; }
  std::string lock() const { return root_ + "/lock"; }

 private:
  std::string root_;
};

// Makes an empty store in a folder that is not there or is empty; else kExists.
Result<void> InitStore(const std::string& path);

// kNotFound if there is no store at `path`, kUnsupported if it is of another version.
Result<Layout> OpenLayout(const std::string& path);

// What the marker holds.
std::string_view MarkerText();

// The hash that a file `<64 digits><end>` is named after; nullopt for other names.
std::optional<xet::Hash> HashOfFileName(std::string_view file_name, std::string_view end);

// Names of versions as names of folders: other bytes than letters, digits, ".", "_" and
// "-" are written as %XX, and so is a leading ".".
std::string EscapeName(std::string_view name);
std::optional<std::string> UnescapeName(std::string_view folder);
// kInvalidArgument for a name that cannot be one: empty, too long, one that ends like a
// sequence number (`@3`), or that reads like a hash.
Result<void> CheckName(std::string_view name);

// What users call things by: `name`, `name@3`, or 64 digits.
struct Reference {
  std::string name;                  // empty: a hash
  std::optional<uint64_t> sequence;  // nullopt: the latest
  xet::Hash hash;
};
Result<Reference> ParseReference(std::string_view text);

}  // namespace dolium::cas
