// XorbFolder: finds xorbs as objects of a store, and how to read runs of their chunks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/entry.h"
#include "dolium/formats/xet/xorb_footer.h"

namespace dolium::xet {

// A xorb as an object. All of the index is known, and its hash is the one of its chunks.
struct XorbObject {
  XorbIndex index;
  std::shared_ptr<const ObjectVersion> object;
  uint64_t object_size = 0;
  std::optional<uint8_t> footer_version;  // nullopt: it has none
};

// What a path that names a xorb names it: `<hash>`, `default.<hash>`, `<hash>.xorb`.
std::optional<Hash> XorbNameOf(std::string_view path);

// Reads the index of a xorb: from its footer or, where that is missing or of version 0,
// from all of it. kCorrupt if the chunks do not give the hash that the footer says or, if
// there is one, `name`.
Result<XorbObject> ReadXorbObject(const Location& location, const Hash* name);

// Chunks [first, end) as an extent, each of whose chunks is held against its hash when it
// is read. Errors name `what`, the xorb and the chunk. Precondition: first < end <= the
// number of chunks.
Extent ExtentOf(const std::shared_ptr<const XorbObject>& xorb, size_t first, size_t end,
                std::string_view what = {});

// Folders that are looked through for xorbs, one after the other. Const methods may be
// called from many threads.
class XorbFolder {
 public:
  // Keeps indexes of about `cache_bytes`.
  XorbFolder(std::vector<Location> folders, uint64_t cache_bytes);

  // nullptr if no folder has it.
  Result<std::shared_ptr<const XorbObject>> Find(const Hash& hash) const;

  // Where it would be looked for first.
  const Location& first() const { return folders_.front(); }

 private:
  Result<std::optional<Location>> Locate(const Hash& hash) const;

  const std::vector<Location> folders_;
  const uint64_t cache_bytes_;
  mutable std::mutex mutex_;  // of all below
  mutable std::map<Hash, std::shared_ptr<const XorbObject>> known_;
  mutable uint64_t known_bytes_ = 0;
  mutable size_t last_way_ = 0;  // by which a xorb was found: tried first
};

}  // namespace dolium::xet
