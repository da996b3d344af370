// Location: what a user types, resolved to a store and a path in it.
//
//   seg/s0, /data/seg, file:///data/seg     the local file system
//   http://host/seg, https://...?token=x    HTTP; a query is kept for every object below
//   precomputed://URL                       the same as URL (Neuroglancer's spelling)
//   gs://bucket/path                        https://storage.googleapis.com/bucket/path
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/bytes/store.h"

namespace dolium {

struct Location {
  std::shared_ptr<Store> store;
  std::string path;  // of an object or a folder; no trailing slash

  // The name a person would type.
  std::string Describe() const { return store->Describe(path); }
  Location Child(std::string_view name) const { return {store, JoinPath(path, name)}; }
  Location Parent() const { return {store, ParentPath(path)}; }
};

// Whether it is in the local file system: reads are cheap calls there, not requests.
bool IsLocal(const Location& location);

// Understands the forms above. Touches no network and no file but the folder of a cache,
// if there is to be one (default_cache.h). The same local file system or HTTP origin
// gives the same store, with its connections and caches.
Result<Location> ParseLocation(std::string_view text);

}  // namespace dolium
