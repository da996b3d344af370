// XorbCache: xorbs of a store, open for reading.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dolium/base/lru_cache.h"
#include "dolium/base/result.h"
#include "dolium/domain/cas/layout.h"
#include "dolium/domain/cas/objects.h"
#include "dolium/formats/xet/xorb_footer.h"

namespace dolium::cas {

// An object and its index, which belong together even if another object gets the name.
// The hashes of the index give the name of the xorb.
struct OpenedXorb {
  std::string path;  // for messages
  OpenedObject object;
  xet::XorbIndex index;
  bool is_quarantined = false;  // as damaged
};

// Keeps those that were used last, up to a number of them and a size of their indexes.
// May be used from many threads.
class XorbCache {
 public:
  explicit XorbCache(Layout layout) : layout_(std::move(layout)) {}

  // kNotFound if it is not there; kCorrupt if its footer does not give its name. Errors
  // name the xorb. One that was quarantined as damaged is read where it is now: some of
  // its chunks may be whole.
  Result<std::shared_ptr<const OpenedXorb>> Get(const xet::Hash& hash);
  // Forgets one that was replaced.
  void Forget(const xet::Hash& hash) { opened_.Forget(hash); }

 private:
  static constexpr size_t kMostFiles = 128;
  static constexpr size_t kMostChunks = size_t{1} << 20;  // 40 bytes each

  const Layout layout_;
  LruCache<xet::Hash, OpenedXorb, xet::HashOfHash> opened_{kMostFiles, kMostChunks};
};

// Reads the footer of a xorb. As Get(), but the object may have any name.
Result<OpenedXorb> OpenXorb(const Objects& objects, const std::string& object,
                            const xet::Hash& name);

}  // namespace dolium::cas
