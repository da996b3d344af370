// Where everything of a store lies, and what it is called.
//
//   dolium-cas.json                        the marker; equal bytes in every store
//   xorbs/ab/<hash>.xorb                   chunks, with footer; ab: first digits of hash
//   shards/<hash>.mdb                      the chunks of xorbs, the terms of files
//   names/<name>/<sequence>-<check>.json   one version; check: hash of these bytes
//   names/<name>/<sequence>.last           empty; a number that is not given again
//   quarantine/<hash>.xorb, <hash>.mdb     what a check found damaged; older stores:
//                                          damaged/
//
//   index/                                 a cache, made from the shards
//   seen/<name>                            a cache: what the last put read (stat_cache.h)
//   tmp/<lease>.<n>                        objects that are being written
//   leases/<id>                            what a living process needs; locked by it
//   lock                                   see lease.h
//
// What comes first are objects, in any Store (objects.h). Xorbs, shards and names are the
// truth, in this order: a shard is written when its xorbs are durable, a name when its
// shards are. What follows is local. In a local store it lies in the same folder; that of
// a store elsewhere may be lost: the index is rebuilt, the rest starts over.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/domain/cas/objects.h"
#include "dolium/formats/xet/hash.h"

namespace dolium::cas {

// Names of one store. A value.
class Layout {
 public:
  // Of a store in a local folder, there or not.
  static Result<Layout> Local(const std::string& folder);
  // `root` is the folder of the objects in `store`; `local` is for the rest.
  Layout(std::shared_ptr<Store> store, std::string root, std::string local)
      : Layout(Objects(std::move(store), false), std::move(root), std::move(local)) {}

  const Objects& objects() const { return objects_; }
  // Where the objects are, for messages.
  std::string Describe() const { return objects_.Describe(root_); }

  // Objects, and folders of them.
  std::string marker() const { return Object("dolium-cas.json"); }
  std::string xorbs() const { return Object("xorbs"); }
  std::string xorb_folder(const xet::Hash& hash) const;
  std::string xorb(const xet::Hash& hash) const;
  std::string shards() const { return Object("shards"); }
  std::string shard(const xet::Hash& hash) const;
  std::string names() const { return Object("names"); }
  std::string name_folder(std::string_view name) const;
  std::string quarantine() const { return Object("quarantine"); }
  // Also the folder that earlier versions of dolium used, which is read and emptied only.
  std::array<std::string, 2> quarantines() const {
    return {quarantine(), Object("damaged")};
  }
  // Where a quarantined xorb may be.
  std::array<std::string, 2> quarantined_xorb(const xet::Hash& hash) const;

  // Paths of what is local.
  const std::string& local() const { return local_; }
  std::string index() const { return local_ + "/index"; }
  std::string seen() const { return local_ + "/seen"; }
  std::string temporaries() const { return local_ + "/tmp"; }
  std::string leases() const { return local_ + "/leases"; }
  std::string lock() const { return local_ + "/lock"; }

 private:
  Layout(Objects objects, std::string root, std::string local)
      : objects_(std::move(objects)), root_(std::move(root)), local_(std::move(local)) {}
  std::string Object(std::string_view name) const { return JoinPath(root_, name); }

  Objects objects_;
  std::string root_;
  std::string local_;
};

// Makes an empty store in a folder that is not there or is empty; else kExists.
Result<void> InitStore(const std::string& path);
// The same elsewhere. Two that make one at the same time make the same one.
Result<void> InitStore(const Layout& layout);

// kNotFound if there is no store at `path`, kUnsupported if it is of another version.
Result<Layout> OpenLayout(const std::string& path);
// The same elsewhere; makes what is local unless it is there.
Result<void> OpenLayout(const Layout& layout);

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
